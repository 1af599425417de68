// Mmad: L0A times L0B into L0C, in the fractal layouts of 2201 (zz, zn, and 16 x 16 boxes), or a row times L0B.
#include "mmad.h"

#include <cstring>

#include "product.h"
#include "run.h"

namespace pypto_host {

namespace {

constexpr const char* kName = "Mmad";

const char* SideName(bool right) { return right ? "L0B" : "L0A"; }

// One product of types; the accumulator and the bias have the third.
struct MadTypes {
    Dtype left, right, sum;
};
constexpr MadTypes kTypes[] = {
    {Dtype::F16, Dtype::F16, Dtype::F32},
    {Dtype::BF16, Dtype::BF16, Dtype::F32},
    {Dtype::F32, Dtype::F32, Dtype::F32},
    {Dtype::I8, Dtype::I8, Dtype::I32},
};

bool CheckParams(Core& core, const MmadCall& call)
{
    bool fine = true;
    fine = CheckRange(core, kName, call.line, "repeat", "m", call.m, 0, kMostSize) && fine;
    fine = CheckRange(core, kName, call.line, "repeat", "n", call.n, 0, kMostSize) && fine;
    fine = CheckRange(core, kName, call.line, "repeat", "k", call.k, 0, kMostSize) && fine;
    if (call.unit_flag != 0 && call.unit_flag != 2 && call.unit_flag != 3) {
        core.Report("unit-flag", call.line, Format("Mmad: unitFlag %lld; it is 0, 2 or 3",
                                                   static_cast<long long>(call.unit_flag)));
        fine = false;
    }
    if (call.unsupported) {
        core.Report("unsupported", call.line, "Mmad: fmOffset, enSsparse and enWinograd do nothing on this target");
        fine = false;
    }
    bool known = false;
    for (const MadTypes& types : kTypes) {
        known = known || (types.left == call.left.dtype && types.right == call.right.dtype &&
                          types.sum == call.dst.dtype && (!call.has_bias || types.sum == call.bias.dtype));
    }
    if (!known) {
        core.Report("unsupported-dtype", call.line,
                    Format("Mmad of %s and %s into %s%s%s does not exist", DtypeName(call.left.dtype),
                           DtypeName(call.right.dtype), DtypeName(call.dst.dtype), call.has_bias ? " with a bias of " : "",
                           call.has_bias ? DtypeName(call.bias.dtype) : ""));
        fine = false;
    }
    if (!call.has_bias && call.from_bias && !call.zero) {
        core.Report("unsupported", call.line, "Mmad: cmatrixSource without a bias tensor; pass the bias as fourth argument");
        fine = false;
    }
    if (call.has_bias && call.zero) {
        core.Report("bias", call.line, "Mmad: cmatrixInitVal is true, so that the sums start at zero and the bias is not "
                                       "read; pass false");
        fine = false;
    }
    return fine;
}

}  // namespace

bool MadWork::Ready(const Core& core) const { return unit_flag == 0 || UnitsReady(core, sums, false); }

void MadWork::Start(Core& core, Op& op)
{
    if (unit_flag != 0) {
        StartUnits(core, sums, false, unit_flag == 3, op);
    }
}

std::string MadWork::Waits(const Core& core) const
{
    return unit_flag == 0 ? "" : UnitsAwaited(core, sums, false);
}

void MadWork::Execute(Core& core, const Event& event)
{
    core.Touch(core.Local(Memory::L0A)->shadow, "L0A", event, kRead, lefts.data(), lefts.size());
    core.Touch(core.Local(Memory::L0B)->shadow, "L0B", event, kRead, rights.data(), rights.size());
    if (has_bias) {
        core.Touch(core.Local(Memory::BT)->shadow, "BT", event, kRead, biases.data(), biases.size());
    }
    // Two that are large enough on one tile need no barrier between them (hardware rules, 4).
    const bool large = (m / kLanes) * (n / kLanes) >= 10;
    const uint8_t how = static_cast<uint8_t>((unit_flag != 0 ? kMadUnit : 0) | (large ? kMadLarge : 0));
    core.Touch(core.Local(Memory::L0C)->shadow, "L0C", event, static_cast<uint8_t>(kMad | how), sums.data(), sums.size());
    if (CheckOperand(core, false) && CheckOperand(core, true) && CheckSums(core)) {
        dtype == Dtype::I8 ? Integers(core) : Floats(core);
    } else {
        core.Skip();
        std::memset(core.Local(Memory::L0C)->defined.data() + sums[0].address, 0, sums[0].length);
    }
    for (int64_t column = 0; column < columns; ++column) {
        for (int64_t row = 0; row < rows; ++row) {
            const uint64_t box = sums[0].address / kBoxBytes + static_cast<uint64_t>(column * rows + row);
            core.Cube().l0c[box] = {event.number,
                                    static_cast<uint32_t>(sums[0].address),
                                    static_cast<uint16_t>(row),
                                    static_cast<uint16_t>(column),
                                    static_cast<uint16_t>(rows),
                                    sum_dtype};
        }
    }
    if (unit_flag == 3) {
        FinishUnits(core, sums, false);
    }
}

// The byte of fractal (lanes `lane`, k `depth`) of an operand.
uint64_t MadWork::FractalAt(bool right, int64_t lane, int64_t depth) const
{
    const int64_t index = right ? depth * columns + lane : row_form ? depth : lane * pitch + depth;
    return (right ? rights : lefts)[0].address + static_cast<uint64_t>(index * kFractalBytes);
}

bool MadWork::CheckOperand(Core& core, bool right) const
{
    const std::vector<FractalMark>& marks = core.Cube().Fractals(right ? Memory::L0B : Memory::L0A);
    const int64_t lanes = right ? columns : rows;
    const bool row = row_form && !right;
    const int64_t count = row ? CeilDiv(k * DtypeSize(dtype), kFractalBytes) : depths;
    const int64_t step = row ? kFractalBytes / DtypeSize(dtype) : BlockElements(dtype);
    struct Seen {
        uint32_t load;
        int64_t lane, depth;
    };
    std::vector<Seen> seen;  // where the lane and k of 0 would be, for each load that wrote fractals
    for (int64_t lane = 0; lane < (row ? 1 : lanes); ++lane) {
        for (int64_t depth = 0; depth < count; ++depth) {
            const uint64_t at = FractalAt(right, lane, depth);
            const FractalMark& mark = marks[at / kFractalBytes];
            const auto where = [&] {
                return Format("%s byte %llu, fractal (%lld, %lld) of %lld x %lld", SideName(right),
                              static_cast<unsigned long long>(at), static_cast<long long>(right ? depth : lane),
                              static_cast<long long>(right ? lane : depth),
                              static_cast<long long>(right ? count : row ? 1 : lanes),
                              static_cast<long long>(right ? lanes : count));
            };
            if (mark.form == FractalForm::None) {
                if (!core.Skipped()) {
                    core.Report("undefined", line, Format("Mmad reads %s, which nothing was loaded to", where().c_str()));
                }
                return false;
            }
            const int loaded = core.At(mark.load).line;
            if (mark.dtype != dtype) {
                core.Report("wrong-dtype", {line, loaded},
                            Format("line %d: Mmad reads %s as %s, line %d loaded it as %s", line, where().c_str(),
                                   DtypeName(dtype), loaded, DtypeName(mark.dtype)));
                return false;
            }
            const FractalForm wanted = row ? FractalForm::Row : FractalForm::Matrix;
            if (mark.form != FractalForm::Unknown && mark.form != wanted) {
                core.Report("layout", {line, loaded},
                            row ? Format("line %d: with m = 1 Mmad reads L0A as one row of k elements, line %d loaded "
                                         "fractals of a matrix there; pass m = 16", line, loaded)
                                : Format("line %d: Mmad reads %s as a part of a matrix, line %d loaded a row there", line,
                                         where().c_str(), loaded));
                return false;
            }
            if (mark.piece == 0) {
                continue;
            }
            const int64_t lane_base = mark.lane - lane * kLanes;
            const int64_t depth_base = mark.depth - depth * step;
            const Seen* before = nullptr;
            for (const Seen& each : seen) {
                before = each.load == mark.load ? &each : before;
            }
            if (before == nullptr) {
                seen.push_back({mark.load, lane_base, depth_base});
            } else if (before->lane != lane_base || before->depth != depth_base) {
                core.Report("layout", {line, loaded},
                            Format("line %d: Mmad takes %s for %s from %lld and k from %lld, line %d loaded %s from %d and k "
                                   "from %d there (m = %lld, n = %lld, k = %lld, kDirectionAlign %s)", line, where().c_str(),
                                   right ? "columns" : "rows", static_cast<long long>(before->lane + lane * kLanes),
                                   static_cast<long long>(before->depth + depth * step), loaded,
                                   right ? "columns" : "rows", mark.lane, mark.depth, static_cast<long long>(m),
                                   static_cast<long long>(n), static_cast<long long>(k), wide_k ? "true" : "false"));
                return false;
            }
        }
    }
    return true;
}

// Where the sums go on from what is there, it must be a tile of this shape and type.
bool MadWork::CheckSums(Core& core) const
{
    if (zero || has_bias) {
        return true;
    }
    for (int64_t column = 0; column < columns; ++column) {
        for (int64_t row = 0; row < rows; ++row) {
            const uint64_t at = sums[0].address + static_cast<uint64_t>((column * rows + row) * kBoxBytes);
            const BoxMark& mark = core.Cube().l0c[at / kBoxBytes];
            const int wrote = core.At(mark.mad).line;
            if (mark.mad == 0) {
                continue;
            }
            if (mark.dtype != sum_dtype) {
                core.Report("wrong-dtype", {line, wrote},
                            Format("line %d: Mmad adds %s to L0C byte %llu, line %d wrote %s there", line,
                                   DtypeName(sum_dtype), static_cast<unsigned long long>(at), wrote,
                                   DtypeName(mark.dtype)));
                return false;
            }
            if (mark.tile == sums[0].address && columns > 1 && (mark.row != row || mark.column != column)) {
                core.Report("layout", {line, wrote},
                            Format("line %d: Mmad adds to a tile of %lld boxes a column, line %d wrote one of %d there", line,
                                   static_cast<long long>(rows), wrote, mark.pitch));
                return false;
            }
        }
    }
    return true;
}

void IssueMmad(const MmadCall& call)
{
    Core& core = CurrentCore();
    if (!core.EnterOn(CoreKind::Cube, kName, call.line)) {
        return;
    }
    if (!CheckParams(core, call)) {
        core.Skip();
        return;
    }
    if (call.m == 0 || call.n == 0 || call.k == 0) {
        return;
    }
    auto work = std::make_unique<MadWork>();
    work->line = call.line;
    work->dtype = call.left.dtype;
    work->sum_dtype = call.dst.dtype;
    work->m = call.m;
    work->n = call.n;
    work->k = call.k;
    work->unit_flag = call.unit_flag;
    work->wide_k = call.wide_k;
    work->zero = call.zero;
    work->has_bias = call.has_bias;
    work->row_form = call.m == 1;
    work->rows = CeilDiv(call.m, kLanes);
    work->columns = CeilDiv(call.n, kLanes);
    const int64_t size = DtypeSize(call.left.dtype);
    work->depths = CeilDiv(call.k * size, kBlockBytes);
    // With kDirectionAlign rows of A are padded to 16 elements of k, the last 8 of which may not be read.
    work->pitch = call.wide_k && call.left.dtype == Dtype::F32 ? CeilDiv(call.k, 16) * 2 : work->depths;
    const int64_t left = work->row_form ? CeilDiv(call.k * size, kFractalBytes)
                                        : (work->rows - 1) * work->pitch + work->depths;
    const auto bytes = [](const LocalRef& tensor, int64_t count) {
        return Segment{static_cast<uint32_t>(count), tensor.address};
    };
    work->lefts.push_back(bytes(call.left, left * kFractalBytes));
    work->rights.push_back(bytes(call.right, work->depths * work->columns * kFractalBytes));
    work->sums.push_back(bytes(call.dst, work->rows * work->columns * kBoxBytes));
    bool fine = CheckLocal(core, kName, call.line, "dst", call.dst, work->sums, kBoxBytes, Memory::L0C);
    fine = CheckLocal(core, kName, call.line, "fm", call.left, work->lefts, kFractalBytes, Memory::L0A) && fine;
    fine = CheckLocal(core, kName, call.line, "filter", call.right, work->rights, kFractalBytes, Memory::L0B) && fine;
    if (call.has_bias) {
        work->biases.push_back(bytes(call.bias, call.n * 4));
        fine = CheckLocal(core, kName, call.line, "bias", call.bias, work->biases, 64, Memory::BT) && fine;
    }
    if (!fine) {
        core.Skip();
        return;
    }
    const int64_t repeats = work->rows * work->columns * work->depths * (call.left.dtype == Dtype::F32 ? 2 : 1);
    core.Issue(Pipe::M, kName, call.line, std::move(work), static_cast<uint64_t>(call.m * call.n * call.k), 0,
               static_cast<uint32_t>(repeats));
}

}  // namespace pypto_host
