// TPipe and TBuf: one buffer a memory, tensors cut from it by byte offset.
#pragma once

#include "tensors.h"

namespace AscendC {

class TPipe;

template <TPosition pos = TPosition::LCM>
class TBuf {
public:
    TBuf() = default;
    template <typename T>
    LocalTensor<T> Get(pypto_host::Line line = pypto_host::Line(__builtin_LINE()))
    {
        return GetWithOffset<T>(static_cast<uint32_t>(size_ / sizeof(T)), 0, line.value);
    }
    template <typename T>
    LocalTensor<T> Get(uint32_t len, int line = __builtin_LINE())
    {
        return GetWithOffset<T>(len, 0, line);
    }
    // `size` in elements, `bufOffset` in bytes.
    template <typename T>
    LocalTensor<T> GetWithOffset(uint32_t size, uint32_t bufOffset, int line = __builtin_LINE())
    {
        return LocalTensor<T>(pypto_host::CutBuffer(pypto_host::MemoryOf(pos), static_cast<uint8_t>(pos),
                                                    pypto_host::DtypeOf<T>::value, base_, size_, ready_, size,
                                                    bufOffset, line));
    }

private:
    friend class TPipe;
    uint32_t base_ = 0;
    uint64_t size_ = 0;
    bool ready_ = false;
};

class TPipe {
public:
    explicit TPipe(int line = __builtin_LINE()) { pypto_host::PipeCreated(line); }
    template <TPosition pos>
    bool InitBuffer(TBuf<pos>& buf, uint32_t len, int line = __builtin_LINE())
    {
        buf.size_ = (static_cast<uint64_t>(len) + 31) / 32 * 32;
        buf.base_ = pypto_host::AllocateBuffer(pypto_host::MemoryOf(pos), buf.size_, line);
        buf.ready_ = true;
        return true;
    }
    void Destroy(int line = __builtin_LINE()) { pypto_host::PipeDestroyed(line); }
};

inline int64_t GetBlockIdx() { return pypto_host::BlockIndex(); }
inline int64_t GetBlockNum() { return pypto_host::BlockCount(); }
inline int64_t GetSubBlockIdx() { return 0; }

}  // namespace AscendC
