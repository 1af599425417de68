// Happens-before. Pipes are not sequential: an instruction may start before an earlier one of its own pipe is done. So
// a clock does not say how far a pipe has issued but, for each pipe, up to which event everything is known complete.
#pragma once

#include <cstdint>

#include "../include/pypto_host/abi.h"

namespace pypto_host {

struct Clock {
    uint32_t at[kPipes] = {};

    void Join(const Clock& other)
    {
        for (int i = 0; i < kPipes; ++i) {
            at[i] = other.at[i] > at[i] ? other.at[i] : at[i];
        }
    }
    bool Knows(Pipe pipe, uint32_t event) const { return at[static_cast<int>(pipe)] >= event; }
};

inline const char* PipeName(Pipe pipe)
{
    static const char* const names[] = {"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX", "ALL"};
    return names[static_cast<int>(pipe)];
}

inline const char* MemoryName(Memory memory)
{
    static const char* const names[] = {"GM", "UB", "L1", "L0A", "L0B", "L0C", "BT", "FB", "no memory"};
    return names[static_cast<int>(memory)];
}

inline const char* DtypeName(Dtype dtype)
{
    static const char* const names[] = {"fp16", "bf16", "fp32", "int8", "uint8", "int16",
                                        "uint16", "int32", "uint32", "int64", "uint64", "none"};
    return names[static_cast<int>(dtype)];
}

inline int DtypeSize(Dtype dtype)
{
    static const int sizes[] = {2, 2, 4, 1, 1, 2, 2, 4, 4, 8, 8, 0};
    return sizes[static_cast<int>(dtype)];
}

}  // namespace pypto_host
