// Parameter structs of the calls, by the names and constructor orders of the real headers.
//
// The fields are wider than the device's (8 and 16 bits there) on purpose: a value the device would cut off silently
// arrives here whole and becomes an error instead.
#pragma once

#include <cstdint>

#include "types.h"

namespace AscendC {

struct BinaryRepeatParams {
    BinaryRepeatParams() = default;
    BinaryRepeatParams(int64_t dstBlk, int64_t src0Blk, int64_t src1Blk, int64_t dstRep, int64_t src0Rep,
                       int64_t src1Rep)
        : dstBlkStride(dstBlk), src0BlkStride(src0Blk), src1BlkStride(src1Blk), dstRepStride(dstRep),
          src0RepStride(src0Rep), src1RepStride(src1Rep)
    {
    }
    int64_t dstBlkStride = DEFAULT_BLK_STRIDE;
    int64_t src0BlkStride = DEFAULT_BLK_STRIDE;
    int64_t src1BlkStride = DEFAULT_BLK_STRIDE;
    int64_t dstRepStride = DEFAULT_REPEAT_STRIDE;
    int64_t src0RepStride = DEFAULT_REPEAT_STRIDE;
    int64_t src1RepStride = DEFAULT_REPEAT_STRIDE;
};

struct UnaryRepeatParams {
    UnaryRepeatParams() = default;
    UnaryRepeatParams(int64_t dstBlk, int64_t srcBlk, int64_t dstRep, int64_t srcRep)
        : dstBlkStride(dstBlk), srcBlkStride(srcBlk), dstRepStride(dstRep), srcRepStride(srcRep)
    {
    }
    int64_t dstBlkStride = DEFAULT_BLK_STRIDE;
    int64_t srcBlkStride = DEFAULT_BLK_STRIDE;
    int64_t dstRepStride = DEFAULT_REPEAT_STRIDE;
    int64_t srcRepStride = DEFAULT_REPEAT_STRIDE;
};

struct BrcbRepeatParams {
    BrcbRepeatParams() = default;
    BrcbRepeatParams(int64_t dstBlk, int64_t dstRep) : dstRepStride(dstRep), dstBlkStride(dstBlk) {}
    int64_t dstRepStride = DEFAULT_REPEAT_STRIDE;
    int64_t dstBlkStride = DEFAULT_BLK_STRIDE;
};

struct CopyRepeatParams {
    CopyRepeatParams() = default;
    CopyRepeatParams(int64_t dst, int64_t src, int64_t dstRep, int64_t srcRep)
        : dstStride(dst), srcStride(src), dstRepeatSize(dstRep), srcRepeatSize(srcRep)
    {
    }
    int64_t dstStride = DEFAULT_BLK_STRIDE;
    int64_t srcStride = DEFAULT_BLK_STRIDE;
    int64_t dstRepeatSize = DEFAULT_REPEAT_STRIDE;
    int64_t srcRepeatSize = DEFAULT_REPEAT_STRIDE;
};

// Lengths and gaps in 32 B; a gap runs from the end of one block to the start of the next.
struct DataCopyParams {
    DataCopyParams() = default;
    DataCopyParams(int64_t count, int64_t len, int64_t src, int64_t dst)
        : blockCount(count), blockLen(len), srcGap(src), dstGap(dst)
    {
    }
    int64_t blockCount = 1;
    int64_t blockLen = 0;
    union {
        int64_t srcGap = 0;
        int64_t srcStride;
    };
    union {
        int64_t dstGap = 0;
        int64_t dstStride;
    };
};

// Length in bytes; gaps in bytes on the GM side and in 32 B on the UB side.
struct DataCopyExtParams {
    DataCopyExtParams() = default;
    DataCopyExtParams(int64_t count, int64_t len, int64_t src, int64_t dst, int64_t reserved)
        : blockCount(count), blockLen(len), srcStride(src), dstStride(dst), rsv(reserved)
    {
    }
    int64_t blockCount = 1;
    int64_t blockLen = 0;
    int64_t srcStride = 0;
    int64_t dstStride = 0;
    int64_t rsv = 0;
};

template <typename T>
struct DataCopyPadExtParams {
    DataCopyPadExtParams() = default;
    DataCopyPadExtParams(bool pad, int64_t left, int64_t right, T value)
        : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value)
    {
    }
    bool isPad = false;
    int64_t leftPadding = 0;   // elements
    int64_t rightPadding = 0;  // elements
    T paddingValue = T(0);
};

}  // namespace AscendC
