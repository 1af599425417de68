// Element arithmetic: what one lane of each instruction computes.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "../include/pypto_host/half.h"

namespace pypto_host {

enum Round : uint8_t { kNone = 0, kRint, kFloor, kCeil, kAway, kTrunc, kOdd };

// Float to a 16-bit float with `M` mantissa and `E` exponent bits, in any rounding mode.
template <int M, int E>
uint16_t Narrow(float value, uint8_t mode)
{
    const uint32_t bits = FloatBits(value);
    const uint32_t sign = bits >> 31;
    const uint32_t magnitude = bits & 0x7fffffffu;
    const uint16_t top = static_cast<uint16_t>(sign << 15);
    constexpr int kBias = (1 << (E - 1)) - 1;
    constexpr uint32_t kInfinity = ((1u << E) - 1u) << M;
    if (magnitude > 0x7f800000u) {
        return static_cast<uint16_t>(top | kInfinity | (1u << (M - 1)) | ((magnitude >> (23 - M)) & ((1u << M) - 1u)));
    }
    if (magnitude == 0x7f800000u) {
        return static_cast<uint16_t>(top | kInfinity);
    }
    int exponent = static_cast<int>(magnitude >> 23) - 127;
    uint64_t mantissa = magnitude & 0x7fffffu;
    if (exponent == -127) {
        exponent = -126;
    } else {
        mantissa |= 0x800000u;
    }
    // Digits to cut: 23 - M, more when the result is subnormal.
    int cut = 23 - M;
    if (exponent < 1 - kBias) {
        cut += (1 - kBias) - exponent;
        exponent = 1 - kBias;
    }
    uint64_t kept = cut > 40 ? 0 : mantissa >> cut;
    const bool inexact = cut > 40 ? mantissa != 0 : (mantissa & ((1ull << cut) - 1)) != 0;
    const uint64_t rest = cut > 40 ? 0 : mantissa & ((1ull << cut) - 1);
    const uint64_t halfway = cut > 40 ? 1 : 1ull << (cut - 1);
    bool up = false;
    switch (mode) {
        case kFloor: up = inexact && sign != 0; break;
        case kCeil: up = inexact && sign == 0; break;
        case kAway: up = cut <= 40 && rest >= halfway; break;
        case kTrunc: up = false; break;
        case kOdd: kept |= inexact ? 1 : 0; break;
        default: up = cut <= 40 && (rest > halfway || (rest == halfway && (kept & 1) != 0)); break;
    }
    kept += up ? 1 : 0;
    // `kept` holds the implicit bit when normal, so adding it to the biased exponent minus one carries by itself.
    uint64_t result = (static_cast<uint64_t>(exponent + kBias - 1) << M) + kept;
    if (result >= kInfinity) {
        const bool to_max = mode == kTrunc || mode == kOdd || (mode == kFloor && sign == 0) ||
                            (mode == kCeil && sign != 0);
        result = to_max ? kInfinity - 1 : kInfinity;
    }
    return static_cast<uint16_t>(top | result);
}

inline double RoundToInteger(double value, uint8_t mode)
{
    switch (mode) {
        case kFloor: return std::floor(value);
        case kCeil: return std::ceil(value);
        case kAway: return std::round(value);
        case kTrunc: return std::trunc(value);
        case kOdd: {
            const double truncated = std::trunc(value);
            return truncated == value || std::fmod(truncated, 2.0) != 0 ? truncated
                                                                       : truncated + (value < 0 ? -1.0 : 1.0);
        }
        default: return std::nearbyint(value);  // ties to even
    }
}

// Saturating; NaN becomes 0.
template <class I>
I ToInteger(double value, uint8_t mode)
{
    if (value != value) {
        return 0;
    }
    const double rounded = RoundToInteger(value, mode);
    if (rounded <= static_cast<double>(std::numeric_limits<I>::min())) {
        return std::numeric_limits<I>::min();
    }
    if (rounded >= static_cast<double>(std::numeric_limits<I>::max())) {
        return std::numeric_limits<I>::max();
    }
    return static_cast<I>(rounded);
}

// Integer to a float type in any mode, exact when it fits.
float IntegerToFloat(int64_t value, uint8_t mode);

template <class T> struct Wide { using type = T; };
template <> struct Wide<half> { using type = float; };
template <> struct Wide<bfloat16_t> { using type = float; };

// The instructions of Rsqrt and Reciprocal miss by this much (relative); the model errs by all of it, up or down by a
// hash of the input, so that a kernel that cannot bear it fails every time.
template <class T> constexpr float kInstructionError = 1e-4f;
template <> inline constexpr float kInstructionError<half> = 1e-3f;

inline float Perturb(float value, uint32_t bits, float error)
{
    const uint32_t hash = (bits * 2654435761u) >> 31;
    return value * (hash != 0 ? 1.0f + error : 1.0f - error);
}

}  // namespace pypto_host
