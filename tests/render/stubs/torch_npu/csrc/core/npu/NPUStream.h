// The current stream of torch_npu.
#pragma once

namespace c10_npu {

struct NPUStream {
    void* stream() const { return reinterpret_cast<void*>(0x5eed); }
};

inline NPUStream getCurrentNPUStream() { return {}; }

}  // namespace c10_npu
