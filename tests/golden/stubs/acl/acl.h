// The acl calls that the host program of a golden makes, with the documented signatures; the device is this process.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

typedef int aclError;
typedef void* aclrtStream;
typedef enum { ACL_MEM_MALLOC_HUGE_FIRST = 0, ACL_MEM_MALLOC_HUGE_ONLY = 1, ACL_MEM_MALLOC_NORMAL_ONLY = 2 } aclrtMemMallocPolicy;
typedef enum { ACL_MEMCPY_HOST_TO_HOST, ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST } aclrtMemcpyKind;

inline aclError aclInit(const char*) { return 0; }
inline aclError aclFinalize() { return 0; }
inline aclError aclrtSetDevice(int32_t) { return 0; }
inline aclError aclrtResetDevice(int32_t) { return 0; }
inline aclError aclrtCreateStream(aclrtStream* stream) { *stream = nullptr; return 0; }
inline aclError aclrtDestroyStream(aclrtStream) { return 0; }
inline aclError aclrtSynchronizeStream(aclrtStream) { return 0; }
inline const char* aclGetRecentErrMsg() { return nullptr; }
inline aclError aclrtMalloc(void** place, size_t size, aclrtMemMallocPolicy) { *place = std::malloc(size); return 0; }
inline aclError aclrtFree(void* place) { std::free(place); return 0; }
inline aclError aclrtMemset(void* place, size_t room, int32_t value, size_t count) {
    return count > room ? 1 : (std::memset(place, value, count), 0);
}
inline aclError aclrtMemcpy(void* to, size_t room, const void* from, size_t count, aclrtMemcpyKind) {
    return count > room ? 1 : (std::memcpy(to, from, count), 0);
}
