// LoadData and LoadDataWithTranspose: L1 to L0A and L0B, in fractals of 16 lanes (rows of A, columns of B) by 32 B of k.
//
// Every form is turned into a list of fractals, each with the place of its elements in L1; what they are in the matrix
// that L1 was loaded with goes along as a mark.
#include <algorithm>

#include "load.h"
#include "run.h"

namespace pypto_host {

namespace {

// Pieces of LoadData2DParams and LoadData2dTransposeParams.
void AddPieces(const LoadCall& call, LoadWork& work)
{
    const int64_t size = DtypeSize(call.dst.dtype);
    const int64_t wide = BlockElements(call.dst.dtype);
    const bool square = call.form == LoadForm::Squares && size != 2;
    const int64_t unit = square ? 2 * kFractalBytes : kFractalBytes;
    for (int64_t i = 0; i < call.repeat; ++i) {
        const int64_t index = call.start + i * call.src_stride;
        const uint64_t from = call.src.address + static_cast<uint64_t>(index * unit);
        work.read.push_back({static_cast<uint32_t>(unit), from});
        for (int64_t half = 0; half < (square ? 2 : 1); ++half) {
            Piece piece;
            piece.to = call.dst.address + static_cast<uint64_t>((i * (call.dst_gap + 1) +
                                                                 half * (call.dst_fractal_gap + 1)) * kFractalBytes);
            piece.depths = static_cast<int32_t>(wide);
            piece.from = from;
            if (!call.transpose) {
                piece.lane_step = kBlockBytes;
                piece.depth_step = size;
            } else {
                piece.lane_step = size;
                piece.depth_step = kBlockBytes;
                if (size == 1) {
                    piece.from += static_cast<uint64_t>(16 * half);
                } else if (size == 4) {
                    piece.from += static_cast<uint64_t>(8 * half * kBlockBytes);
                    piece.far = kFractalBytes - kBlockBytes;
                }
            }
            piece.source = from;
            piece.second = half != 0;
            work.written.push_back({static_cast<uint32_t>(kFractalBytes), piece.to});
            work.pieces.push_back(piece);
        }
    }
}

// Pieces of LoadData3DParamsV2 with a filter of one point: the window [m_extension, k_extension] of an NZ matrix.
void AddWindow(const LoadCall& call, LoadWork& work)
{
    const int64_t size = DtypeSize(call.dst.dtype);
    const int64_t wide = BlockElements(call.dst.dtype);
    const int64_t rows = call.height * call.width;
    const bool turned = call.dst.memory == Memory::L0B || call.transpose;
    const int64_t m = call.m_extension;
    const int64_t k = call.k_extension;
    // Lanes and depth of the window, in fractals. Four-byte elements are turned in squares of 16 x 16.
    const int64_t lane_count = turned ? k : m;
    const int64_t depth_count = turned ? m : k;
    const int64_t lanes = CeilDiv(lane_count, kLanes);
    const int64_t depths = turned ? CeilDiv(depth_count, kLanes) * kLanes / wide : CeilDiv(depth_count, wide);
    const bool right = call.dst.memory == Memory::L0B;
    for (int64_t lane = 0; lane < lanes; ++lane) {
        for (int64_t depth = 0; depth < depths; ++depth) {
            const int64_t at = right ? depth * lanes + lane : lane * depths + depth;
            Piece piece;
            piece.to = call.dst.address + static_cast<uint64_t>(at * kFractalBytes);
            piece.lanes = static_cast<int32_t>(std::min(kLanes, lane_count - lane * kLanes));
            piece.depths = static_cast<int32_t>(std::max<int64_t>(0, std::min(wide, depth_count - depth * wide)));
            const int64_t row = call.m_start + (turned ? depth * wide : lane * kLanes);
            const int64_t column = call.k_start / wide + (turned ? lane * kLanes / wide : depth);
            piece.from = call.src.address + static_cast<uint64_t>((column * rows + row) * kBlockBytes);
            piece.lane_step = turned ? size : kBlockBytes;
            piece.depth_step = turned ? kBlockBytes : size;
            piece.far = turned && size == 4 ? rows * kBlockBytes - kBlockBytes : 0;
            piece.mark.form = FractalForm::Matrix;
            piece.mark.piece = 1;  // within this call
            piece.mark.lane = static_cast<int32_t>(lane * kLanes);
            piece.mark.depth = static_cast<int32_t>(depth * wide);
            work.pieces.push_back(piece);
        }
    }
    work.written.push_back({static_cast<uint32_t>(lanes * depths * kFractalBytes), call.dst.address});
    const int64_t first = call.k_start / wide;
    const int64_t last = CeilDiv(call.k_start + k, wide);
    for (int64_t column = first; column < last; ++column) {
        work.read.push_back({static_cast<uint32_t>(m * kBlockBytes),
                             call.src.address + static_cast<uint64_t>((column * rows + call.m_start) * kBlockBytes)});
    }
    work.pitch = last > 1 ? rows : 0;
    work.source = call.src.address;
}

bool CheckPieces(Core& core, const char* name, const LoadCall& call)
{
    const struct {
        const char* kind;
        const char* what;
        int64_t value, most;
    } ranges[] = {
        {"stride", "startIndex", call.start, 65535},       {"repeat", "repeatTimes", call.repeat, 255},
        {"stride", "srcStride", call.src_stride, 65535},   {"stride", "dstGap", call.dst_gap, 65535},
        {"stride", "dstFracGap", call.dst_fractal_gap, 65535},
    };
    bool fine = true;
    for (const auto& range : ranges) {
        fine = CheckRange(core, name, call.line, range.kind, range.what, range.value, 0, range.most) && fine;
    }
    if (call.address_mode != 0) {
        core.Report("unsupported", call.line, Format("%s: addrMode %lld from L1; only 0 goes there", name,
                                                     static_cast<long long>(call.address_mode)));
        fine = false;
    }
    if (call.form == LoadForm::Fractals && call.transpose && DtypeSize(call.dst.dtype) != 2) {
        core.Report("unsupported-dtype", call.line, Format("%s: ifTranspose with %s; it turns 2-byte types only", name,
                                                           DtypeName(call.dst.dtype)));
        fine = false;
    }
    return fine;
}

bool CheckWindow(Core& core, const char* name, const LoadCall& call)
{
    const struct {
        const char* what;
        int64_t value, most;
    } ranges[] = {
        {"l1H", call.height, 32767},           {"l1W", call.width, 32767},
        {"channelSize", call.channels, 65535}, {"kStartPt", call.k_start, 65535},
        {"mStartPt", call.m_start, 32767},     {"kExtension", call.k_extension, 65535},
        {"mExtension", call.m_extension, 65535},
    };
    bool fine = true;
    for (const auto& range : ranges) {
        fine = CheckRange(core, name, call.line, "stride", range.what, range.value, 0, range.most) && fine;
    }
    const int64_t size = DtypeSize(call.dst.dtype);
    const int64_t wide = BlockElements(call.dst.dtype);
    if (!call.plain) {
        core.Report("unsupported", call.line, Format("%s: only windows of a matrix are modelled: strides, filters and "
                                                     "dilations of 1, no padding", name));
        return false;
    }
    if (call.dst.memory == Memory::L0B && size == 1) {
        core.Report("unsupported-dtype", call.line, Format("%s of a matrix of %s to L0B does not exist; "
                                                           "LoadDataWithTranspose does it", name,
                                                           DtypeName(call.dst.dtype)));
        return false;
    }
    if (call.dst.memory == Memory::L0A && call.transpose && size == 1) {
        core.Report("unsupported-dtype", call.line, Format("%s: enTranspose with %s does not exist; "
                                                           "LoadDataWithTranspose does it", name,
                                                           DtypeName(call.dst.dtype)));
        return false;
    }
    const int64_t rest = call.channels % wide;
    if (rest != 0 && rest != 4 && (rest != 8 || size > 2) && (rest != 16 || size > 1)) {
        core.Report("stride", call.line, Format("%s: channelSize %lld of %s", name,
                                                static_cast<long long>(call.channels), DtypeName(call.dst.dtype)));
        fine = false;
    }
    const int64_t rows = call.height * call.width;
    const int64_t columns = CeilDiv(call.channels, wide) * wide;
    const auto aligned = [&](const char* what, int64_t value, int64_t to) {
        if (value % to != 0) {
            core.Report("misaligned", call.line, Format("%s: %s %lld is no multiple of %lld", name, what,
                                                        static_cast<long long>(value), static_cast<long long>(to)));
            fine = false;
        }
    };
    aligned("kStartPt", call.k_start, wide);
    if (call.k_start + call.k_extension < call.channels) {
        aligned("kExtension", call.k_extension, wide);
    }
    if (call.m_start + call.m_extension < rows && size != 4) {
        aligned("mExtension", call.m_extension, kLanes);
    }
    if (call.m_start + call.m_extension > rows || call.k_start + call.k_extension > columns) {
        core.Report("out-of-bounds", call.line,
                    Format("%s: the window of %lld rows from %lld and %lld columns from %lld reaches outside of a matrix "
                           "of %lld x %lld", name, static_cast<long long>(call.m_extension),
                           static_cast<long long>(call.m_start), static_cast<long long>(call.k_extension),
                           static_cast<long long>(call.k_start), static_cast<long long>(rows),
                           static_cast<long long>(columns)));
        fine = false;
    }
    return fine;
}

}  // namespace

void IssueLoad(const LoadCall& call)
{
    Core& core = CurrentCore();
    const bool left = call.dst.memory == Memory::L0A;
    const char* name = call.form == LoadForm::Squares
                           ? (left ? "LoadDataWithTranspose.left" : "LoadDataWithTranspose.right")
                           : (left ? "LoadData.left" : "LoadData.right");
    if (!core.EnterOn(CoreKind::Cube, name, call.line)) {
        return;
    }
    if (!left && call.dst.memory != Memory::L0B) {
        core.Report("wrong-memory", call.line, Format("LoadData: dst is in %s, only L0A and L0B are possible here",
                                                      MemoryName(call.dst.memory)));
        core.Skip();
        return;
    }
    bool fine = true;
    if (DtypeSize(call.dst.dtype) > 4) {
        core.Report("unsupported-dtype", call.line, Format("%s of %s does not exist", name, DtypeName(call.dst.dtype)));
        fine = false;
    }
    const bool window = call.form == LoadForm::Window;
    fine = fine && (window ? CheckWindow(core, name, call) : CheckPieces(core, name, call));
    if (!fine) {
        core.Skip();
        return;
    }
    const bool nothing = window ? call.height == 0 || call.width == 0 || call.channels == 0 || call.k_extension == 0 ||
                                      call.m_extension == 0
                                : call.repeat == 0;
    if (nothing) {
        return;
    }
    auto work = std::make_unique<LoadWork>();
    window ? AddWindow(call, *work) : AddPieces(call, *work);
    fine = CheckLocal(core, name, call.line, "dst", call.dst, work->written, kFractalBytes, call.dst.memory);
    fine = CheckLocal(core, name, call.line, "src", call.src, work->read, kBlockBytes, Memory::L1) && fine;
    if (fine && !Distinct(work->written)) {
        core.Report("overlap", call.line, Format("%s: dstGap and dstFracGap write fractals of %s twice", name,
                                                 MemoryName(call.dst.memory)));
        fine = false;
    }
    if (!fine) {
        core.Skip();
        return;
    }
    work->name = name;
    work->line = call.line;
    work->target = call.dst.memory;
    work->dtype = call.dst.dtype;
    work->form = call.form;
    work->transpose = call.transpose;
    const uint64_t fractals = work->pieces.size();
    core.Issue(Pipe::MTE1, name, call.line, std::move(work),
               fractals * static_cast<uint64_t>(kFractalBytes / DtypeSize(call.dst.dtype)), fractals * kFractalBytes,
               static_cast<uint32_t>(fractals));
}

}  // namespace pypto_host
