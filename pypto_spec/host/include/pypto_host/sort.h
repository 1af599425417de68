// Sort32 and MrgSort: records of an element and its index, 8 B each, largest element first.
#pragma once

#include "tensors.h"

namespace AscendC {

struct MrgSort4Info {
    MrgSort4Info() = default;
    MrgSort4Info(const uint16_t lengths[4], const bool suspends, const uint16_t valid, const int64_t repeat)
        : ifExhaustedSuspension(suspends), validBit(valid), repeatTimes(repeat)
    {
        for (int i = 0; i < 4; ++i) {
            elementLengths[i] = lengths[i];
        }
    }
    uint16_t elementLengths[4] = {};
    bool ifExhaustedSuspension = false;
    uint16_t validBit = 0;
    int64_t repeatTimes = 1;  // 8 bit on the device
};

template <typename T>
struct MrgSortSrcList {
    MrgSortSrcList() = default;
    MrgSortSrcList(const LocalTensor<T>& first, const LocalTensor<T>& second, const LocalTensor<T>& third,
                   const LocalTensor<T>& fourth)
        : src1(first), src2(second), src3(third), src4(fourth)
    {
    }
    LocalTensor<T> src1;
    LocalTensor<T> src2;
    LocalTensor<T> src3;
    LocalTensor<T> src4;
};

template <typename T>
void Sort32(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<uint32_t>& src1,
            const int32_t repeatTime, int line = __builtin_LINE())
{
    pypto_host::SortCall call;
    call.op = pypto_host::SortOp::Blocks;
    call.name = "Sort32";
    call.line = line;
    call.dst = dst.HostRef();
    call.src[0] = src0.HostRef();
    call.index = src1.HostRef();
    call.repeat = repeatTime;
    pypto_host::IssueSort(call);
}

template <typename T>
void MrgSort(const LocalTensor<T>& dst, const MrgSortSrcList<T>& src, const MrgSort4Info& params,
             int line = __builtin_LINE())
{
    pypto_host::SortCall call;
    call.op = pypto_host::SortOp::Merge;
    call.name = "MrgSort";
    call.line = line;
    call.dst = dst.HostRef();
    call.src[0] = src.src1.HostRef();
    call.src[1] = src.src2.HostRef();
    call.src[2] = src.src3.HostRef();
    call.src[3] = src.src4.HostRef();
    for (int i = 0; i < 4; ++i) {
        call.lengths[i] = params.elementLengths[i];
    }
    call.lists = params.validBit;
    call.suspends = params.ifExhaustedSuspension;
    call.repeat = params.repeatTimes;
    pypto_host::IssueSort(call);
}

}  // namespace AscendC
