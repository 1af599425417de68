// DataCopy, DataCopyPad and Copy.
#pragma once

#include "cube_params.h"
#include "params.h"
#include "tensors.h"
#include "vector.h"

namespace pypto_host {

template <typename T>
CopyCall Transfer(CopyPath path, CopyForm form, const AscendC::LocalTensor<T>& local,
                  const AscendC::GlobalTensor<T>& global, int line)
{
    CopyCall call;
    call.path = path;
    call.form = form;
    call.line = line;
    call.name = form == CopyForm::Pad ? "DataCopyPad" : "DataCopy";
    call.local = local.HostRef();
    call.global = global.HostRef();
    return call;
}

inline void Lengths(CopyCall& call, const AscendC::DataCopyParams& params)
{
    call.blocks = params.blockCount;
    call.length = params.blockLen;
    call.src_gap = params.srcGap;
    call.dst_gap = params.dstGap;
}

inline void Lengths(CopyCall& call, const AscendC::DataCopyExtParams& params)
{
    call.blocks = params.blockCount;
    call.length = params.blockLen;
    call.src_gap = params.srcStride;
    call.dst_gap = params.dstStride;
}

}  // namespace pypto_host

namespace AscendC {

template <typename T>
void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const uint32_t count,
              int line = __builtin_LINE())
{
    auto call = pypto_host::Transfer(pypto_host::CopyPath::GmToLocal, pypto_host::CopyForm::Count, dst, src, line);
    call.length = count;
    pypto_host::IssueCopy(call);
}

template <typename T>
void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count,
              int line = __builtin_LINE())
{
    auto call = pypto_host::Transfer(pypto_host::CopyPath::LocalToGm, pypto_host::CopyForm::Count, src, dst, line);
    call.length = count;
    pypto_host::IssueCopy(call);
}

template <typename T>
void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count,
              int line = __builtin_LINE())
{
    auto call = pypto_host::Transfer(pypto_host::CopyPath::LocalToLocal, pypto_host::CopyForm::Count, dst,
                                     GlobalTensor<T>(), line);
    call.local_src = src.HostRef();
    call.length = count;
    pypto_host::IssueCopy(call);
}

template <typename T>
void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& repeatParams,
              int line = __builtin_LINE())
{
    auto call = pypto_host::Transfer(pypto_host::CopyPath::GmToLocal, pypto_host::CopyForm::Blocks, dst, src, line);
    pypto_host::Lengths(call, repeatParams);
    pypto_host::IssueCopy(call);
}

template <typename T>
void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& repeatParams,
              int line = __builtin_LINE())
{
    auto call = pypto_host::Transfer(pypto_host::CopyPath::LocalToGm, pypto_host::CopyForm::Blocks, src, dst, line);
    pypto_host::Lengths(call, repeatParams);
    pypto_host::IssueCopy(call);
}

template <typename T>
void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& repeatParams,
              int line = __builtin_LINE())
{
    auto call = pypto_host::Transfer(pypto_host::CopyPath::LocalToLocal, pypto_host::CopyForm::Blocks, dst,
                                     GlobalTensor<T>(), line);
    call.local_src = src.HostRef();
    pypto_host::Lengths(call, repeatParams);
    pypto_host::IssueCopy(call);
}

// L1 to the bias table in another type: half to float is the only pair.
template <typename T, typename U>
void DataCopy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const DataCopyParams& repeatParams,
              int line = __builtin_LINE())
{
    auto call = pypto_host::Transfer(pypto_host::CopyPath::LocalToLocal, pypto_host::CopyForm::Blocks, dst,
                                     GlobalTensor<T>(), line);
    call.local_src = src.HostRef();
    pypto_host::Lengths(call, repeatParams);
    pypto_host::IssueCopy(call);
}

template <typename T>
void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const Nd2NzParams& intriParams,
              int line = __builtin_LINE())
{
    pypto_host::Nd2NzCall call;
    call.line = line;
    call.dst = dst.HostRef();
    call.src = src.HostRef();
    call.matrices = intriParams.ndNum;
    call.rows = intriParams.nValue;
    call.columns = intriParams.dValue;
    call.src_matrix_stride = intriParams.srcNdMatrixStride;
    call.src_row_stride = intriParams.srcDValue;
    call.dst_column_stride = intriParams.dstNzC0Stride;
    call.dst_row_stride = intriParams.dstNzNStride;
    call.dst_matrix_stride = intriParams.dstNzMatrixStride;
    pypto_host::IssueNd2Nz(call);
}

template <typename T>
void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyExtParams& dataCopyParams,
                 const DataCopyPadExtParams<T>& padParams, int line = __builtin_LINE())
{
    auto call = pypto_host::Transfer(pypto_host::CopyPath::GmToLocal, pypto_host::CopyForm::Pad, dst, src, line);
    pypto_host::Lengths(call, dataCopyParams);
    call.pads = padParams.isPad;
    call.left = padParams.leftPadding;
    call.right = padParams.rightPadding;
    call.pad_bits = pypto_host::RawBits(padParams.paddingValue);
    pypto_host::IssueCopy(call);
}

template <typename T>
void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyExtParams& dataCopyParams,
                 int line = __builtin_LINE())
{
    auto call = pypto_host::Transfer(pypto_host::CopyPath::LocalToGm, pypto_host::CopyForm::Pad, src, dst, line);
    pypto_host::Lengths(call, dataCopyParams);
    pypto_host::IssueCopy(call);
}

template <typename T, bool isSetMask = true>
void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[], const int64_t repeatTime,
          const CopyRepeatParams& repeatParams, int line = __builtin_LINE())
{
    pypto_host::Unary(pypto_host::VectorOp::Copy, "Copy", dst, src, pypto_host::Bits(isSetMask, mask, repeatTime),
                      {repeatParams.dstStride, repeatParams.srcStride, repeatParams.dstRepeatSize,
                       repeatParams.srcRepeatSize},
                      line);
}

template <typename T, bool isSetMask = true>
void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask, const int64_t repeatTime,
          const CopyRepeatParams& repeatParams, int line = __builtin_LINE())
{
    pypto_host::Unary(pypto_host::VectorOp::Copy, "Copy", dst, src, pypto_host::First(isSetMask, mask, repeatTime),
                      {repeatParams.dstStride, repeatParams.srcStride, repeatParams.dstRepeatSize,
                       repeatParams.srcRepeatSize},
                      line);
}

}  // namespace AscendC
