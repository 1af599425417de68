// Kernels that print how they are launched, for both ways of launching; `KERNEL(name)` makes one.
#pragma once
#include <cstdint>
#include <cstdio>
#include <type_traits>

inline void Show(void*) { std::printf(" ptr"); }
template <class T>
void Show(T value) {
    std::printf(" %g", static_cast<double>(value));
}

template <class... Args>
uint32_t StubLaunch(const char* name, uint32_t blocks, void* stream, Args... args) {
    std::printf("%s<%u,%s>", name, blocks, stream == nullptr ? "none" : "stream");
    (Show(args), ...);
    std::printf("\n");
    return 0;
}

#define KERNEL(name)                                              \
    template <class... Args>                                      \
    uint32_t aclrtlaunch_##name(uint32_t blocks, void* stream, Args... args) { \
        return StubLaunch(#name, blocks, stream, args...);        \
    }
