// Flags, barriers and the state of the scalar stream (mask mode, vector mask, atomics, dequantisation scale).
#pragma once

#include "types.h"

namespace AscendC {

template <HardEvent event>
void SetFlag(int32_t eventID, int line = __builtin_LINE())
{
    pypto_host::SetFlagOn(static_cast<int>(event), eventID, line);
}

template <HardEvent event>
void WaitFlag(int32_t eventID, int line = __builtin_LINE())
{
    pypto_host::WaitFlagOn(static_cast<int>(event), eventID, line);
}

template <pipe_t pipe>
void PipeBarrier(int line = __builtin_LINE())
{
    static_assert(pipe != PIPE_S, "PipeBarrier<PIPE_S> does not exist on this target");
    pypto_host::BarrierOn(pypto_host::PipeOf(pipe), line);
}

inline void SetMaskCount(int line = __builtin_LINE()) { pypto_host::SetMaskMode(true, line); }
inline void SetMaskNorm(int line = __builtin_LINE()) { pypto_host::SetMaskMode(false, line); }
inline void ResetMask(int line = __builtin_LINE())
{
    pypto_host::SetMaskBits(pypto_host::Dtype::None, FULL_MASK, FULL_MASK, line);
}

template <typename T, MaskMode mode = MaskMode::NORMAL>
void SetVectorMask(const uint64_t maskHigh, const uint64_t maskLow, int line = __builtin_LINE())
{
    if (mode == MaskMode::COUNTER) {
        pypto_host::SetMaskLength(pypto_host::DtypeOf<T>::value, static_cast<int64_t>(maskLow), true, line);
    } else {
        pypto_host::SetMaskBits(pypto_host::DtypeOf<T>::value, maskHigh, maskLow, line);
    }
}

template <typename T, MaskMode mode = MaskMode::NORMAL>
void SetVectorMask(int32_t len, pypto_host::Line line = pypto_host::Line(__builtin_LINE()))
{
    pypto_host::SetMaskLength(pypto_host::DtypeOf<T>::value, len, mode == MaskMode::COUNTER, line.value);
}

template <typename T>
void SetAtomicAdd(int line = __builtin_LINE())
{
    pypto_host::SetAtomic(1, pypto_host::DtypeOf<T>::value, line);
}
template <typename T>
void SetAtomicMax(int line = __builtin_LINE())
{
    pypto_host::SetAtomic(2, pypto_host::DtypeOf<T>::value, line);
}
template <typename T>
void SetAtomicMin(int line = __builtin_LINE())
{
    pypto_host::SetAtomic(3, pypto_host::DtypeOf<T>::value, line);
}
inline void SetAtomicNone(int line = __builtin_LINE()) { pypto_host::SetAtomic(0, pypto_host::Dtype::None, line); }

inline void SetDeqScale(half scale, int line = __builtin_LINE()) { pypto_host::SetDeqScaleBits(scale.bits, line); }

}  // namespace AscendC
