// Reductions inside a repeat and the row broadcast Brcb.
//
// The argument order is the device's own trap: WholeReduce takes (mask, repeat), BlockReduce and PairReduce take
// (repeat, mask).
#pragma once

#include "vector.h"

namespace pypto_host {

template <typename T>
void Reduce(ReduceOp op, ReduceScope scope, const char* name, const AscendC::LocalTensor<T>& dst,
            const AscendC::LocalTensor<T>& src, const Mask& mask, int64_t dst_repeat, int64_t src_block,
            int64_t src_repeat, uint8_t order, int line)
{
    ReduceCall call;
    call.op = op;
    call.scope = scope;
    call.name = name;
    call.line = line;
    call.dst = dst.HostRef();
    call.src = src.HostRef();
    call.mask = mask;
    call.dst_repeat_stride = dst_repeat;
    call.src_block_stride = src_block;
    call.src_repeat_stride = src_repeat;
    call.order = order;
    IssueReduce(call);
}

}  // namespace pypto_host

namespace AscendC {

template <typename T, bool isSetMask = true>
void WholeReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t mask,
                    const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,
                    const int32_t srcRepStride, int line = __builtin_LINE())
{
    pypto_host::Reduce(pypto_host::ReduceOp::Sum, pypto_host::ReduceScope::Repeat, "WholeReduceSum", dst, src,
                       pypto_host::First(isSetMask, static_cast<uint64_t>(mask), repeatTime), dstRepStride,
                       srcBlkStride, srcRepStride, static_cast<uint8_t>(ReduceOrder::ORDER_ONLY_VALUE), line);
}

template <typename T, bool isSetMask = true>
void WholeReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[],
                    const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,
                    const int32_t srcRepStride, int line = __builtin_LINE())
{
    pypto_host::Reduce(pypto_host::ReduceOp::Sum, pypto_host::ReduceScope::Repeat, "WholeReduceSum", dst, src,
                       pypto_host::Bits(isSetMask, mask, repeatTime), dstRepStride, srcBlkStride, srcRepStride,
                       static_cast<uint8_t>(ReduceOrder::ORDER_ONLY_VALUE), line);
}

#define PYPTO_HOST_WHOLE(NAME, OP)                                                                                   \
    template <typename T, bool isSetMask = true>                                                                     \
    void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t mask, const int32_t repeatTime,    \
              const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,                    \
              ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, int line = __builtin_LINE())                       \
    {                                                                                                                \
        pypto_host::Reduce(pypto_host::ReduceOp::OP, pypto_host::ReduceScope::Repeat, #NAME, dst, src,               \
                           pypto_host::First(isSetMask, static_cast<uint64_t>(mask), repeatTime), dstRepStride,      \
                           srcBlkStride, srcRepStride, static_cast<uint8_t>(order), line);                           \
    }                                                                                                                \
    template <typename T, bool isSetMask = true>                                                                     \
    void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[], const int32_t repeatTime, \
              const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,                    \
              ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, int line = __builtin_LINE())                       \
    {                                                                                                                \
        pypto_host::Reduce(pypto_host::ReduceOp::OP, pypto_host::ReduceScope::Repeat, #NAME, dst, src,               \
                           pypto_host::Bits(isSetMask, mask, repeatTime), dstRepStride, srcBlkStride, srcRepStride,  \
                           static_cast<uint8_t>(order), line);                                                       \
    }

PYPTO_HOST_WHOLE(WholeReduceMax, Max)
PYPTO_HOST_WHOLE(WholeReduceMin, Min)
#undef PYPTO_HOST_WHOLE

#define PYPTO_HOST_PART(NAME, OP, SCOPE)                                                                             \
    template <typename T, bool isSetMask = true>                                                                     \
    void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime, const int32_t mask,    \
              const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,                    \
              int line = __builtin_LINE())                                                                           \
    {                                                                                                                \
        pypto_host::Reduce(pypto_host::ReduceOp::OP, pypto_host::ReduceScope::SCOPE, #NAME, dst, src,                \
                           pypto_host::First(isSetMask, static_cast<uint64_t>(mask), repeatTime), dstRepStride,      \
                           srcBlkStride, srcRepStride, static_cast<uint8_t>(ReduceOrder::ORDER_ONLY_VALUE), line);   \
    }                                                                                                                \
    template <typename T, bool isSetMask = true>                                                                     \
    void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime, const uint64_t mask[], \
              const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,                    \
              int line = __builtin_LINE())                                                                           \
    {                                                                                                                \
        pypto_host::Reduce(pypto_host::ReduceOp::OP, pypto_host::ReduceScope::SCOPE, #NAME, dst, src,                \
                           pypto_host::Bits(isSetMask, mask, repeatTime), dstRepStride, srcBlkStride, srcRepStride,  \
                           static_cast<uint8_t>(ReduceOrder::ORDER_ONLY_VALUE), line);                               \
    }

PYPTO_HOST_PART(BlockReduceSum, Sum, Block)
PYPTO_HOST_PART(BlockReduceMax, Max, Block)
PYPTO_HOST_PART(BlockReduceMin, Min, Block)
PYPTO_HOST_PART(PairReduceSum, Sum, Pair)
#undef PYPTO_HOST_PART

template <typename T>
void Brcb(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int64_t repeatTime,
          const BrcbRepeatParams& repeatParams, int line = __builtin_LINE())
{
    pypto_host::BrcbCall call;
    call.line = line;
    call.dst = dst.HostRef();
    call.src = src.HostRef();
    call.repeat = repeatTime;
    call.dst_block_stride = repeatParams.dstBlkStride;
    call.dst_repeat_stride = repeatParams.dstRepStride;
    pypto_host::IssueBrcb(call);
}

}  // namespace AscendC
