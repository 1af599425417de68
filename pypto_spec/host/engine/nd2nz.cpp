// DataCopy with Nd2NzParams: row-major matrices of GM become column blocks of 32 B in L1.
#include <algorithm>
#include <cstring>

#include "cube.h"
#include "run.h"

namespace pypto_host {

namespace {

constexpr const char* kName = "DataCopy.nz";

struct Nd2NzWork final : Work {
    Nd2NzCall call;
    int argument = -1;
    Segments global;  // a row each, matrix by matrix
    Segments blocks;  // written bytes of L1, for the order

    void Execute(Core& core, const Event& event) override
    {
        LocalMemory& l1 = *core.Local(Memory::L1);
        Region& region = core.run.RegionOf(argument);
        core.Touch(*region.shadow, Format("GM argument %d", argument), event, kRead, global.data(), global.size(),
                   core.run.OffsetOf(argument));
        core.Touch(l1.shadow, "L1", event, kWrite, blocks.data(), blocks.size());
        const uint8_t* from = reinterpret_cast<const uint8_t*>(core.run.At(argument).address);
        const int64_t size = DtypeSize(call.dst.dtype);
        const int64_t bytes = call.columns * size;
        std::vector<BlockMark>& marks = core.Cube().l1;
        const bool one_column = bytes <= kBlockBytes && call.rows > 1;  // any distance of column blocks would do
        for (int64_t matrix = 0; matrix < call.matrices; ++matrix) {
            const uint64_t base = call.dst.address + static_cast<uint64_t>(matrix * call.dst_matrix_stride * size);
            for (int64_t row = 0; row < call.rows; ++row) {
                const uint8_t* line = from + global[static_cast<size_t>(matrix * call.rows + row)].address;
                for (int64_t at = 0; at < bytes; at += kBlockBytes) {
                    const int64_t column = at / kBlockBytes;
                    const uint64_t to = base + static_cast<uint64_t>((column * call.dst_column_stride +
                                                                      row * call.dst_row_stride) * kBlockBytes);
                    const int64_t whole = std::min<int64_t>(kBlockBytes, bytes - at);
                    std::memcpy(l1.data.data() + to, line + at, static_cast<size_t>(whole));
                    std::memset(l1.data.data() + to + whole, 0, static_cast<size_t>(kBlockBytes - whole));
                    std::memset(l1.defined.data() + to, kDefined, kBlockBytes);
                    BlockMark& mark = marks[to / kBlockBytes];
                    mark.piece = call.dst_row_stride == 1 ? event.number : 0;
                    mark.pitch = one_column ? 0 : static_cast<uint32_t>(call.dst_column_stride);
                    mark.row = static_cast<uint16_t>(matrix * call.rows + row);
                    mark.column = static_cast<uint16_t>(column);
                    mark.dtype = call.dst.dtype;
                }
            }
        }
    }
};

bool CheckParams(Core& core, const Nd2NzCall& call)
{
    const struct {
        const char* kind;
        const char* what;
        int64_t value, least, most;
    } ranges[] = {
        {"repeat", "ndNum", call.matrices, 0, 4095},
        {"repeat", "nValue", call.rows, 0, 16384},
        {"repeat", "dValue", call.columns, 0, 65535},
        {"stride", "srcNdMatrixStride", call.src_matrix_stride, 0, 65535},
        {"stride", "srcDValue", call.src_row_stride, 1, 65535},
        {"stride", "dstNzC0Stride", call.dst_column_stride, 1, 16384},
        {"stride", "dstNzNStride", call.dst_row_stride, 1, 16384},
        {"stride", "dstNzMatrixStride", call.dst_matrix_stride, 0, 16384},
    };
    bool fine = true;
    for (const auto& range : ranges) {
        fine = CheckRange(core, kName, call.line, range.kind, range.what, range.value, range.least, range.most) && fine;
    }
    if (DtypeSize(call.dst.dtype) > 4) {
        core.Report("unsupported-dtype", call.line, Format("%s of %s does not exist", kName, DtypeName(call.dst.dtype)));
        fine = false;
    }
    const int64_t size = DtypeSize(call.dst.dtype);
    if (call.matrices > 1 && call.dst_matrix_stride * size % kBlockBytes != 0) {
        core.Report("misaligned", call.line,
                    Format("%s: dstNzMatrixStride %lld leads to L1 bytes that are no multiple of 32 B", kName,
                           static_cast<long long>(call.dst_matrix_stride)));
        fine = false;
    }
    return fine;
}

}  // namespace

void IssueNd2Nz(const Nd2NzCall& call)
{
    Core& core = CurrentCore();
    if (!core.EnterOn(CoreKind::Cube, kName, call.line)) {
        return;
    }
    if (!CheckParams(core, call)) {
        core.Skip();
        return;
    }
    if (call.matrices == 0 || call.rows == 0 || call.columns == 0) {
        return;
    }
    const int64_t size = DtypeSize(call.dst.dtype);
    const int64_t across = CeilDiv(call.columns * size, kBlockBytes);
    auto work = std::make_unique<Nd2NzWork>();
    work->call = call;
    // One segment a column block where its rows lie one behind the other, else one a row.
    const bool dense = call.dst_row_stride == 1;
    for (int64_t matrix = 0; matrix < call.matrices; ++matrix) {
        for (int64_t row = 0; row < call.rows; ++row) {
            const int64_t from = (matrix * call.src_matrix_stride + row * call.src_row_stride) * size;
            work->global.push_back({static_cast<uint32_t>(call.columns * size),
                                    static_cast<uint64_t>(kFarOffset + from)});
        }
        for (int64_t column = 0; column < across; ++column) {
            for (int64_t row = 0; row < (dense ? 1 : call.rows); ++row) {
                const int64_t to = matrix * call.dst_matrix_stride * size +
                                   (column * call.dst_column_stride + row * call.dst_row_stride) * kBlockBytes;
                work->blocks.push_back({static_cast<uint32_t>((dense ? call.rows : 1) * kBlockBytes),
                                        call.dst.address + static_cast<uint64_t>(to)});
            }
        }
    }
    bool fine = CheckLocal(core, kName, call.line, "dst", call.dst, work->blocks, 32, Memory::L1);
    fine = CheckGlobal(core, kName, call.line, call.src, false, kFarOffset, work->global, work->argument) && fine;
    if (fine && !Distinct(work->blocks)) {
        core.Report("overlap", call.line,
                    Format("%s: %lld rows with dstNzC0Stride %lld and dstNzNStride %lld write bytes of L1 twice", kName,
                           static_cast<long long>(call.rows), static_cast<long long>(call.dst_column_stride),
                           static_cast<long long>(call.dst_row_stride)));
        fine = false;
    }
    if (!fine) {
        core.Skip();
        return;
    }
    const int64_t rows = call.matrices * call.rows;
    const uint64_t elements = static_cast<uint64_t>(rows * call.columns);
    core.Issue(Pipe::MTE2, kName, call.line, std::move(work), elements, elements * static_cast<uint64_t>(size),
               static_cast<uint32_t>(rows));
}

}  // namespace pypto_host
