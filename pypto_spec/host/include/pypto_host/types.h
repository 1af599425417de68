// Names, enumerations and macros that a rendered kernel uses besides the calls themselves.
#pragma once

#include <cstdint>

#include "abi.h"
#include "half.h"

#define __global__
#define __aicore__
#define __gm__
#define __ubuf__
#define __cbuf__
#define GM_ADDR uint8_t*

// Run-time tests here, compile-time ones on the device; used as `if ASCEND_IS_AIV { ... }`.
#define ASCEND_IS_AIV (::pypto_host::OnVectorCore())
#define ASCEND_IS_AIC (::pypto_host::OnCubeCore())
#define ASCEND_IS_NOT_AIV (!::pypto_host::OnVectorCore())
#define ASCEND_IS_NOT_AIC (!::pypto_host::OnCubeCore())

#define KERNEL_TASK_TYPE_DEFAULT(type) ::pypto_host::DeclareTaskType(static_cast<int>(type), __LINE__)

enum KernelMetaType : int {
    KERNEL_TYPE_AIV_ONLY,
    KERNEL_TYPE_AIC_ONLY,
    KERNEL_TYPE_MIX_AIV_1_0,
    KERNEL_TYPE_MIX_AIC_1_0,
    KERNEL_TYPE_MIX_AIC_1_1,
    KERNEL_TYPE_MIX_AIC_1_2,
};

enum pipe_t { PIPE_S = 0, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_ALL, PIPE_FIX = 10 };

// How Fixpipe converts an accumulator; the V forms take a scale for each column. The values are the model's own.
enum QuantMode_t { NoQuant = 0, F322F16, F322BF16, DEQF16, VDEQF16, QF322B8_PRE, VQF322B8_PRE, REQ8, VREQ8 };

namespace AscendC {

enum class TPosition : uint8_t {
    GM, A1, A2, B1, B2, C1, C2, CO1, CO2, VECIN, VECOUT, VECCALC, LCM = VECCALC, SPM, SHM = SPM, TSCM, C2PIPE2GM, MAX
};
using QuePosition = TPosition;

using TEventID = int32_t;

enum class HardEvent : uint8_t {
    MTE2_MTE1, MTE1_MTE2, MTE1_M, M_MTE1, MTE2_V, V_MTE2, MTE3_V, V_MTE3, M_V, V_M, V_V, MTE3_MTE1, MTE1_MTE3, MTE1_V,
    MTE2_M, M_MTE2, V_MTE1, M_FIX, FIX_M, MTE3_MTE2, MTE2_MTE3, S_V, V_S, S_MTE2, MTE2_S, S_MTE3, MTE3_S, MTE2_FIX,
    FIX_MTE2, FIX_S, M_S, FIX_MTE3, MTE1_FIX, FIX_MTE1, FIX_FIX, MAX
};

enum class MaskMode : uint8_t { NORMAL = 0, COUNTER };

enum class RoundMode : uint8_t {
    CAST_NONE = 0, CAST_RINT, CAST_FLOOR, CAST_CEIL, CAST_ROUND, CAST_TRUNC, CAST_ODD
};

enum class CMPMODE : uint8_t { LT = 0, GT, EQ, LE, GE, NE };
enum class SELMODE : uint8_t { VSEL_CMPMASK_SPR = 0, VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };

enum class ReduceOrder : uint8_t { ORDER_VALUE_INDEX = 0, ORDER_INDEX_VALUE, ORDER_ONLY_VALUE, ORDER_ONLY_INDEX };

constexpr uint64_t MASK_PLACEHOLDER = 0;
constexpr uint64_t FULL_MASK = ~0ull;
constexpr int32_t ONE_BLK_SIZE = 32;
constexpr int32_t ONE_REPEAT_BYTE_SIZE = 256;
constexpr int32_t MAX_REPEAT_TIMES = 255;
constexpr int32_t DEFAULT_BLK_NUM = 8;
constexpr int32_t DEFAULT_BLK_STRIDE = 1;
constexpr int32_t DEFAULT_REPEAT_STRIDE = 8;

}  // namespace AscendC

namespace pypto_host {

// A line number as a type of its own, for overloads where an int could be mistaken for another argument.
struct Line {
    int value;
    explicit Line(int line) : value(line) {}
};

template <class T>
struct DtypeOf;
template <> struct DtypeOf<half> { static constexpr Dtype value = Dtype::F16; };
template <> struct DtypeOf<bfloat16_t> { static constexpr Dtype value = Dtype::BF16; };
template <> struct DtypeOf<float> { static constexpr Dtype value = Dtype::F32; };
template <> struct DtypeOf<int8_t> { static constexpr Dtype value = Dtype::I8; };
template <> struct DtypeOf<uint8_t> { static constexpr Dtype value = Dtype::U8; };
template <> struct DtypeOf<int16_t> { static constexpr Dtype value = Dtype::I16; };
template <> struct DtypeOf<uint16_t> { static constexpr Dtype value = Dtype::U16; };
template <> struct DtypeOf<int32_t> { static constexpr Dtype value = Dtype::I32; };
template <> struct DtypeOf<uint32_t> { static constexpr Dtype value = Dtype::U32; };
template <> struct DtypeOf<int64_t> { static constexpr Dtype value = Dtype::I64; };
template <> struct DtypeOf<uint64_t> { static constexpr Dtype value = Dtype::U64; };

constexpr Memory MemoryOf(AscendC::TPosition position)
{
    using P = AscendC::TPosition;
    switch (position) {
        case P::GM: case P::CO2: case P::SPM: return Memory::GM;
        case P::VECIN: case P::VECOUT: case P::VECCALC: return Memory::UB;
        case P::A1: case P::B1: case P::C1: case P::TSCM: return Memory::L1;
        case P::A2: return Memory::L0A;
        case P::B2: return Memory::L0B;
        case P::CO1: return Memory::L0C;
        case P::C2: return Memory::BT;
        case P::C2PIPE2GM: return Memory::FB;
        default: return Memory::None;
    }
}

constexpr Pipe PipeOf(pipe_t pipe)
{
    switch (pipe) {
        case PIPE_S: return Pipe::S;
        case PIPE_V: return Pipe::V;
        case PIPE_M: return Pipe::M;
        case PIPE_MTE1: return Pipe::MTE1;
        case PIPE_MTE2: return Pipe::MTE2;
        case PIPE_MTE3: return Pipe::MTE3;
        case PIPE_FIX: return Pipe::FIX;
        default: return Pipe::All;
    }
}

template <class T>
uint64_t RawBits(const T& value)
{
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return bits;
}

template <class T>
T FromBits(uint64_t bits)
{
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    return value;
}

}  // namespace pypto_host
