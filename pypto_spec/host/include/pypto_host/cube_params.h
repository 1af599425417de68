// Parameter structs of the cube core's calls, by the names, member names and constructor orders of the real headers.
// As in params.h the fields are wider than the device's, so that a value it would cut off becomes an error.
#pragma once

#include <cstdint>

#include "types.h"

namespace AscendC {

constexpr int32_t PAD_SIZE = 4;

// GM to L1. Source strides and the distance of matrices in L1 in elements, the other destination strides in 32 B.
struct Nd2NzParams {
    Nd2NzParams() = default;
    Nd2NzParams(int64_t nd, int64_t n, int64_t d, int64_t srcMatrix, int64_t srcD, int64_t dstC0, int64_t dstN,
                int64_t dstMatrix)
        : ndNum(nd), nValue(n), dValue(d), srcNdMatrixStride(srcMatrix), srcDValue(srcD), dstNzC0Stride(dstC0),
          dstNzNStride(dstN), dstNzMatrixStride(dstMatrix)
    {
    }
    int64_t ndNum = 0;
    int64_t nValue = 0;
    int64_t dValue = 0;
    int64_t srcNdMatrixStride = 0;
    int64_t srcDValue = 0;
    int64_t dstNzC0Stride = 0;
    int64_t dstNzNStride = 0;
    int64_t dstNzMatrixStride = 0;
};

// Fractals of 512 B. The members of the device stand in another order than the constructor takes them.
struct LoadData2DParams {
    LoadData2DParams() = default;
    LoadData2DParams(int64_t start, int64_t repeat, int64_t src, int64_t sidIn, int64_t gap, bool transpose, int64_t mode)
        : startIndex(start), dstGap(gap), srcStride(src), ifTranspose(transpose), repeatTimes(repeat), sid(sidIn),
          addrMode(mode)
    {
    }
    int64_t startIndex = 0;
    int64_t dstGap = 0;
    int64_t srcStride = 0;
    bool ifTranspose = false;
    int64_t repeatTimes = 0;
    int64_t sid = 0;
    int64_t addrMode = 0;
};
using LoadData2dParams = LoadData2DParams;

// Squares: 16x16 elements of 2 or 4 bytes, 32x32 of 1 byte.
struct LoadData2dTransposeParams {
    LoadData2dTransposeParams() = default;
    LoadData2dTransposeParams(int64_t start, int64_t repeat, int64_t src, int64_t gap, int64_t fracGap, int64_t mode = 0)
        : startIndex(start), repeatTimes(repeat), srcStride(src), dstGap(gap), dstFracGap(fracGap), addrMode(mode)
    {
    }
    int64_t startIndex = 0;
    int64_t repeatTimes = 0;
    int64_t srcStride = 0;
    int64_t dstGap = 0;
    int64_t dstFracGap = 0;
    int64_t addrMode = 0;
};

template <typename T>
struct LoadData3DParamsV2 {
    LoadData3DParamsV2() = default;
    LoadData3DParamsV2(const uint8_t pads[PAD_SIZE], int64_t l1HIn, int64_t l1WIn, int64_t channels, int64_t kExt,
                       int64_t mExt, int64_t kStart, int64_t mStart, int64_t strideWIn, int64_t strideHIn,
                       int64_t filterWIn, int64_t filterHIn, int64_t dilationW, int64_t dilationH, bool transpose,
                       bool smallK, const T pad, bool sizeW = false, bool sizeH = false, bool control = false)
        : l1H(l1HIn), l1W(l1WIn), channelSize(channels), kExtension(kExt), mExtension(mExt), kStartPt(kStart),
          mStartPt(mStart), strideW(strideWIn), strideH(strideHIn), filterW(filterWIn), filterH(filterHIn),
          dilationFilterW(dilationW), dilationFilterH(dilationH), enTranspose(transpose), enSmallK(smallK),
          padValue(pad), filterSizeW(sizeW), filterSizeH(sizeH), fMatrixCtrl(control)
    {
        for (int32_t i = 0; i < PAD_SIZE; ++i) {
            padList[i] = pads[i];
        }
    }
    uint8_t padList[PAD_SIZE] = {0};
    int64_t l1H = 0;
    int64_t l1W = 0;
    int64_t channelSize = 0;
    int64_t kExtension = 0;
    int64_t mExtension = 0;
    int64_t kStartPt = 0;
    int64_t mStartPt = 0;
    int64_t strideW = 1;
    int64_t strideH = 1;
    int64_t filterW = 1;
    int64_t filterH = 1;
    int64_t dilationFilterW = 1;
    int64_t dilationFilterH = 1;
    bool enTranspose = false;
    bool enSmallK = false;
    T padValue = T(0);
    bool filterSizeW = false;
    bool filterSizeH = false;
    bool fMatrixCtrl = false;
};

// The longer constructor is the old one; of its last five values only isBias still does something.
struct MmadParams {
    MmadParams() = default;
    MmadParams(int64_t mIn, int64_t nIn, int64_t kIn, bool isBiasIn, int32_t fmOffsetIn, bool enSsparseIn,
               bool enWinogradAIn, bool enWinogradBIn)
        : m(mIn), n(nIn), k(kIn), isBias(isBiasIn), fmOffset(fmOffsetIn), enSsparse(enSsparseIn),
          enWinogradA(enWinogradAIn), enWinogradB(enWinogradBIn)
    {
    }
    MmadParams(int64_t mIn, int64_t nIn, int64_t kIn, int64_t unitFlagIn, bool cmatrixSourceIn, bool cmatrixInitValIn)
        : m(mIn), n(nIn), k(kIn), unitFlag(unitFlagIn), cmatrixSource(cmatrixSourceIn),
          cmatrixInitVal(cmatrixInitValIn)
    {
    }
    int64_t m = 0;
    int64_t n = 0;
    int64_t k = 0;
    bool isBias = false;
    int32_t fmOffset = 0;
    bool enSsparse = false;
    bool enWinogradA = false;
    bool enWinogradB = false;
    int64_t unitFlag = 0;
    bool kDirectionAlign = false;
    bool cmatrixSource = false;
    bool cmatrixInitVal = true;
};

enum class CO2Layout : uint8_t { NZ = 0, ROW_MAJOR, COLUMN_MAJOR };

struct FixpipeConfig {
    CO2Layout format;
};
constexpr FixpipeConfig CFG_NZ = {CO2Layout::NZ};
constexpr FixpipeConfig CFG_ROW_MAJOR = {CO2Layout::ROW_MAJOR};

struct FixpipeParamsV220 {
    FixpipeParamsV220() = default;
    FixpipeParamsV220(int64_t n, int64_t m, int64_t src, int64_t dst, bool relu)
        : nSize(n), mSize(m), srcStride(src), dstStride(dst), reluEn(relu)
    {
    }
    FixpipeParamsV220(int64_t n, int64_t m, int64_t src, int64_t dst, bool relu, QuantMode_t quant, int64_t scale,
                      int64_t nd, int64_t srcNd, int64_t dstNd, int64_t flag, bool split = false)
        : nSize(n), mSize(m), srcStride(src), dstStride(dst), quantPre(quant),
          deqScalar(static_cast<uint64_t>(scale)), ndNum(nd), srcNdStride(srcNd), dstNdStride(dstNd), reluEn(relu),
          unitFlag(flag), isChannelSplit(split)
    {
    }
    int64_t nSize = 0;
    int64_t mSize = 0;
    int64_t srcStride = 0;
    int64_t dstStride = 0;
    QuantMode_t quantPre = QuantMode_t::NoQuant;
    uint64_t deqScalar = 0x7fc00000;  // the device leaves it as it is: a scale that is not set must not seem to be one
    int64_t ndNum = 1;
    int64_t srcNdStride = 0;
    int64_t dstNdStride = 0;
    bool reluEn = false;
    int64_t unitFlag = 0;
    bool isChannelSplit = false;
};

}  // namespace AscendC
