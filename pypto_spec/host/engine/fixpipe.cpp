// Fixpipe: accumulators of L0C to GM as rows or column blocks, or to L1 as column blocks.
#include "fixpipe.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "run.h"

namespace pypto_host {

namespace {

const char* Name(const FixpipeCall& call) { return call.to_global ? "Fixpipe.gm" : "Fixpipe.mat"; }

bool CheckParams(Core& core, const FixpipeCall& call, const Conversion* conversion, Dtype target)
{
    const char* name = Name(call);
    bool fine = true;
    fine = CheckRange(core, name, call.line, "repeat", "nSize", call.n, 0, kMostSize) && fine;
    fine = CheckRange(core, name, call.line, "repeat", "mSize", call.m, 0, call.nz ? 65535 : 8192) && fine;
    fine = CheckRange(core, name, call.line, "stride", "srcStride", call.src_stride, 0, 65535) && fine;
    fine = CheckRange(core, name, call.line, "stride", "dstStride", call.dst_stride, 1, 4294967295ll) && fine;
    if (call.unit_flag != 0 && call.unit_flag != 2 && call.unit_flag != 3) {
        core.Report("unit-flag", call.line, Format("%s: unitFlag %lld; it is 0, 2 or 3", name,
                                                   static_cast<long long>(call.unit_flag)));
        fine = false;
    }
    if (call.matrices != 1 || call.channel_split) {
        core.Report("unsupported", call.line, Format("%s: %s is not modelled", name,
                                                     call.channel_split ? "isChannelSplit" : "an ndNum other than 1"));
        fine = false;
    }
    if (!call.to_global && !call.nz) {
        core.Report("unsupported", call.line, "Fixpipe.mat: to L1 only CFG_NZ exists on this target");
        fine = false;
    }
    if (call.nz && call.n % 16 != 0) {
        core.Report("stride", call.line, Format("%s: nSize %lld; to column blocks it is a multiple of 16", name,
                                                static_cast<long long>(call.n)));
        fine = false;
    }
    if (call.nz && DtypeSize(target) == 1 && call.n % 32 != 0) {
        core.Report("layout", call.line, Format("%s: nSize %lld; the last 16 columns would not be merged into blocks of 32",
                                                name, static_cast<long long>(call.n)));
        fine = false;
    }
    if (conversion == nullptr || (!call.to_global && !conversion->to_local)) {
        core.Report("unsupported-dtype", call.line,
                    Format("%s of %s to %s with %s does not exist", name, DtypeName(call.src.dtype), DtypeName(target),
                           QuantName(call.quant)));
        return false;
    }
    if (conversion->by_column != call.has_scales) {
        core.Report("scale", call.line,
                    call.has_scales ? Format("%s: %s takes one scale, a tensor of them is not read", name, conversion->name)
                                    : Format("%s: %s takes a tensor of scales as third argument", name, conversion->name));
        fine = false;
    }
    return fine;
}

// Why a scale is none, or nothing.
std::string Fault(uint64_t scale, Dtype target)
{
    float factor;
    const uint32_t low = static_cast<uint32_t>(scale);
    std::memcpy(&factor, &low, sizeof factor);
    if (std::isnan(factor) || std::isinf(factor)) {
        return "is not finite (or deqScalar was not set)";
    }
    if (factor != 0 && std::fabs(factor) < 1.17549435e-38f) {
        return "is subnormal";
    }
    const bool is_signed = ((scale >> 46) & 1) != 0;
    if (DtypeSize(target) == 1 && is_signed != (target == Dtype::I8)) {
        return Format("has sign bit 46 %s, the destination is %s", is_signed ? "set" : "clear", DtypeName(target));
    }
    return "";
}

}  // namespace

bool DrainWork::Ready(const Core& core) const { return call.unit_flag == 0 || UnitsReady(core, boxes, true); }

void DrainWork::Start(Core& core, Op& op)
{
    if (call.unit_flag != 0) {
        StartUnits(core, boxes, true, call.unit_flag == 3, op);
    }
}

std::string DrainWork::Waits(const Core& core) const
{
    return call.unit_flag == 0 ? "" : UnitsAwaited(core, boxes, true);
}

// The accumulators must be of one tile, in its own distance of columns, and of this type.
bool DrainWork::CheckTile(Core& core) const
{
    const std::vector<BoxMark>& marks = core.Cube().l0c;
    const BoxMark& first = marks[call.src.address / kBoxBytes];
    for (size_t column = 0; column < boxes.size(); ++column) {
        const uint64_t start = call.src.address + column * static_cast<uint64_t>(call.src_stride * kRowBytes);
        const uint64_t count = (start % kBoxBytes + static_cast<uint64_t>(call.m * kRowBytes) - 1) / kBoxBytes + 1;
        for (uint64_t row = 0; row < count; ++row) {
            const uint64_t at = start / kBoxBytes + row;
            const BoxMark& mark = marks[at];
            if (mark.mad == 0) {
                continue;
            }
            const int wrote = core.At(mark.mad).line;
            if (mark.dtype != source) {
                core.Report("wrong-dtype", {call.line, wrote},
                            Format("line %d: %s reads L0C byte %llu as %s, line %d wrote %s there", call.line, Name(call),
                                   static_cast<unsigned long long>(at * kBoxBytes), DtypeName(source), wrote,
                                   DtypeName(mark.dtype)));
                return false;
            }
            const bool same = first.mad != 0 && mark.tile == first.tile && mark.pitch == first.pitch;
            if (same && (mark.row != first.row + row || mark.column != first.column + column)) {
                core.Report("layout", {call.line, wrote},
                            Format("line %d: %s takes L0C byte %llu for box (%llu, %llu) of the tile, line %d wrote box "
                                   "(%d, %d) there; its columns are %d rows apart (srcStride %lld, mSize %lld)", call.line,
                                   Name(call), static_cast<unsigned long long>(at * kBoxBytes),
                                   static_cast<unsigned long long>(first.row + row),
                                   static_cast<unsigned long long>(first.column + column), wrote, mark.row, mark.column,
                                   mark.pitch * 16, static_cast<long long>(call.src_stride),
                                   static_cast<long long>(call.m)));
                return false;
            }
        }
    }
    return true;
}

std::vector<uint64_t> DrainWork::Scales(Core& core) const
{
    std::vector<uint64_t> found(static_cast<size_t>(call.n), call.scale);
    if (!call.has_scales) {
        return found;
    }
    const LocalMemory& l1 = *core.Local(Memory::L1);
    const uint64_t at = scales[0].address;
    std::memcpy(found.data(), l1.data.data() + at, found.size() * 8);
    const Dtype other = core.Cube().OtherDtype(at, found.size() * 8, Dtype::U64);
    if (other != Dtype::None && other != Dtype::I64) {  // a tensor of GM may count its bits as signed
        core.Report("wrong-dtype", call.line, Format("%s reads scales from L1 byte %llu, it holds %s", Name(call),
                                                     static_cast<unsigned long long>(at), DtypeName(other)));
    } else if (!AllDefined(l1.defined.data() + at, found.size() * 8)) {
        if (!core.Skipped()) {
            core.Report("undefined", call.line, Format("%s reads undefined scales from L1 bytes [%llu, %llu)", Name(call),
                                                       static_cast<unsigned long long>(at),
                                                       static_cast<unsigned long long>(at + found.size() * 8)));
        }
    } else {
        for (size_t i = 0; i < found.size(); ++i) {
            const std::string fault = Fault(found[i], target);
            if (!fault.empty()) {
                core.Report("scale", call.line, Format("%s: the scale of column %zu %s", Name(call), i, fault.c_str()));
                break;
            }
        }
    }
    return found;
}

// L1 holds column blocks of a matrix again.
void DrainWork::Mark(Core& core, const Event& event) const
{
    const int64_t size = DtypeSize(target);
    const int64_t wide = size == 4 ? 2 : 1;  // blocks of 32 B in a row of 16
    for (int64_t column = 0; column < CeilDiv(call.n * size, kBlockBytes * wide); ++column) {
        for (int64_t row = 0; row < call.m; ++row) {
            const uint64_t block = call.local.address / kBlockBytes +
                                   static_cast<uint64_t>(column * call.dst_stride + row * wide);
            core.Cube().l1[block] = {event.number, static_cast<uint32_t>(call.dst_stride), static_cast<uint16_t>(row),
                                     static_cast<uint16_t>(column), target};
        }
    }
}

void DrainWork::Execute(Core& core, const Event& event)
{
    LocalMemory& sums = *core.Local(Memory::L0C);
    core.Touch(sums.shadow, "L0C", event, call.unit_flag != 0 ? kDrain : kRead, boxes.data(), boxes.size());
    if (call.has_scales) {
        core.Touch(core.Local(Memory::L1)->shadow, "L1", event, kRead, scales.data(), scales.size());
    }
    LocalMemory* l1 = call.to_global ? nullptr : core.Local(Memory::L1);
    if (call.to_global) {
        core.Touch(*core.run.RegionOf(argument).shadow, Format("GM argument %d", argument), event,
                   WriteKind(atomic, target), rows.data(), rows.size(), core.run.OffsetOf(argument));
    } else {
        core.Touch(l1->shadow, "L1", event, kWrite, rows.data(), rows.size());
    }
    const bool fine = CheckTile(core);
    if (!fine) {
        core.Skip();
    }
    const Conversion& conversion = *FindConversion(source, target, call.quant);
    const std::vector<uint64_t> factors = Scales(core);
    const int64_t size = DtypeSize(target);
    uint8_t* to = call.to_global ? reinterpret_cast<uint8_t*>(core.run.At(argument).address) : l1->data.data();
    std::vector<uint8_t> line(static_cast<size_t>(call.n * 4));
    std::vector<uint8_t> made(static_cast<size_t>(call.n * size));
    const int64_t across = call.nz ? (size == 1 ? 32 : 16) : call.n;  // elements of a row written in one piece
    uint64_t undefined = 0;
    int64_t first_row = 0;
    int64_t first_column = 0;
    for (int64_t row = 0; row < call.m; ++row) {
        std::vector<uint8_t> lost;
        for (int64_t column = 0; column < call.n; column += kLanes) {
            const uint64_t at = call.src.address + static_cast<uint64_t>((column / kLanes * call.src_stride + row) *
                                                                         kRowBytes);
            const int64_t count = std::min(kLanes, call.n - column);
            std::memcpy(line.data() + 4 * column, sums.data.data() + at, static_cast<size_t>(4 * count));
            if (AllDefined(sums.defined.data() + at, static_cast<uint64_t>(4 * count))) {
                continue;
            }
            lost.resize(static_cast<size_t>(call.n), 0);
            for (int64_t i = 0; i < count; ++i) {
                if (!Defined(sums.defined.data() + at + 4 * i, 4)) {
                    lost[static_cast<size_t>(column + i)] = 1;
                    if (undefined++ == 0) {
                        first_row = row;
                        first_column = column + i;
                    }
                }
            }
        }
        conversion.convert(line.data(), made.data(), factors.data(), call.n, call.relu);
        for (int64_t column = 0; column < call.n; column += across) {
            const Segment& segment = rows[static_cast<size_t>(call.nz ? column / across : row)];
            const uint64_t at = segment.address + static_cast<uint64_t>(call.nz ? row * across * size : 0);
            const uint8_t* from = made.data() + column * size;
            const uint64_t bytes = static_cast<uint64_t>(std::min(across, call.n - column) * size);
            if (atomic != 0 && call.to_global) {
                Accumulate(atomic, target, to + at, from, bytes);
                continue;
            }
            std::memcpy(to + at, from, bytes);
            if (!call.to_global) {
                std::memset(l1->defined.data() + at, fine ? kDefined : 0, bytes);
                for (size_t i = 0; !lost.empty() && i < bytes / static_cast<uint64_t>(size); ++i) {
                    if (lost[static_cast<size_t>(column) + i] != 0) {
                        std::memset(l1->defined.data() + at + i * static_cast<uint64_t>(size), 0, static_cast<size_t>(size));
                    }
                }
            }
        }
    }
    if (undefined != 0 && call.to_global && !core.Skipped()) {
        core.Report("undefined", call.line,
                    Format("%s writes %llu undefined elements to GM argument %d, the first from row %lld, column %lld",
                           Name(call), static_cast<unsigned long long>(undefined), argument,
                           static_cast<long long>(first_row), static_cast<long long>(first_column)));
    }
    if (!call.to_global) {
        Mark(core, event);
    }
    if (call.unit_flag == 3) {
        FinishUnits(core, boxes, true);
    }
}

void IssueFixpipe(const FixpipeCall& call)
{
    Core& core = CurrentCore();
    const char* name = Name(call);
    if (!core.EnterOn(CoreKind::Cube, name, call.line)) {
        return;
    }
    const Dtype target = call.to_global ? call.global.dtype : call.local.dtype;
    const Conversion* conversion = FindConversion(call.src.dtype, target, call.quant);
    if (!CheckParams(core, call, conversion, target)) {
        core.Skip();
        return;
    }
    if (call.m == 0 || call.n == 0) {
        return;
    }
    bool fine = true;
    if (conversion->scaled && !conversion->by_column) {
        const std::string fault = Fault(call.scale, target);
        if (!fault.empty()) {
            core.Report("scale", call.line, Format("%s: the scale %s", name, fault.c_str()));
            fine = false;
        }
    }
    auto work = std::make_unique<DrainWork>();
    work->call = call;
    work->source = call.src.dtype;
    work->target = target;
    const int64_t size = DtypeSize(target);
    const int64_t columns = CeilDiv(call.n, kLanes);
    // Rows are read in whole boxes, of which what is too much is dropped.
    const bool whole = call.src.address % kBoxBytes == 0;
    const int64_t high = whole ? CeilDiv(call.m, kLanes) * kLanes : call.m;
    for (int64_t column = 0; column < columns; ++column) {
        work->boxes.push_back({static_cast<uint32_t>(high * kRowBytes),
                               call.src.address + static_cast<uint64_t>(column * call.src_stride * kRowBytes)});
    }
    const uint64_t base = call.to_global ? static_cast<uint64_t>(kFarOffset) : call.local.address;
    if (call.nz) {
        const int64_t across = size == 1 ? 32 : 16;
        for (int64_t column = 0; column < call.n / across; ++column) {
            work->rows.push_back({static_cast<uint32_t>(call.m * across * size),
                                  base + static_cast<uint64_t>(column * call.dst_stride * kBlockBytes)});
        }
    } else {
        for (int64_t row = 0; row < call.m; ++row) {
            work->rows.push_back({static_cast<uint32_t>(call.n * size),
                                  base + static_cast<uint64_t>(row * call.dst_stride * size)});
        }
    }
    fine = CheckLocal(core, name, call.line, "src", call.src, work->boxes, kRowBytes, Memory::L0C) && fine;
    if (call.to_global) {
        fine = CheckGlobal(core, name, call.line, call.global, true, kFarOffset, work->rows, work->argument) && fine;
    } else {
        fine = CheckLocal(core, name, call.line, "dst", call.local, work->rows, kBlockBytes, Memory::L1) && fine;
    }
    if (call.has_scales) {
        work->scales.push_back({static_cast<uint32_t>(call.n * 8), call.scales.address});
        fine = CheckLocal(core, name, call.line, "cbufWorkspace", call.scales, work->scales, kBlockBytes, Memory::L1) &&
               fine;
    }
    if (fine && !Distinct(work->rows)) {
        core.Report("overlap", call.line, Format("%s: with dstStride %lld what it writes overlaps", name,
                                                 static_cast<long long>(call.dst_stride)));
        fine = false;
    }
    if (call.to_global && core.state.atomic != 0) {
        work->atomic = core.state.atomic;
        if (core.state.atomic_dtype != target) {
            core.Report("wrong-dtype", call.line,
                        Format("%s of %s while atomics are set for %s at line %d", name, DtypeName(target),
                               DtypeName(core.state.atomic_dtype), core.state.atomic_line));
            fine = false;
        }
    }
    if (!fine) {
        core.Skip();
        return;
    }
    const uint64_t elements = static_cast<uint64_t>(call.m * call.n);
    const bool fenced = call.to_global || call.has_scales;  // to L1 the headers of 2026 have no barrier without factors
    core.Issue(Pipe::FIX, name, call.line, std::move(work), elements, elements * 4, static_cast<uint32_t>(call.m), fenced);
}

}  // namespace pypto_host
