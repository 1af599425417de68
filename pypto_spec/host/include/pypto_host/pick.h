// Compare, Select and Gather in their count forms, and Transpose of one block.
#pragma once

#include "tensors.h"

namespace pypto_host {

template <typename T, typename M>
PickCall Pick(PickOp op, const char* name, const AscendC::LocalTensor<T>& src, const AscendC::LocalTensor<M>& mask,
              uint64_t count, int line)
{
    PickCall call;
    call.op = op;
    call.name = name;
    call.line = line;
    call.src[0] = src.HostRef();
    call.mask = mask.HostRef();
    call.count = count;
    return call;
}

template <typename T, typename U>
void CompareWith(const char* name, const AscendC::LocalTensor<U>& dst, const AscendC::LocalTensor<T>& src0, T scalar,
                 AscendC::CMPMODE mode, uint64_t count, int line)
{
    PickCall call = Pick(PickOp::Compare, name, src0, dst, count, line);
    call.dst = dst.HostRef();
    call.has_scalar = true;
    call.scalar = RawBits(scalar);
    call.mode = static_cast<uint8_t>(mode);
    IssuePick(call);
}

}  // namespace pypto_host

namespace AscendC {

template <typename T, typename U>
void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode,
             uint32_t count, int line = __builtin_LINE())
{
    auto call = pypto_host::Pick(pypto_host::PickOp::Compare, "Compare", src0, dst, count, line);
    call.dst = dst.HostRef();
    call.src[1] = src1.HostRef();
    call.mode = static_cast<uint8_t>(cmpMode);
    pypto_host::IssuePick(call);
}

template <typename T, typename U>
void CompareScalar(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar, CMPMODE cmpMode,
                   uint32_t count, int line = __builtin_LINE())
{
    pypto_host::CompareWith("CompareScalar", dst, src0, src1Scalar, cmpMode, count, line);
}

template <typename T, typename U>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
            const LocalTensor<T>& src1, SELMODE selMode, uint32_t count, int line = __builtin_LINE())
{
    auto call = pypto_host::Pick(pypto_host::PickOp::Select, "Select", src0, selMask, count, line);
    call.dst = dst.HostRef();
    call.src[1] = src1.HostRef();
    call.mode = static_cast<uint8_t>(selMode);
    pypto_host::IssuePick(call);
}

template <typename T, typename U>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, T src1,
            SELMODE selMode, uint32_t count, int line = __builtin_LINE())
{
    auto call = pypto_host::Pick(pypto_host::PickOp::Select, "Select", src0, selMask, count, line);
    call.dst = dst.HostRef();
    call.has_scalar = true;
    call.scalar = pypto_host::RawBits(src1);
    call.mode = static_cast<uint8_t>(selMode);
    pypto_host::IssuePick(call);
}

template <typename T>
void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& srcOffset,
            const uint32_t srcBaseOffset, const uint32_t count, int line = __builtin_LINE())
{
    auto call = pypto_host::Pick(pypto_host::PickOp::Gather, "Gather", src, srcOffset, count, line);
    call.dst = dst.HostRef();
    call.base = srcBaseOffset;
    pypto_host::IssuePick(call);
}

template <typename T>
void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src, int line = __builtin_LINE())
{
    pypto_host::IssueTranspose(dst.HostRef(), src.HostRef(), line);
}

}  // namespace AscendC
