// Elementwise vector instructions in their three shapes: contiguous count, first lanes of a repeat, bit mask.
#pragma once

#include "params.h"
#include "tensors.h"

namespace pypto_host {

inline Mask Count(int64_t count)
{
    Mask mask;
    mask.amount = count;
    return mask;
}

inline Mask First(bool sets, uint64_t lanes, int64_t repeat)
{
    Mask mask;
    mask.form = MaskForm::First;
    mask.sets_mask = sets;
    mask.amount = static_cast<int64_t>(lanes);
    mask.repeat = repeat;
    return mask;
}

inline Mask Bits(bool sets, const uint64_t* bits, int64_t repeat)
{
    Mask mask;
    mask.form = MaskForm::Bits;
    mask.sets_mask = sets;
    if (sets) {
        mask.low = bits[0];
        mask.high = bits[1];
    }
    mask.repeat = repeat;
    return mask;
}

template <typename T>
Operand Strided(const AscendC::LocalTensor<T>& tensor, int64_t block, int64_t repeat)
{
    return Operand{tensor.HostRef(), block, repeat};
}

template <typename T, typename U>
VectorCall UnaryCall(VectorOp op, const char* name, const AscendC::LocalTensor<T>& dst,
                     const AscendC::LocalTensor<U>& src, const Mask& mask, const AscendC::UnaryRepeatParams& params,
                     int line)
{
    VectorCall call;
    call.op = op;
    call.name = name;
    call.line = line;
    call.sources = 1;
    call.dst = Strided(dst, params.dstBlkStride, params.dstRepStride);
    call.src[0] = Strided(src, params.srcBlkStride, params.srcRepStride);
    call.mask = mask;
    return call;
}

template <typename T, typename U>
void Unary(VectorOp op, const char* name, const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<U>& src,
           const Mask& mask, const AscendC::UnaryRepeatParams& params, int line)
{
    IssueVector(UnaryCall(op, name, dst, src, mask, params, line));
}

template <typename T, typename U, typename S>
void Scalar(VectorOp op, const char* name, const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<U>& src,
            const S& scalar, const Mask& mask, const AscendC::UnaryRepeatParams& params, int line,
            bool round_shift = false)
{
    VectorCall call = UnaryCall(op, name, dst, src, mask, params, line);
    call.scalar = RawBits(scalar);
    call.scalar_type = DtypeOf<S>::value;
    call.round_shift = round_shift;
    IssueVector(call);
}

template <typename T>
void Binary(VectorOp op, const char* name, const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<T>& src0,
            const AscendC::LocalTensor<T>& src1, const Mask& mask, const AscendC::BinaryRepeatParams& params, int line)
{
    VectorCall call;
    call.op = op;
    call.name = name;
    call.line = line;
    call.sources = 2;
    call.dst = Strided(dst, params.dstBlkStride, params.dstRepStride);
    call.src[0] = Strided(src0, params.src0BlkStride, params.src0RepStride);
    call.src[1] = Strided(src1, params.src1BlkStride, params.src1RepStride);
    call.mask = mask;
    IssueVector(call);
}

template <typename T, typename U>
void Convert(const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<U>& src, AscendC::RoundMode round,
             const Mask& mask, const AscendC::UnaryRepeatParams& params, int line)
{
    VectorCall call = UnaryCall(VectorOp::Cast, "Cast", dst, src, mask, params, line);
    call.round = static_cast<uint8_t>(round);
    IssueVector(call);
}

template <typename T>
void Fill(const AscendC::LocalTensor<T>& dst, const T& scalar, const Mask& mask, int64_t block, int64_t repeat,
          int line)
{
    VectorCall call;
    call.op = VectorOp::Duplicate;
    call.name = "Duplicate";
    call.line = line;
    call.dst = Strided(dst, block, repeat);
    call.mask = mask;
    call.scalar = RawBits(scalar);
    call.scalar_type = DtypeOf<T>::value;
    IssueVector(call);
}

}  // namespace pypto_host

namespace AscendC {

#define PYPTO_HOST_BINARY(NAME)                                                                                      \
    template <typename T>                                                                                            \
    void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,                     \
              const int32_t& count, int line = __builtin_LINE())                                                     \
    {                                                                                                                \
        pypto_host::Binary(pypto_host::VectorOp::NAME, #NAME, dst, src0, src1, pypto_host::Count(count), {}, line);  \
    }                                                                                                                \
    template <typename T, bool isSetMask = true>                                                                     \
    void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, uint64_t mask,      \
              const int64_t repeatTime, const BinaryRepeatParams& repeatParams, int line = __builtin_LINE())         \
    {                                                                                                                \
        pypto_host::Binary(pypto_host::VectorOp::NAME, #NAME, dst, src0, src1,                                       \
                           pypto_host::First(isSetMask, mask, repeatTime), repeatParams, line);                      \
    }                                                                                                                \
    template <typename T, bool isSetMask = true>                                                                     \
    void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, uint64_t mask[],    \
              const int64_t repeatTime, const BinaryRepeatParams& repeatParams, int line = __builtin_LINE())         \
    {                                                                                                                \
        pypto_host::Binary(pypto_host::VectorOp::NAME, #NAME, dst, src0, src1,                                       \
                           pypto_host::Bits(isSetMask, mask, repeatTime), repeatParams, line);                       \
    }

PYPTO_HOST_BINARY(Add)
PYPTO_HOST_BINARY(Sub)
PYPTO_HOST_BINARY(Mul)
PYPTO_HOST_BINARY(Div)
PYPTO_HOST_BINARY(Max)
PYPTO_HOST_BINARY(Min)
PYPTO_HOST_BINARY(And)
PYPTO_HOST_BINARY(Or)
#undef PYPTO_HOST_BINARY

#define PYPTO_HOST_UNARY(NAME)                                                                                       \
    template <typename T>                                                                                            \
    void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t& count,                            \
              int line = __builtin_LINE())                                                                           \
    {                                                                                                                \
        pypto_host::Unary(pypto_host::VectorOp::NAME, #NAME, dst, src, pypto_host::Count(count), {}, line);          \
    }                                                                                                                \
    template <typename T, bool isSetMask = true>                                                                     \
    void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t mask, const int64_t repeatTime,         \
              const UnaryRepeatParams& repeatParams, int line = __builtin_LINE())                                    \
    {                                                                                                                \
        pypto_host::Unary(pypto_host::VectorOp::NAME, #NAME, dst, src,                                               \
                          pypto_host::First(isSetMask, mask, repeatTime), repeatParams, line);                       \
    }                                                                                                                \
    template <typename T, bool isSetMask = true>                                                                     \
    void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t mask[], const int64_t repeatTime,       \
              const UnaryRepeatParams& repeatParams, int line = __builtin_LINE())                                    \
    {                                                                                                                \
        pypto_host::Unary(pypto_host::VectorOp::NAME, #NAME, dst, src,                                               \
                          pypto_host::Bits(isSetMask, mask, repeatTime), repeatParams, line);                        \
    }

PYPTO_HOST_UNARY(Abs)
PYPTO_HOST_UNARY(Exp)
PYPTO_HOST_UNARY(Ln)
PYPTO_HOST_UNARY(Sqrt)
PYPTO_HOST_UNARY(Rsqrt)
PYPTO_HOST_UNARY(Reciprocal)
PYPTO_HOST_UNARY(Relu)
PYPTO_HOST_UNARY(Not)
#undef PYPTO_HOST_UNARY

#define PYPTO_HOST_SCALAR(NAME)                                                                                      \
    template <typename T, bool isSetMask = true>                                                                     \
    void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue, const int32_t& count,      \
              int line = __builtin_LINE())                                                                           \
    {                                                                                                                \
        pypto_host::Scalar(pypto_host::VectorOp::NAME, #NAME, dst, src, scalarValue, pypto_host::Count(count), {},   \
                           line);                                                                                    \
    }                                                                                                                \
    template <typename T, bool isSetMask = true>                                                                     \
    void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue, uint64_t mask,             \
              const int64_t repeatTime, const UnaryRepeatParams& repeatParams, int line = __builtin_LINE())          \
    {                                                                                                                \
        pypto_host::Scalar(pypto_host::VectorOp::NAME, #NAME, dst, src, scalarValue,                                 \
                           pypto_host::First(isSetMask, mask, repeatTime), repeatParams, line);                      \
    }                                                                                                                \
    template <typename T, bool isSetMask = true>                                                                     \
    void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue, uint64_t mask[],           \
              const int64_t repeatTime, const UnaryRepeatParams& repeatParams, int line = __builtin_LINE())          \
    {                                                                                                                \
        pypto_host::Scalar(pypto_host::VectorOp::NAME, #NAME, dst, src, scalarValue,                                 \
                           pypto_host::Bits(isSetMask, mask, repeatTime), repeatParams, line);                       \
    }

PYPTO_HOST_SCALAR(Adds)
PYPTO_HOST_SCALAR(Muls)
PYPTO_HOST_SCALAR(Maxs)
PYPTO_HOST_SCALAR(Mins)
PYPTO_HOST_SCALAR(LeakyRelu)
PYPTO_HOST_SCALAR(ShiftLeft)
#undef PYPTO_HOST_SCALAR

template <typename T, bool isSetMask = true>
void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue, const int32_t& count,
                int line = __builtin_LINE())
{
    pypto_host::Scalar(pypto_host::VectorOp::ShiftRight, "ShiftRight", dst, src, scalarValue,
                       pypto_host::Count(count), {}, line);
}

template <typename T, bool isSetMask = true>
void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue, uint64_t mask,
                const int64_t repeatTime, const UnaryRepeatParams& repeatParams, bool roundEn = false,
                int line = __builtin_LINE())
{
    pypto_host::Scalar(pypto_host::VectorOp::ShiftRight, "ShiftRight", dst, src, scalarValue,
                       pypto_host::First(isSetMask, mask, repeatTime), repeatParams, line, roundEn);
}

template <typename T, bool isSetMask = true>
void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue, uint64_t mask[],
                const int64_t repeatTime, const UnaryRepeatParams& repeatParams, bool roundEn = false,
                int line = __builtin_LINE())
{
    pypto_host::Scalar(pypto_host::VectorOp::ShiftRight, "ShiftRight", dst, src, scalarValue,
                       pypto_host::Bits(isSetMask, mask, repeatTime), repeatParams, line, roundEn);
}

template <typename T, typename U>
void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalarValue, const int32_t& count,
          int line = __builtin_LINE())
{
    pypto_host::Scalar(pypto_host::VectorOp::Axpy, "Axpy", dst, src, scalarValue, pypto_host::Count(count), {}, line);
}

template <typename T, typename U, bool isSetMask = true>
void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalarValue, uint64_t mask,
          const int64_t repeatTime, const UnaryRepeatParams& repeatParams, int line = __builtin_LINE())
{
    pypto_host::Scalar(pypto_host::VectorOp::Axpy, "Axpy", dst, src, scalarValue,
                       pypto_host::First(isSetMask, mask, repeatTime), repeatParams, line);
}

template <typename T, typename U, bool isSetMask = true>
void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalarValue, uint64_t mask[],
          const int64_t repeatTime, const UnaryRepeatParams& repeatParams, int line = __builtin_LINE())
{
    pypto_host::Scalar(pypto_host::VectorOp::Axpy, "Axpy", dst, src, scalarValue,
                       pypto_host::Bits(isSetMask, mask, repeatTime), repeatParams, line);
}

template <typename T>
void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, const int32_t& count, int line = __builtin_LINE())
{
    pypto_host::Fill(dst, scalarValue, pypto_host::Count(count), 1, 8, line);
}

template <typename T, bool isSetMask = true>
void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, uint64_t mask, const int64_t repeatTime,
               const int64_t dstBlockStride, const int64_t dstRepeatStride, int line = __builtin_LINE())
{
    pypto_host::Fill(dst, scalarValue, pypto_host::First(isSetMask, mask, repeatTime), dstBlockStride,
                     dstRepeatStride, line);
}

template <typename T, bool isSetMask = true>
void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, uint64_t mask[], const int64_t repeatTime,
               const int64_t dstBlockStride, const int64_t dstRepeatStride, int line = __builtin_LINE())
{
    pypto_host::Fill(dst, scalarValue, pypto_host::Bits(isSetMask, mask, repeatTime), dstBlockStride,
                     dstRepeatStride, line);
}

template <typename T, typename U>
void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode, const uint32_t count,
          int line = __builtin_LINE())
{
    pypto_host::Convert(dst, src, roundMode, pypto_host::Count(count), {}, line);
}

template <typename T, typename U, bool isSetMask = true>
void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode, const uint64_t mask,
          const int64_t repeatTime, const UnaryRepeatParams& repeatParams, int line = __builtin_LINE())
{
    pypto_host::Convert(dst, src, roundMode, pypto_host::First(isSetMask, mask, repeatTime), repeatParams, line);
}

template <typename T, typename U, bool isSetMask = true>
void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode, const uint64_t mask[],
          const int64_t repeatTime, const UnaryRepeatParams& repeatParams, int line = __builtin_LINE())
{
    pypto_host::Convert(dst, src, roundMode, pypto_host::Bits(isSetMask, mask, repeatTime), repeatParams, line);
}

}  // namespace AscendC
