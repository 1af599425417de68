// What Fixpipe makes of an accumulator: casts, and the quantised forms with a scale for all or one for each column.
//
// A scale is 64 bits: an fp32 factor of which the hardware uses sign, exponent and 10 mantissa bits (the low 13 of its
// 32 bits are dropped), bits 32 to 35 a shift less one, bit 36 whether it shifts, bits 37 to 45 an offset, bit 46
// whether an 8-bit result is signed.
#include <cstring>

#include "../include/pypto_host/types.h"
#include "fixpipe.h"
#include "numerics.h"

namespace pypto_host {

namespace {

struct Scale {
    float factor;
    int shift;
    bool shifts;
    int offset;

    explicit Scale(uint64_t bits)
    {
        const uint32_t kept = static_cast<uint32_t>(bits) & 0xffffe000u;
        std::memcpy(&factor, &kept, sizeof factor);
        shift = static_cast<int>((bits >> 32) & 0xf) + 1;
        shifts = ((bits >> 36) & 1) != 0;
        offset = static_cast<int>((bits >> 37) & 0x1ff);
        offset -= offset >= 256 ? 512 : 0;
    }
};

template <class T>
T Relu(T value, bool on)
{
    return on && value < T(0) ? T(0) : value;
}

template <class T>
void Plain(const void* from, void* to, const uint64_t*, int64_t count, bool relu)
{
    for (int64_t i = 0; i < count; ++i) {
        static_cast<T*>(to)[i] = Relu(static_cast<const T*>(from)[i], relu);
    }
}

template <int M, int E>
void Cast16(const void* from, void* to, const uint64_t*, int64_t count, bool relu)
{
    for (int64_t i = 0; i < count; ++i) {
        static_cast<uint16_t*>(to)[i] = Narrow<M, E>(Relu(static_cast<const float*>(from)[i], relu), kRint);
    }
}

// int32 to fp32, after a shift to int16 where the scale asks for one.
float Widen(int32_t value, const Scale& scale)
{
    if (!scale.shifts) {
        return IntegerToFloat(value, kRint);
    }
    const int32_t moved = value >> scale.shift;
    return static_cast<float>(moved < -32768 ? -32768 : moved > 32767 ? 32767 : moved);
}
float Widen(float value, const Scale&) { return value; }

// A result beyond the range of fp16 is its largest number.
void Dequantise(const void* from, void* to, const uint64_t* scales, int64_t count, bool relu)
{
    for (int64_t i = 0; i < count; ++i) {
        const Scale scale(scales[i]);
        const float wide = Widen(Relu(static_cast<const int32_t*>(from)[i], relu), scale) * scale.factor;
        uint16_t bits = Narrow<10, 5>(wide, kRint);
        if ((bits & 0x7fff) == 0x7c00) {
            bits = static_cast<uint16_t>((bits & 0x8000) | 0x7bff);
        }
        static_cast<uint16_t*>(to)[i] = bits;
    }
}

// Rounded to nearest even and clamped to 9 bits, then moved by the offset and clamped to 8.
template <class S, class T>
void Quantise(const void* from, void* to, const uint64_t* scales, int64_t count, bool relu)
{
    for (int64_t i = 0; i < count; ++i) {
        const Scale scale(scales[i]);
        const float wide = Widen(Relu(static_cast<const S*>(from)[i], relu), scale) * scale.factor;
        const double whole = wide != wide ? 0.0 : RoundToInteger(wide, kRint);
        const int nine = static_cast<int>(whole < -256.0 ? -256.0 : whole > 255.0 ? 255.0 : whole);
        static_cast<T*>(to)[i] = ToInteger<T>(nine + scale.offset, kRint);
    }
}

constexpr Conversion kConversions[] = {
    {Dtype::F32, Dtype::F32, NoQuant, "NoQuant", false, false, false, Plain<float>},
    {Dtype::I32, Dtype::I32, NoQuant, "NoQuant", false, false, false, Plain<int32_t>},
    {Dtype::F32, Dtype::F16, F322F16, "F322F16", false, false, true, Cast16<10, 5>},
    {Dtype::F32, Dtype::BF16, F322BF16, "F322BF16", false, false, true, Cast16<7, 8>},
    {Dtype::I32, Dtype::F16, DEQF16, "DEQF16", true, false, true, Dequantise},
    {Dtype::I32, Dtype::F16, VDEQF16, "VDEQF16", true, true, true, Dequantise},
    {Dtype::F32, Dtype::I8, QF322B8_PRE, "QF322B8_PRE", true, false, true, Quantise<float, int8_t>},
    {Dtype::F32, Dtype::I8, VQF322B8_PRE, "VQF322B8_PRE", true, true, true, Quantise<float, int8_t>},
    {Dtype::F32, Dtype::U8, QF322B8_PRE, "QF322B8_PRE", true, false, true, Quantise<float, uint8_t>},
    {Dtype::F32, Dtype::U8, VQF322B8_PRE, "VQF322B8_PRE", true, true, true, Quantise<float, uint8_t>},
    {Dtype::I32, Dtype::I8, REQ8, "REQ8", true, false, true, Quantise<int32_t, int8_t>},
    {Dtype::I32, Dtype::I8, VREQ8, "VREQ8", true, true, true, Quantise<int32_t, int8_t>},
    {Dtype::I32, Dtype::U8, REQ8, "REQ8", true, false, true, Quantise<int32_t, uint8_t>},
    {Dtype::I32, Dtype::U8, VREQ8, "VREQ8", true, true, true, Quantise<int32_t, uint8_t>},
};

}  // namespace

const Conversion* FindConversion(Dtype source, Dtype target, uint8_t quant)
{
    for (const Conversion& each : kConversions) {
        if (each.source == source && each.target == target && each.quant == quant) {
            return &each;
        }
    }
    return nullptr;
}

const char* QuantName(uint8_t quant)
{
    for (const Conversion& each : kConversions) {
        if (each.quant == quant) {
            return each.name;
        }
    }
    return "an unknown quantPre";
}

}  // namespace pypto_host
