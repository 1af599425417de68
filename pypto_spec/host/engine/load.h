// One LoadData or LoadDataWithTranspose on its way through the MTE1 pipe.
#pragma once

#include "cube.h"

namespace pypto_host {

// Element (lane, depth) of a fractal is at `from` + lane * `lane_step` + depth * `depth_step`; lanes and depths beyond
// the counts are undefined. Lanes from 8 on of a fractal cut from 32 B blocks of 8 elements have `far` added.
struct Piece {
    uint64_t to = 0;    // byte of L0
    uint64_t from = 0;  // byte of L1
    int32_t lanes = 16;
    int32_t depths = 0;
    int64_t lane_step = 0;   // bytes
    int64_t depth_step = 0;  // bytes
    int64_t far = 0;         // bytes, for lanes from 8 on
    uint64_t source = 0;     // the fractal or square of L1 it was cut from
    bool second = false;     // the second fractal of a square
    FractalMark mark;
};

struct LoadWork final : Work {
    const char* name = "";
    int line = 0;
    Memory target = Memory::L0A;
    Dtype dtype = Dtype::None;
    std::vector<Piece> pieces;
    Segments read;     // of L1
    Segments written;  // of L0
    LoadForm form = LoadForm::Fractals;
    bool transpose = false;
    int64_t pitch = 0;    // Window: rows of a column block; 0: one column block only
    uint64_t source = 0;  // first byte of the tensor in L1

    void Execute(Core& core, const Event& event) override;

private:
    void CheckSource(Core& core) const;
    void CheckPitch(Core& core) const;
    void Describe(Core& core, Piece& piece) const;
};

}  // namespace pypto_host
