// printf and DumpTensor: what a kernel built with --debug shows.
#pragma once

#include "tensors.h"

namespace pypto_host {

// The text with the line of the call, which a function with any number of arguments could not take otherwise.
struct Shown {
    const char* text;
    int line;
    Shown(const char* shown, int at = __builtin_LINE()) : text(shown), line(at) {}
};

template <class T>
ShownValue ValueOf(T value)
{
    ShownValue made;
    made.whole = std::is_integral_v<T>;
    if constexpr (std::is_integral_v<T>) {
        made.integer = static_cast<int64_t>(value);
    } else {
        made.number = static_cast<double>(static_cast<float>(value));
    }
    return made;
}

}  // namespace pypto_host

namespace AscendC {

template <class... Args>
void printf(pypto_host::Shown shown, Args... args)
{
    const pypto_host::ShownValue values[] = {pypto_host::ValueOf(args)..., pypto_host::ShownValue()};
    pypto_host::ShowText(shown.text, values, sizeof...(args), shown.line);
}

template <typename T>
void DumpTensor(const LocalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize, int line = __builtin_LINE())
{
    pypto_host::DumpLocal(tensor.HostRef(), desc, dumpSize, line);
}

template <typename T>
void DumpTensor(const GlobalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize, int line = __builtin_LINE())
{
    pypto_host::DumpGlobal(tensor.HostRef(), desc, dumpSize, line);
}

}  // namespace AscendC
