// Calling a kernel of any parameter list from an array of 8-byte slots, for the generated registry of a batch.
#pragma once

#include <utility>

#include "types.h"

namespace pypto_host {

// One letter a parameter: g GM address, i/u 32-bit, l/m 64-bit (signed/unsigned), s/S 16-bit, b bool, f float,
// d double, h half, e bfloat16_t.
template <class T> struct Letter;
template <> struct Letter<uint8_t*> { static constexpr char value = 'g'; };
template <> struct Letter<int32_t> { static constexpr char value = 'i'; };
template <> struct Letter<uint32_t> { static constexpr char value = 'u'; };
template <> struct Letter<int64_t> { static constexpr char value = 'l'; };
template <> struct Letter<uint64_t> { static constexpr char value = 'm'; };
template <> struct Letter<int16_t> { static constexpr char value = 's'; };
template <> struct Letter<uint16_t> { static constexpr char value = 'S'; };
template <> struct Letter<bool> { static constexpr char value = 'b'; };
template <> struct Letter<float> { static constexpr char value = 'f'; };
template <> struct Letter<double> { static constexpr char value = 'd'; };
template <> struct Letter<half> { static constexpr char value = 'h'; };
template <> struct Letter<bfloat16_t> { static constexpr char value = 'e'; };

template <class Function> struct Trampoline;

template <class... Args>
struct Trampoline<void(Args...)> {
    static constexpr char signature[sizeof...(Args) + 1] = {Letter<Args>::value..., '\0'};

    template <void (*function)(Args...), size_t... index>
    static void Spread(const uint64_t* slots, std::index_sequence<index...>)
    {
        (void)slots;
        function(FromBits<Args>(slots[index])...);
    }
    template <void (*function)(Args...)>
    static void Invoke(const uint64_t* slots)
    {
        Spread<function>(slots, std::make_index_sequence<sizeof...(Args)>());
    }
};

}  // namespace pypto_host
