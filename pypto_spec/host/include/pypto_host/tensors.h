// GlobalTensor and LocalTensor: typed handles; the engine holds the bytes.
#pragma once

#include "types.h"

namespace AscendC {

template <typename T>
class LocalTensor {
public:
    using PrimType = T;
    LocalTensor() { ref_.dtype = pypto_host::DtypeOf<T>::value; }
    explicit LocalTensor(const pypto_host::LocalRef& ref) : ref_(ref) {}

    T GetValue(const uint32_t index, int line = __builtin_LINE()) const
    {
        return pypto_host::FromBits<T>(pypto_host::ScalarReadLocal(ref_, index, line));
    }
    template <typename S>
    void SetValue(const uint32_t index, const S value, int line = __builtin_LINE()) const
    {
        pypto_host::ScalarWriteLocal(ref_, index, pypto_host::RawBits(static_cast<T>(value)), line);
    }
    LocalTensor operator[](const uint32_t offset) const
    {
        LocalTensor moved(*this);
        const uint64_t address = ref_.address + static_cast<uint64_t>(offset) * sizeof(T);
        moved.ref_.address = static_cast<uint32_t>(address);
        moved.ref_.overflow = (address >> 32) != 0 ? address : ref_.overflow;
        moved.ref_.elements = offset < ref_.elements ? ref_.elements - offset : 0;
        return moved;
    }
    template <typename U>
    LocalTensor<U> ReinterpretCast() const
    {
        pypto_host::LocalRef ref = ref_;
        ref.dtype = pypto_host::DtypeOf<U>::value;
        ref.elements = static_cast<uint32_t>(static_cast<uint64_t>(ref_.elements) * sizeof(T) / sizeof(U));
        return LocalTensor<U>(ref);
    }
    void SetSize(const uint32_t size) { ref_.elements = size; }
    uint32_t GetSize() const { return ref_.elements; }
    int32_t GetPosition() const { return ref_.position; }
    const pypto_host::LocalRef& HostRef() const { return ref_; }

private:
    pypto_host::LocalRef ref_{};
};

template <typename T>
class GlobalTensor {
public:
    using PrimType = T;
    GlobalTensor() { ref_.dtype = pypto_host::DtypeOf<T>::value; }

    void SetGlobalBuffer(__gm__ T* buffer, uint64_t elements)
    {
        ref_.address = reinterpret_cast<uint64_t>(buffer);
        ref_.elements = elements;
        ref_.dtype = pypto_host::DtypeOf<T>::value;
    }
    void SetGlobalBuffer(__gm__ T* buffer) { SetGlobalBuffer(buffer, 0); }
    GlobalTensor operator[](const uint64_t offset) const
    {
        GlobalTensor moved(*this);
        moved.ref_.address = ref_.address + offset * sizeof(T);
        return moved;
    }
    T GetValue(const uint64_t index, int line = __builtin_LINE()) const
    {
        return pypto_host::FromBits<T>(pypto_host::ScalarReadGlobal(ref_, index, line));
    }
    void SetValue(const uint64_t index, T value, int line = __builtin_LINE())
    {
        pypto_host::ScalarWriteGlobal(ref_, index, pypto_host::RawBits(value), line);
    }
    __gm__ T* GetPhyAddr() const { return reinterpret_cast<T*>(ref_.address); }
    __gm__ T* GetPhyAddr(const uint64_t offset) const { return GetPhyAddr() + offset; }
    uint64_t GetSize() const { return ref_.elements; }
    const pypto_host::GlobalRef& HostRef() const { return ref_; }

private:
    pypto_host::GlobalRef ref_{};
};

}  // namespace AscendC
