// Element loops over packed operands, chosen by operation and type.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../include/pypto_host/abi.h"

namespace pypto_host {

struct Loop {
    void* dst;
    const void* a;
    const void* b;  // second tensor, or null
    uint64_t scalar;
    size_t count;
    bool round_shift;
};

using LoopFunction = void (*)(const Loop&);

// Null when the instruction does not exist for that type on this target.
LoopFunction FindLoop(VectorOp op, Dtype dst, Dtype src);

struct CastLoop {
    void* dst;
    const void* src;
    size_t count;
    uint8_t round;
    float scale;
};
using CastFunction = void (*)(const CastLoop&);
struct CastRule {
    CastFunction function = nullptr;
    uint8_t rounds = 0;  // bit per AscendC::RoundMode
    bool needs_scale = false;
};
CastRule FindCast(Dtype dst, Dtype src);

}  // namespace pypto_host
