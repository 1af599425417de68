#include "elementwise.h"

#include <type_traits>

#include "numerics.h"

namespace pypto_host {

namespace {

template <class T> using W = typename Wide<T>::type;
template <class T> using Bits = std::conditional_t<sizeof(T) == 1, uint8_t, std::conditional_t<sizeof(T) == 2, uint16_t,
                                std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

template <class T>
T Load(uint64_t bits)
{
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// Integer sums and products wrap; the unsigned detour keeps that defined in C++.
template <class T, class F>
T Wrap(T a, T b, F f)
{
    if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(f(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
    } else {
        return static_cast<T>(f(static_cast<W<T>>(a), static_cast<W<T>>(b)));
    }
}

template <class V>
V Larger(V a, V b)
{
    if constexpr (std::is_floating_point_v<V>) {
        if (a != a || b != b) {
            return a + b;  // NaN
        }
        if (a == b) {
            return std::signbit(a) ? b : a;  // +0 above -0
        }
    }
    return a > b ? a : b;
}

template <class V>
V Smaller(V a, V b)
{
    if constexpr (std::is_floating_point_v<V>) {
        if (a != a || b != b) {
            return a + b;
        }
        if (a == b) {
            return std::signbit(a) ? a : b;
        }
    }
    return a < b ? a : b;
}

template <class T> struct AddOp { static T Of(T a, T b) { return Wrap(a, b, [](auto x, auto y) { return x + y; }); } };
template <class T> struct SubOp { static T Of(T a, T b) { return Wrap(a, b, [](auto x, auto y) { return x - y; }); } };
template <class T> struct MulOp { static T Of(T a, T b) { return Wrap(a, b, [](auto x, auto y) { return x * y; }); } };
template <class T> struct DivOp { static T Of(T a, T b) { return static_cast<T>(W<T>(a) / W<T>(b)); } };
template <class T> struct MaxOp { static T Of(T a, T b) { return static_cast<T>(Larger(W<T>(a), W<T>(b))); } };
template <class T> struct MinOp { static T Of(T a, T b) { return static_cast<T>(Smaller(W<T>(a), W<T>(b))); } };
template <class T> struct AndOp { static T Of(T a, T b) { return static_cast<T>(a & b); } };
template <class T> struct OrOp { static T Of(T a, T b) { return static_cast<T>(a | b); } };
template <class T>
struct LeakyOp {
    static T Of(T a, T b) { return static_cast<W<T>>(a) >= 0 ? a : static_cast<T>(W<T>(a) * W<T>(b)); }
};

template <class T, template <class> class Op>
void Two(const Loop& loop)
{
    T* dst = static_cast<T*>(loop.dst);
    const T* a = static_cast<const T*>(loop.a);
    const T* b = static_cast<const T*>(loop.b);
    for (size_t i = 0; i < loop.count; ++i) {
        dst[i] = Op<T>::Of(a[i], b[i]);
    }
}

template <class T, template <class> class Op>
void WithScalar(const Loop& loop)
{
    T* dst = static_cast<T*>(loop.dst);
    const T* a = static_cast<const T*>(loop.a);
    const T b = Load<T>(loop.scalar);
    for (size_t i = 0; i < loop.count; ++i) {
        dst[i] = Op<T>::Of(a[i], b);
    }
}

template <class T>
void ShiftLeftLoop(const Loop& loop)
{
    T* dst = static_cast<T*>(loop.dst);
    const T* a = static_cast<const T*>(loop.a);
    const auto by = static_cast<uint64_t>(Load<T>(loop.scalar));
    for (size_t i = 0; i < loop.count; ++i) {
        dst[i] = by >= sizeof(T) * 8 ? T(0) : static_cast<T>(static_cast<Bits<T>>(a[i]) << by);
    }
}

template <class T>
void ShiftRightLoop(const Loop& loop)
{
    T* dst = static_cast<T*>(loop.dst);
    const T* a = static_cast<const T*>(loop.a);
    const auto by = static_cast<uint64_t>(Load<T>(loop.scalar));
    for (size_t i = 0; i < loop.count; ++i) {
        const int64_t value = static_cast<int64_t>(a[i]);
        const uint64_t most = by > 62 ? 62 : by;
        int64_t shifted = value >> most;
        if (loop.round_shift && most != 0) {
            shifted += (value >> (most - 1)) & 1;
        }
        dst[i] = static_cast<T>(shifted);
    }
}

template <class T, class U>
void AxpyLoop(const Loop& loop)
{
    T* dst = static_cast<T*>(loop.dst);
    const U* a = static_cast<const U*>(loop.a);
    const T* old = static_cast<const T*>(loop.b);
    const double scale = static_cast<double>(static_cast<W<U>>(Load<U>(loop.scalar)));
    for (size_t i = 0; i < loop.count; ++i) {  // one rounding: the product is exact in double
        const double product = static_cast<double>(static_cast<W<U>>(a[i])) * scale;
        dst[i] = static_cast<T>(static_cast<float>(product + static_cast<double>(static_cast<W<T>>(old[i]))));
    }
}

template <class T> struct AbsOp {
    static T Of(T a) {
        Bits<T> bits;
        std::memcpy(&bits, &a, sizeof a);
        bits = static_cast<Bits<T>>(bits & (static_cast<Bits<T>>(~Bits<T>(0)) >> 1));
        return Load<T>(bits);
    }
};
template <class T> struct ExpOp { static T Of(T a) { return static_cast<T>(std::exp(W<T>(a))); } };
template <class T> struct LnOp { static T Of(T a) { return static_cast<T>(std::log(W<T>(a))); } };
template <class T> struct SqrtOp { static T Of(T a) { return static_cast<T>(std::sqrt(W<T>(a))); } };
template <class T>
struct RsqrtOp {
    static T Of(T a)
    {
        const W<T> x = a;
        return static_cast<T>(Perturb(static_cast<float>(1.0 / std::sqrt(static_cast<double>(x))), FloatBits(x),
                                      kInstructionError<T>));
    }
};
template <class T>
struct ReciprocalOp {
    static T Of(T a)
    {
        const W<T> x = a;
        return static_cast<T>(Perturb(1.0f / x, FloatBits(x), kInstructionError<T>));
    }
};
template <class T> struct ReluOp { static T Of(T a) { return static_cast<T>(Larger(W<T>(a), W<T>(0))); } };
template <class T> struct NotOp { static T Of(T a) { return static_cast<T>(~a); } };

template <class T, template <class> class Op>
void One(const Loop& loop)
{
    T* dst = static_cast<T*>(loop.dst);
    const T* a = static_cast<const T*>(loop.a);
    for (size_t i = 0; i < loop.count; ++i) {
        dst[i] = Op<T>::Of(a[i]);
    }
}

template <class B>
void CopyLoop(const Loop& loop)
{
    std::memcpy(loop.dst, loop.a, loop.count * sizeof(B));
}

template <class B>
void FillLoop(const Loop& loop)
{
    B* dst = static_cast<B*>(loop.dst);
    for (size_t i = 0; i < loop.count; ++i) {
        dst[i] = static_cast<B>(loop.scalar);
    }
}

template <template <class> class Op>
LoopFunction Arithmetic(Dtype type)  // half float int16 int32
{
    switch (type) {
        case Dtype::F16: return Two<half, Op>;
        case Dtype::F32: return Two<float, Op>;
        case Dtype::I16: return Two<int16_t, Op>;
        case Dtype::I32: return Two<int32_t, Op>;
        default: return nullptr;
    }
}

template <template <class> class Op>
LoopFunction ScalarArithmetic(Dtype type)
{
    switch (type) {
        case Dtype::F16: return WithScalar<half, Op>;
        case Dtype::F32: return WithScalar<float, Op>;
        case Dtype::I16: return WithScalar<int16_t, Op>;
        case Dtype::I32: return WithScalar<int32_t, Op>;
        default: return nullptr;
    }
}

template <template <class> class Op>
LoopFunction Floating(Dtype type)
{
    return type == Dtype::F16 ? One<half, Op> : type == Dtype::F32 ? One<float, Op> : LoopFunction(nullptr);
}

template <template <class> class Op>
LoopFunction Bitwise(Dtype type)
{
    return type == Dtype::I16 ? Two<int16_t, Op> : type == Dtype::U16 ? Two<uint16_t, Op> : LoopFunction(nullptr);
}

}  // namespace

LoopFunction FindLoop(VectorOp op, Dtype dst, Dtype src)
{
    if (op == VectorOp::Axpy) {
        if (dst == Dtype::F32) {
            return src == Dtype::F32 ? AxpyLoop<float, float>
                                     : src == Dtype::F16 ? AxpyLoop<float, half> : LoopFunction(nullptr);
        }
        return dst == Dtype::F16 && src == Dtype::F16 ? AxpyLoop<half, half> : LoopFunction(nullptr);
    }
    if (op != VectorOp::Duplicate && dst != src) {
        return nullptr;
    }
    switch (op) {
        case VectorOp::Add: return Arithmetic<AddOp>(dst);
        case VectorOp::Sub: return Arithmetic<SubOp>(dst);
        case VectorOp::Mul: return Arithmetic<MulOp>(dst);
        case VectorOp::Max: return Arithmetic<MaxOp>(dst);
        case VectorOp::Min: return Arithmetic<MinOp>(dst);
        case VectorOp::Div:
            return dst == Dtype::F16 ? Two<half, DivOp> : dst == Dtype::F32 ? Two<float, DivOp> : LoopFunction(nullptr);
        case VectorOp::And: return Bitwise<AndOp>(dst);
        case VectorOp::Or: return Bitwise<OrOp>(dst);
        case VectorOp::Adds: return ScalarArithmetic<AddOp>(dst);
        case VectorOp::Muls: return ScalarArithmetic<MulOp>(dst);
        case VectorOp::Maxs: return ScalarArithmetic<MaxOp>(dst);
        case VectorOp::Mins: return ScalarArithmetic<MinOp>(dst);
        case VectorOp::LeakyRelu:
            return dst == Dtype::F16 ? WithScalar<half, LeakyOp>
                                     : dst == Dtype::F32 ? WithScalar<float, LeakyOp> : LoopFunction(nullptr);
        case VectorOp::ShiftLeft:
        case VectorOp::ShiftRight: {
            const bool left = op == VectorOp::ShiftLeft;
            switch (dst) {
                case Dtype::U16: return left ? ShiftLeftLoop<uint16_t> : ShiftRightLoop<uint16_t>;
                case Dtype::U32: return left ? ShiftLeftLoop<uint32_t> : ShiftRightLoop<uint32_t>;
                case Dtype::I16: return left ? ShiftLeftLoop<int16_t> : ShiftRightLoop<int16_t>;
                case Dtype::I32: return left ? ShiftLeftLoop<int32_t> : ShiftRightLoop<int32_t>;
                default: return nullptr;
            }
        }
        case VectorOp::Abs: return Floating<AbsOp>(dst);
        case VectorOp::Exp: return Floating<ExpOp>(dst);
        case VectorOp::Ln: return Floating<LnOp>(dst);
        case VectorOp::Sqrt: return Floating<SqrtOp>(dst);
        case VectorOp::Rsqrt: return Floating<RsqrtOp>(dst);
        case VectorOp::Reciprocal: return Floating<ReciprocalOp>(dst);
        case VectorOp::Relu: return dst == Dtype::I32 ? One<int32_t, ReluOp> : Floating<ReluOp>(dst);
        case VectorOp::Not:
            return dst == Dtype::I16 ? One<int16_t, NotOp> : dst == Dtype::U16 ? One<uint16_t, NotOp>
                                                                              : LoopFunction(nullptr);
        case VectorOp::Copy:
        case VectorOp::Duplicate:
            switch (dst) {
                case Dtype::F16: case Dtype::BF16: case Dtype::I16: case Dtype::U16:
                    return op == VectorOp::Copy ? CopyLoop<uint16_t> : FillLoop<uint16_t>;
                case Dtype::F32: case Dtype::I32: case Dtype::U32:
                    return op == VectorOp::Copy ? CopyLoop<uint32_t> : FillLoop<uint32_t>;
                default: return nullptr;
            }
        default: return nullptr;
    }
}

}  // namespace pypto_host
