// What a load to L0A or L0B does when it runs: bytes, their marks, and the checks of what L1 holds.
#include "load.h"

#include <cstring>

#include "run.h"

namespace pypto_host {

namespace {

template <class T>
void Move(const LocalMemory& l1, LocalMemory& l0, const Piece& piece)
{
    constexpr int64_t kDepths = kBlockBytes / static_cast<int64_t>(sizeof(T));
    T* data = reinterpret_cast<T*>(l0.data.data() + piece.to);
    T* flags = reinterpret_cast<T*>(l0.defined.data() + piece.to);
    const bool whole = piece.lanes == kLanes && piece.depths == kDepths;
    if (!whole) {
        std::memset(data, 0xff, kFractalBytes);
        std::memset(flags, 0, kFractalBytes);
    }
    if (piece.depth_step == static_cast<int64_t>(sizeof(T)) && piece.depths == kDepths) {
        for (int64_t lane = 0; lane < piece.lanes; ++lane) {
            const uint64_t at = piece.from + static_cast<uint64_t>(lane * piece.lane_step);
            std::memcpy(data + lane * kDepths, l1.data.data() + at, kBlockBytes);
            std::memcpy(flags + lane * kDepths, l1.defined.data() + at, kBlockBytes);
        }
        return;
    }
    for (int64_t lane = 0; lane < piece.lanes; ++lane) {
        const uint64_t row = piece.from + static_cast<uint64_t>(lane * piece.lane_step + (lane >= 8 ? piece.far : 0));
        for (int64_t depth = 0; depth < piece.depths; ++depth) {
            const uint64_t at = row + static_cast<uint64_t>(depth * piece.depth_step);
            std::memcpy(data + lane * kDepths + depth, l1.data.data() + at, sizeof(T));
            std::memcpy(flags + lane * kDepths + depth, l1.defined.data() + at, sizeof(T));
        }
    }
}

}  // namespace

void LoadWork::Execute(Core& core, const Event& event)
{
    LocalMemory& l1 = *core.Local(Memory::L1);
    LocalMemory& l0 = *core.Local(target);
    core.Touch(l1.shadow, "L1", event, kRead, read.data(), read.size());
    core.Touch(l0.shadow, MemoryName(target), event, kWrite, written.data(), written.size());
    CheckSource(core);
    CheckPitch(core);
    std::vector<FractalMark>& marks = core.Cube().Fractals(target);
    const int64_t size = DtypeSize(dtype);
    for (Piece& piece : pieces) {
        switch (size) {
            case 1: Move<uint8_t>(l1, l0, piece); break;
            case 2: Move<uint16_t>(l1, l0, piece); break;
            default: Move<uint32_t>(l1, l0, piece); break;
        }
        if (form != LoadForm::Window) {
            Describe(core, piece);
        }
        FractalMark& mark = marks[piece.to / kFractalBytes];
        mark = piece.mark;
        mark.load = event.number;
        mark.dtype = dtype;
    }
}

// Rows beyond those that were loaded may hold what another tile left there: it takes bytes of the right type for
// the whole to be right.
void LoadWork::CheckSource(Core& core) const
{
    const CubeState& cube = core.Cube();
    Dtype other = Dtype::None;
    for (const Segment& segment : read) {
        const uint64_t last = (segment.address + segment.length - 1) / kBlockBytes;
        for (uint64_t block = segment.address / kBlockBytes; block <= last; ++block) {
            if (cube.l1[block].dtype == dtype) {
                return;
            }
            other = cube.l1[block].dtype != Dtype::None ? cube.l1[block].dtype : other;
        }
    }
    if (other != Dtype::None) {
        core.Report("wrong-dtype", line, Format("%s reads L1 bytes from %llu on as %s, they hold %s", name,
                                                static_cast<unsigned long long>(read.front().address),
                                                DtypeName(dtype), DtypeName(other)));
    }
}

// The matrix that a window is cut from must be as high as L1 was written. Where the window starts is asked: what else
// stood in the matrix may have been overwritten since.
void LoadWork::CheckPitch(Core& core) const
{
    const uint64_t at = read.front().address / kBlockBytes;
    const BlockMark& first = core.Cube().l1[at];
    if (pitch != 0 && first.piece != 0 && first.pitch != 0 && first.pitch != pitch &&
        first.row + static_cast<uint64_t>(first.column) * first.pitch == at - source / kBlockBytes) {
        core.Report("layout", {line, core.At(first.piece).line},
                    Format("line %d: %s takes the matrix in L1 to have %lld rows a column block (l1H * l1W), line %d "
                           "wrote it with %u", line, name, static_cast<long long>(pitch),
                           core.At(first.piece).line, first.pitch));
    }
}

// What a fractal or square of L1 is in its matrix; a finding when it is no part of one.
void LoadWork::Describe(Core& core, Piece& piece) const
{
    const std::vector<BlockMark>& marks = core.Cube().l1;
    const int64_t size = DtypeSize(dtype);
    const int64_t wide = BlockElements(dtype);
    const bool square = form == LoadForm::Squares && size != 2;
    const uint64_t base = piece.source / kBlockBytes;
    const BlockMark& first = marks[base];
    piece.mark.form = FractalForm::Unknown;
    // Only of the matrix that the call starts in: the rest may be what another tile left.
    if (first.piece == 0 || first.piece != marks[pieces.front().source / kBlockBytes].piece) {
        return;
    }
    const bool row = first.pitch == 1 && !square && !transpose;
    const int count = square ? 32 : 16;
    for (int i = 1; i < count; ++i) {
        const BlockMark& mark = marks[base + static_cast<uint64_t>(i)];
        const bool right = square && size == 4 && i >= 16;  // the neighbour in the next column block
        const int wanted_row = first.row + (row ? 0 : right ? i - 16 : i);
        const int wanted_column = first.column + (row ? i : right ? 1 : 0);
        if (mark.piece == first.piece && (mark.row != wanted_row || mark.column != wanted_column)) {
            const int wrote = core.At(first.piece).line;
            core.Report("layout", {line, wrote},
                        Format("line %d: %s takes %d B at L1 byte %llu for one piece of a matrix; line %d put row %d of "
                               "column block %d there, and row %d of column block %d at block %d", line, name,
                               count * 32, static_cast<unsigned long long>(base * kBlockBytes), wrote, first.row,
                               first.column, mark.row, mark.column, i));
            return;
        }
    }
    piece.mark.piece = first.piece;
    piece.mark.form = row ? FractalForm::Row : FractalForm::Matrix;
    const int32_t column = static_cast<int32_t>(first.column * wide);
    if (row) {
        piece.mark.depth = column;
    } else if (!transpose) {
        piece.mark.lane = first.row;
        piece.mark.depth = column;
    } else {
        piece.mark.lane = column + (size == 1 && piece.second ? 16 : 0);
        piece.mark.depth = first.row + (size == 4 && piece.second ? 8 : 0);
    }
}

}  // namespace pypto_host
