// The cube core: LoadData, LoadDataWithTranspose, Mmad and Fixpipe.
#pragma once

#include <type_traits>

#include "cube_params.h"
#include "tensors.h"

namespace pypto_host {

inline MmadCall Product(const LocalRef& dst, const LocalRef& left, const LocalRef& right,
                        const AscendC::MmadParams& params, int line)
{
    MmadCall call;
    call.line = line;
    call.dst = dst;
    call.left = left;
    call.right = right;
    call.m = params.m;
    call.n = params.n;
    call.k = params.k;
    call.unit_flag = params.unitFlag;
    call.wide_k = params.kDirectionAlign;
    call.from_bias = params.cmatrixSource;
    call.zero = params.cmatrixInitVal && !params.isBias;
    call.unsupported = params.fmOffset != 0 || params.enSsparse || params.enWinogradA || params.enWinogradB;
    return call;
}

inline FixpipeCall Drain(const LocalRef& src, const AscendC::FixpipeParamsV220& params,
                         const AscendC::FixpipeConfig& config, int line)
{
    FixpipeCall call;
    call.line = line;
    call.src = src;
    call.nz = config.format == AscendC::CO2Layout::NZ;
    call.n = params.nSize;
    call.m = params.mSize;
    call.src_stride = params.srcStride;
    call.dst_stride = params.dstStride;
    call.relu = params.reluEn;
    call.quant = static_cast<uint8_t>(params.quantPre);
    call.scale = params.deqScalar;
    call.matrices = params.ndNum;
    call.unit_flag = params.unitFlag;
    call.channel_split = params.isChannelSplit;
    return call;
}

}  // namespace pypto_host

namespace AscendC {

template <typename T>
void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData2DParams& loadDataParams,
              int line = __builtin_LINE())
{
    pypto_host::LoadCall call;
    call.form = pypto_host::LoadForm::Fractals;
    call.line = line;
    call.dst = dst.HostRef();
    call.src = src.HostRef();
    call.transpose = loadDataParams.ifTranspose;
    call.start = loadDataParams.startIndex;
    call.repeat = loadDataParams.repeatTimes;
    call.src_stride = loadDataParams.srcStride;
    call.dst_gap = loadDataParams.dstGap;
    call.address_mode = loadDataParams.addrMode;
    pypto_host::IssueLoad(call);
}

template <typename T>
void LoadDataWithTranspose(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                           const LoadData2dTransposeParams& loadDataParams, int line = __builtin_LINE())
{
    pypto_host::LoadCall call;
    call.form = pypto_host::LoadForm::Squares;
    call.line = line;
    call.dst = dst.HostRef();
    call.src = src.HostRef();
    call.transpose = true;
    call.start = loadDataParams.startIndex;
    call.repeat = loadDataParams.repeatTimes;
    call.src_stride = loadDataParams.srcStride;
    call.dst_gap = loadDataParams.dstGap;
    call.dst_fractal_gap = loadDataParams.dstFracGap;
    call.address_mode = loadDataParams.addrMode;
    pypto_host::IssueLoad(call);
}

template <typename T, typename U = T>
void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData3DParamsV2<U>& loadDataParams,
              int line = __builtin_LINE())
{
    static_assert(std::is_same_v<T, U>, "the padding value has the type of the tensors");
    const LoadData3DParamsV2<U>& p = loadDataParams;
    pypto_host::LoadCall call;
    call.form = pypto_host::LoadForm::Window;
    call.line = line;
    call.dst = dst.HostRef();
    call.src = src.HostRef();
    call.transpose = p.enTranspose;
    call.height = p.l1H;
    call.width = p.l1W;
    call.channels = p.channelSize;
    call.k_start = p.kStartPt;
    call.m_start = p.mStartPt;
    call.k_extension = p.kExtension;
    call.m_extension = p.mExtension;
    call.plain = p.strideW == 1 && p.strideH == 1 && p.filterW == 1 && p.filterH == 1 && p.dilationFilterW == 1 &&
                 p.dilationFilterH == 1 && !p.enSmallK && !p.filterSizeW && !p.filterSizeH && !p.fMatrixCtrl &&
                 p.padList[0] == 0 && p.padList[1] == 0 && p.padList[2] == 0 && p.padList[3] == 0;
    pypto_host::IssueLoad(call);
}

template <typename T, typename U, typename S>
void Mmad(const LocalTensor<T>& dst, const LocalTensor<U>& fm, const LocalTensor<S>& filter,
          const MmadParams& mmadParams, int line = __builtin_LINE())
{
    pypto_host::IssueMmad(pypto_host::Product(dst.HostRef(), fm.HostRef(), filter.HostRef(), mmadParams, line));
}

template <typename T, typename U, typename S, typename V>
void Mmad(const LocalTensor<T>& dst, const LocalTensor<U>& fm, const LocalTensor<S>& filter,
          const LocalTensor<V>& bias, const MmadParams& mmadParams, int line = __builtin_LINE())
{
    auto call = pypto_host::Product(dst.HostRef(), fm.HostRef(), filter.HostRef(), mmadParams, line);
    call.bias = bias.HostRef();
    call.has_bias = true;
    call.zero = mmadParams.cmatrixInitVal;
    pypto_host::IssueMmad(call);
}

template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<U>& src, const FixpipeParamsV220& intriParams,
             int line = __builtin_LINE())
{
    auto call = pypto_host::Drain(src.HostRef(), intriParams, config, line);
    call.global = dst.HostRef();
    pypto_host::IssueFixpipe(call);
}

template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<U>& src, const LocalTensor<uint64_t>& cbufWorkspace,
             const FixpipeParamsV220& intriParams, int line = __builtin_LINE())
{
    auto call = pypto_host::Drain(src.HostRef(), intriParams, config, line);
    call.global = dst.HostRef();
    call.scales = cbufWorkspace.HostRef();
    call.has_scales = true;
    pypto_host::IssueFixpipe(call);
}

template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const LocalTensor<T>& dst, const LocalTensor<U>& src, const FixpipeParamsV220& intriParams,
             int line = __builtin_LINE())
{
    auto call = pypto_host::Drain(src.HostRef(), intriParams, config, line);
    call.local = dst.HostRef();
    call.to_global = false;
    pypto_host::IssueFixpipe(call);
}

template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const LocalTensor<T>& dst, const LocalTensor<U>& src, const LocalTensor<uint64_t>& cbufWorkspace,
             const FixpipeParamsV220& intriParams, int line = __builtin_LINE())
{
    auto call = pypto_host::Drain(src.HostRef(), intriParams, config, line);
    call.local = dst.HostRef();
    call.to_global = false;
    call.scales = cbufWorkspace.HostRef();
    call.has_scales = true;
    pypto_host::IssueFixpipe(call);
}

}  // namespace AscendC
