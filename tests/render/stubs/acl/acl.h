// The few acl calls that a launcher makes, with the documented signatures.
#pragma once
#include <cstdint>

typedef int aclError;
typedef void* aclrtStream;
typedef enum {
    ACL_DEVICE_INFO_AI_CORE_NUM = 0,
    ACL_DEVICE_INFO_VECTOR_CORE_NUM = 1,
} aclDeviceInfo;

extern "C" aclError aclrtGetDevice(int32_t* deviceId);
extern "C" aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t* value);
