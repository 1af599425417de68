// half and bfloat16_t as value types: IEEE binary16 and bfloat16, every conversion rounding to nearest even.
//
// They sit in the global namespace because the device compiler has them built in. Arithmetic goes through float, which
// for one operation on binary16 gives the correctly rounded result (24 bits hold more than twice 11 bits plus two).
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace pypto_host {

inline uint32_t FloatBits(float value)
{
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

inline float BitsFloat(uint32_t bits)
{
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

inline float HalfToFloat(uint16_t h)
{
    const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
    const uint32_t exponent = (h >> 10) & 0x1fu;
    const uint32_t mantissa = h & 0x3ffu;
    if (exponent == 0) {  // zero or subnormal: mantissa * 2^-24, exact in float
        const float magnitude = static_cast<float>(mantissa) * 5.9604644775390625e-8f;
        return BitsFloat(FloatBits(magnitude) | sign);
    }
    if (exponent == 0x1f) {
        return BitsFloat(sign | 0x7f800000u | (mantissa << 13));
    }
    return BitsFloat(sign | ((exponent + 112u) << 23) | (mantissa << 13));
}

inline uint16_t FloatToHalf(float value)
{
    const uint32_t bits = FloatBits(value);
    const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) {  // NaN stays quiet
        return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
    }
    if (magnitude >= 0x477ff000u) {  // 65520 and above round to infinity
        return static_cast<uint16_t>(sign | 0x7c00u);
    }
    if (magnitude < 0x38800000u) {  // below 2^-14: let float addition round at 2^-24
        const float shifted = BitsFloat(magnitude) + 0.5f;
        return static_cast<uint16_t>(sign | (FloatBits(shifted) - 0x3f000000u));
    }
    const uint32_t odd = (magnitude >> 13) & 1u;
    return static_cast<uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}

inline float Bf16ToFloat(uint16_t b) { return BitsFloat(static_cast<uint32_t>(b) << 16); }

inline uint16_t FloatToBf16(float value)
{
    const uint32_t bits = FloatBits(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return static_cast<uint16_t>((bits >> 16) | 0x40u);
    }
    return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace pypto_host

struct half {
    uint16_t bits;
    half() = default;
    template <class N, std::enable_if_t<std::is_arithmetic_v<N>, bool> = true>
    half(N value) : bits(pypto_host::FloatToHalf(static_cast<float>(value)))
    {
    }
    operator float() const { return pypto_host::HalfToFloat(bits); }
};

struct bfloat16_t {
    uint16_t bits;
    bfloat16_t() = default;
    template <class N, std::enable_if_t<std::is_arithmetic_v<N>, bool> = true>
    bfloat16_t(N value) : bits(pypto_host::FloatToBf16(static_cast<float>(value)))
    {
    }
    operator float() const { return pypto_host::Bf16ToFloat(bits); }
};

static_assert(sizeof(half) == 2 && sizeof(bfloat16_t) == 2);
