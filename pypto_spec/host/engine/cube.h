// What the cube core's memories hold besides bytes: where they came from, so that a Mmad can refuse what is not the
// matrix it was told.
#pragma once

#include <string>
#include <vector>

#include "core.h"
#include "work.h"

namespace pypto_host {

constexpr int64_t kFractalBytes = 512;
constexpr int64_t kBlockBytes = 32;
constexpr int64_t kLanes = 16;       // rows of a fractal in L0A, columns of one in L0B
constexpr int64_t kBoxBytes = 1024;  // 16 x 16 accumulators
constexpr int64_t kRowBytes = 64;    // a row of a box
constexpr int64_t kMostSize = 4095;  // of m, n and k

// Elements of a block of 32 B, "C0".
inline int64_t BlockElements(Dtype dtype) { return kBlockBytes / DtypeSize(dtype); }
inline int64_t CeilDiv(int64_t value, int64_t by) { return (value + by - 1) / by; }

// A block of 32 B of L1: column block `column` of row `row` of the matrix `piece` (an event; 0: nothing is known of its
// place in a matrix), whose column blocks are `pitch` blocks apart (0: it has one).
struct BlockMark {
    uint32_t piece = 0;
    uint32_t pitch = 0;
    uint16_t row = 0;
    uint16_t column = 0;
    Dtype dtype = Dtype::None;  // None: never written
};

// How a fractal of L0A or L0B was loaded.
enum class FractalForm : uint8_t { None, Unknown, Matrix, Row };

// A fractal of L0A or L0B: lanes are rows of A or columns of B, depth runs along k; both are elements of the source.
struct FractalMark {
    uint32_t load = 0;   // the event that wrote it
    uint32_t piece = 0;  // the matrix that `lane` and `depth` count in; 0: they are not known
    int32_t lane = 0;
    int32_t depth = 0;
    FractalForm form = FractalForm::None;
    Dtype dtype = Dtype::None;
};

// A box of L0C: box (`row`, `column`) of the tile at byte `tile` with `pitch` boxes a column.
struct BoxMark {
    uint32_t mad = 0;  // the event that wrote it last, 0: nobody
    uint32_t tile = 0;
    uint16_t row = 0;
    uint16_t column = 0;
    uint16_t pitch = 0;
    Dtype dtype = Dtype::None;
};

// The unit flag of 512 B of L0C. Only Full can be drained and only Empty be written to under unit flags; the states
// between last from the start of an instruction to its effect.
enum class UnitState : uint8_t { Empty, Filling, Full, Draining };
struct Unit {
    UnitState state = UnitState::Empty;
    uint32_t event = 0;  // the last that changed it
    Clock known;         // what was complete before that one started
};

struct CubeState {
    CubeState();
    std::vector<BlockMark> l1;
    std::vector<FractalMark> l0a;
    std::vector<FractalMark> l0b;
    std::vector<BoxMark> l0c;
    std::vector<Unit> units;
    std::vector<Dtype> bias;  // a type each 64 B

    std::vector<FractalMark>& Fractals(Memory memory) { return memory == Memory::L0A ? l0a : l0b; }
    // Bytes of L1 were written in a way that says nothing of matrices.
    void Forget(uint64_t address, uint64_t bytes, Dtype dtype);
    // The first type other than `wanted` among the blocks of L1, None when there is none.
    Dtype OtherDtype(uint64_t address, uint64_t bytes, Dtype wanted) const;
};

// Unit flags, for an instruction with unitFlag 2 or 3 on these bytes of L0C: a Mmad waits until none is set and, with
// 3, sets them; a Fixpipe waits until all are set and, with 3, resets them.
bool UnitsReady(const Core& core, const Segments& bytes, bool drains);
void StartUnits(Core& core, const Segments& bytes, bool drains, bool changes, Op& op);
void FinishUnits(Core& core, const Segments& bytes, bool drains);
std::string UnitsAwaited(const Core& core, const Segments& bytes, bool drains);
void ReportLeftUnits(Core& core);

void IssueBias(Core& core, const CopyCall& call);

// Undefined bytes of an accumulator or an operand, by element of `size` bytes.
inline bool Defined(const uint8_t* flags, int64_t size)
{
    for (int64_t i = 0; i < size; ++i) {
        if (flags[i] != kDefined) {
            return false;
        }
    }
    return true;
}

}  // namespace pypto_host
