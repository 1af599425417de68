// Cast: the type pairs of this target with the rounding modes each allows (Ascend C API, Cast, 910B table).
#include "elementwise.h"
#include "numerics.h"

namespace pypto_host {

float IntegerToFloat(int64_t value, uint8_t mode)
{
    const float nearest = static_cast<float>(value);  // rounds to nearest even
    // 2^63 does not fit back into int64_t, so compare in a wider type.
    const auto exact = [](float f) { return static_cast<__int128>(f); };
    const __int128 wanted = value;
    if (mode == kNone || mode == kRint || exact(nearest) == wanted) {
        return nearest;
    }
    const float below = exact(nearest) <= wanted ? nearest : std::nextafter(nearest, -INFINITY);
    const float above = exact(nearest) >= wanted ? nearest : std::nextafter(nearest, INFINITY);
    switch (mode) {
        case kFloor: return below;
        case kCeil: return above;
        case kTrunc: return value < 0 ? above : below;
        case kAway: {
            const __int128 down = wanted - exact(below);
            const __int128 up = exact(above) - wanted;
            return down < up ? below : up < down ? above : value < 0 ? below : above;
        }
        default: return (FloatBits(below) & 1u) != 0 ? below : above;
    }
}

namespace {

template <class T> struct From { static double Of(T v) { return static_cast<double>(v); } };
template <> struct From<half> { static double Of(half v) { return HalfToFloat(v.bits); } };
template <> struct From<bfloat16_t> { static double Of(bfloat16_t v) { return Bf16ToFloat(v.bits); } };

// Exact source value to the destination type.
template <class D> struct To {
    static D Of(double v, uint8_t mode) { return ToInteger<D>(v, mode); }
};
template <> struct To<float> {
    static float Of(double v, uint8_t) { return static_cast<float>(v); }
};
template <> struct To<half> {
    static half Of(double v, uint8_t mode)
    {
        half h;
        h.bits = Narrow<10, 5>(static_cast<float>(v), mode);
        return h;
    }
};
template <> struct To<bfloat16_t> {
    static bfloat16_t Of(double v, uint8_t mode)
    {
        bfloat16_t b;
        b.bits = Narrow<7, 8>(static_cast<float>(v), mode);
        return b;
    }
};

template <class D, class S>
void Run(const CastLoop& loop)
{
    D* dst = static_cast<D*>(loop.dst);
    const S* src = static_cast<const S*>(loop.src);
    for (size_t i = 0; i < loop.count; ++i) {
        dst[i] = To<D>::Of(From<S>::Of(src[i]), loop.round);
    }
}

void FloatToFloat(const CastLoop& loop)
{
    float* dst = static_cast<float*>(loop.dst);
    const float* src = static_cast<const float*>(loop.src);
    for (size_t i = 0; i < loop.count; ++i) {
        dst[i] = static_cast<float>(RoundToInteger(src[i], loop.round));
    }
}

template <class I>
void IntToFloat(const CastLoop& loop)
{
    float* dst = static_cast<float*>(loop.dst);
    const I* src = static_cast<const I*>(loop.src);
    for (size_t i = 0; i < loop.count; ++i) {
        dst[i] = IntegerToFloat(src[i], loop.round);
    }
}

template <class D, class S>
void IntToInt(const CastLoop& loop)
{
    D* dst = static_cast<D*>(loop.dst);
    const S* src = static_cast<const S*>(loop.src);
    for (size_t i = 0; i < loop.count; ++i) {
        const int64_t value = src[i];
        const int64_t low = std::numeric_limits<D>::min();
        const int64_t high = std::numeric_limits<D>::max();
        dst[i] = static_cast<D>(value < low ? low : value > high ? high : value);
    }
}

void Int32ToHalf(const CastLoop& loop)
{
    half* dst = static_cast<half*>(loop.dst);
    const int32_t* src = static_cast<const int32_t*>(loop.src);
    for (size_t i = 0; i < loop.count; ++i) {
        dst[i].bits = FloatToHalf(static_cast<float>(src[i]) * loop.scale);
    }
}

constexpr uint8_t kOnlyNone = 1u << kNone;
constexpr uint8_t kDirected = (1u << kRint) | (1u << kFloor) | (1u << kCeil) | (1u << kAway) | (1u << kTrunc);
constexpr uint8_t kAny = kOnlyNone | kDirected;

constexpr int Pair(Dtype dst, Dtype src) { return static_cast<int>(dst) * 16 + static_cast<int>(src); }

}  // namespace

CastRule FindCast(Dtype dst, Dtype src)
{
    using D = Dtype;
    switch (Pair(dst, src)) {
        case Pair(D::F16, D::I8): return {Run<half, int8_t>, kOnlyNone, false};
        case Pair(D::F16, D::U8): return {Run<half, uint8_t>, kOnlyNone, false};
        case Pair(D::F16, D::I16): return {Run<half, int16_t>, kAny, false};
        case Pair(D::F32, D::I16): return {Run<float, int16_t>, kOnlyNone, false};
        case Pair(D::I8, D::F16): return {Run<int8_t, half>, kAny, false};
        case Pair(D::U8, D::F16): return {Run<uint8_t, half>, kAny, false};
        case Pair(D::I16, D::F16): return {Run<int16_t, half>, kDirected, false};
        case Pair(D::I32, D::F16): return {Run<int32_t, half>, kDirected, false};
        case Pair(D::F32, D::F16): return {Run<float, half>, kOnlyNone, false};
        case Pair(D::F32, D::BF16): return {Run<float, bfloat16_t>, kOnlyNone, false};
        case Pair(D::I32, D::BF16): return {Run<int32_t, bfloat16_t>, kDirected, false};
        case Pair(D::I16, D::I32): return {IntToInt<int16_t, int32_t>, kOnlyNone, false};
        case Pair(D::I64, D::I32): return {IntToInt<int64_t, int32_t>, kOnlyNone, false};
        case Pair(D::F32, D::I32): return {IntToFloat<int32_t>, kAny, false};
        case Pair(D::F16, D::I32): return {Int32ToHalf, 0x7f, true};
        case Pair(D::F16, D::F32): return {Run<half, float>, kAny | (1u << kOdd), false};
        case Pair(D::BF16, D::F32): return {Run<bfloat16_t, float>, kDirected, false};
        case Pair(D::I16, D::F32): return {Run<int16_t, float>, kDirected, false};
        case Pair(D::I32, D::F32): return {Run<int32_t, float>, kDirected, false};
        case Pair(D::I64, D::F32): return {Run<int64_t, float>, kDirected, false};
        case Pair(D::F32, D::F32): return {FloatToFloat, kDirected, false};
        case Pair(D::I32, D::I64): return {IntToInt<int32_t, int64_t>, kOnlyNone, false};
        case Pair(D::F32, D::I64): return {IntToFloat<int64_t>, kDirected, false};
        default: return {};
    }
}

}  // namespace pypto_host
