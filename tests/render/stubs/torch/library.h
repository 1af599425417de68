// Registration of operators: takes what a binding hands over and forgets it.
#pragma once

struct StubLibrary {
    void def(const char*) {}
    template <class Function>
    void def(const char*, Function) {}
    template <class Function>
    void impl(const char*, Function) {}
};

#define TORCH_LIBRARY(name, m) static void StubDefine_##name([[maybe_unused]] StubLibrary& m)
#define TORCH_LIBRARY_IMPL(name, key, m) static void StubImplement_##name([[maybe_unused]] StubLibrary& m)
