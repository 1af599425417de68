"""Matmuls in the form the renderer prints, written by hand: every way from GM to an accumulator and out again."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.host.rendered import CPP, SIZE

HEAD = """#include "kernel_operator.h"
using namespace AscendC;
template <typename T>
LoadData3DParamsV2<T> MatrixParams(int64_t rows, int64_t cols, int64_t row, int64_t col, int64_t height, int64_t width,
bool transpose)
{
    LoadData3DParamsV2<T> p;
    p.l1H = 1;
    p.l1W = rows;
    p.channelSize = cols;
    p.mStartPt = row;
    p.kStartPt = col;
    p.mExtension = height;
    p.kExtension = width;
    p.enTranspose = transpose;
    return p;
}
inline MmadParams AlignedMmadParams(int64_t m, int64_t n, int64_t k, int64_t flag, bool source, bool zero)
{
    MmadParams p(m, n, k, flag, source, zero);
    p.kDirectionAlign = true;
    return p;
}
static constexpr int32_t kUnused = @ub;
extern "C" __global__ __aicore__ void @name(@params)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    TPipe pipe;
    TBuf<TPosition::A1> l1;
    pipe.InitBuffer(l1, 524160);
    TBuf<TPosition::A2> l0a;
    pipe.InitBuffer(l0a, 65536);
    TBuf<TPosition::B2> l0b;
    pipe.InitBuffer(l0b, 65536);
    TBuf<TPosition::CO1> l0c;
    pipe.InitBuffer(l0c, 131072);
    TBuf<TPosition::C2> bt;
    pipe.InitBuffer(bt, 1024);
    pipe.Destroy();
"""

LEFT, RIGHT, BIAS, SCALES = 0, 131072, 262144, 266240
"""Bytes of L1 where the operands start."""


def up(value: int, to: int) -> int:
    return -(-value // to) * to


def sync(kind: str, number: int = 0) -> str:
    flag = f"<HardEvent::{kind}>({number});"
    return f"SetFlag{flag} // set_{kind}\nWaitFlag{flag} // wait_{kind}\n"


@dataclass(frozen=True)
class Matmul:
    """C[m, n] = A[m, k] @ B[k, n] in one Mmad; a transposed operand lies in GM as [k, m] or [n, k]."""

    dtype: str = "fp16"
    m: int = 32
    n: int = 32
    k: int = 32
    a_trans: bool = False
    b_trans: bool = False
    out: str = ""
    quant: str = "NoQuant"
    bias: bool = False
    relu: bool = False
    unit: bool = False
    steps: int = 1
    """Mmads along k, each of all of k again, added up."""
    extra: str = ""

    @property
    def acc(self) -> str:
        return "int32" if self.dtype == "int8" else "fp32"

    @property
    def target(self) -> str:
        return self.out or self.acc

    @property
    def c0(self) -> int:
        return 32 // SIZE[self.dtype]

    @property
    def mad_n(self) -> int:
        return up(self.n, 32) if self.dtype == "int8" and not self.b_trans else self.n

    @property
    def padded(self) -> bool:
        return self.dtype == "fp32" and self.a_trans and up(self.k, 8) % 16 != 0

    def params(self) -> tuple[tuple[str, str], ...]:
        inner = (("bias", self.acc),) if self.bias else ()
        return (("a", self.dtype), ("b", self.dtype), *inner, ("c", self.target))

    # -- the parts of the kernel ------------------------------------------------------------------------------

    def tensors(self) -> str:
        t, acc = CPP[self.dtype], CPP[self.acc]
        left = up(self.m, 32) * up(self.k, 32)
        right = up(self.n, 32) * up(self.k, 32)
        return (
            f"LocalTensor<{t}> a1 = l1.GetWithOffset<{t}>({left}, {LEFT});\n"
            f"LocalTensor<{t}> b1 = l1.GetWithOffset<{t}>({right}, {RIGHT});\n"
            f"LocalTensor<{t}> a2 = l0a.GetWithOffset<{t}>({left}, 0);\n"
            f"LocalTensor<{t}> b2 = l0b.GetWithOffset<{t}>({right}, 0);\n"
            f"LocalTensor<{acc}> co = l0c.GetWithOffset<{acc}>({up(self.m, 16) * up(self.mad_n, 16)}, 0);\n"
        )

    def rows(self, count: int, turned: bool) -> int:
        return up(count, 32 if self.dtype == "int8" and turned else 16)

    def load(self) -> str:
        a_rows, a_cols = (self.k, self.m) if self.a_trans else (self.m, self.k)
        b_rows, b_cols = (self.n, self.k) if self.b_trans else (self.k, self.n)
        a_pitch = self.rows(a_rows, self.a_trans)
        b_pitch = self.rows(b_rows, not self.b_trans)
        text = (
            f"DataCopy(a1, ga, Nd2NzParams(1, {a_rows}, {a_cols}, 0, {a_cols}, {a_pitch}, 1, 0)); // load_a\n"
            f"DataCopy(b1, gb, Nd2NzParams(1, {b_rows}, {b_cols}, 0, {b_cols}, {b_pitch}, 1, 0)); // load_b\n"
        )
        if self.bias:
            acc = CPP[self.acc]
            text += (
                f"LocalTensor<{acc}> bias1 = l1.GetWithOffset<{acc}>({up(self.n, 16)}, {BIAS});\n"
                f"LocalTensor<{acc}> bias2 = bt.GetWithOffset<{acc}>({up(self.n, 16)}, 0);\n"
                f"DataCopy(bias1, gbias, Nd2NzParams(1, 1, {self.n}, 0, {self.n}, 1, 1, 0)); // load_bias\n"
            )
        return text

    def split_a(self) -> str:
        t, c0 = CPP[self.dtype], self.c0
        if not self.a_trans:
            height, width = up(self.m, 16), up(self.k, c0)
            window = f"{height}, {width}, 0, 0, {height}, {width}"
            return f"LoadData(a2, a1, MatrixParams<{t}>({window}, false)); // split_a\n"
        if self.dtype == "int8":
            squares, depth = up(self.k, 32) // 32, up(self.k, 32) // 32
            lines = ""
            for i in range(up(self.m, 32) // 32):
                lines += (
                    f"LoadDataWithTranspose(a2[{i * depth * 1024}], a1[{i * squares * 1024}], "
                    f"LoadData2dTransposeParams(0, {squares}, 1, 0, {depth - 1})); // split_a{i or ''}\n"
                )
            return lines
        height, width = up(self.k, 16), up(self.m, c0)
        return f"LoadData(a2, a1, MatrixParams<{t}>({height}, {width}, 0, 0, {height}, {width}, true)); // split_a\n"

    def split_b(self) -> str:
        t, c0 = CPP[self.dtype], self.c0
        if self.b_trans:
            across = up(self.n, 16) // 16
            return "".join(
                f"LoadData(b2[{i * across * 16 * c0}], b1[{i * across * 16 * c0}], "
                f"LoadData2DParams(0, {across}, 1, 0, 0, false, 0)); // split_b{i or ''}\n"
                for i in range(up(self.k, c0) // c0)
            )
        if self.dtype == "int8":
            across, down = up(self.n, 32) // 32, up(self.k, 32) // 32
            return "".join(
                f"LoadDataWithTranspose(b2[{i * across * 1024}], b1[{i * 1024}], "
                f"LoadData2dTransposeParams(0, {across}, {down}, 1, 0)); // split_b{i or ''}\n"
                for i in range(down)
            )
        height, width = up(self.k, 16), up(self.n, c0)
        return f"LoadData(b2, b1, MatrixParams<{t}>({height}, {width}, 0, 0, {height}, {width}, false)); // split_b\n"

    def split_bias(self) -> str:
        if not self.bias:
            return ""
        return f"DataCopy(bias2, bias1, DataCopyParams(1, {up(self.n * 4, 64) // 64}, 0, 0)); // split_bias\n"

    def mads(self) -> str:
        make = "AlignedMmadParams" if self.padded else "MmadParams"
        text = ""
        for i in range(self.steps):
            flag = 0 if not self.unit else 3 if i == self.steps - 1 else 2
            first = i == 0
            bias = "bias2, " if self.bias and first else ""
            source = "true" if bias else "false"
            zero = "true" if first and not bias else "false"
            text += (
                f"Mmad(co, a2, b2, {bias}{make}({self.m}, {self.mad_n}, {self.k}, {flag}, {source}, {zero}));"
                f" // mad{i or ''}\n"
            )
            if i != self.steps - 1 and (self.m // 16) * (self.mad_n // 16) < 10:
                text += f"PipeBarrier<PIPE_M>(); // barrier{i or ''}\n"
        return text

    def drain(self) -> str:
        relu = "true" if self.relu else "false"
        flag = 3 if self.unit else 0
        return (
            f"Fixpipe<{CPP[self.target]}, {CPP[self.acc]}, CFG_ROW_MAJOR>(gc, co, "
            f"FixpipeParamsV220({self.n}, {self.m}, "
            f"{up(self.m, 16)}, {self.n}, {relu}, QuantMode_t::{self.quant}, 0, 1, 0, 0, {flag})); // drain\n"
        )

    def body(self) -> str:
        order = "" if self.unit else sync("M_FIX")
        return (
            self.tensors()
            + self.load()
            + sync("MTE2_MTE1")
            + self.split_a()
            + self.split_b()
            + self.split_bias()
            + sync("MTE1_M")
            + self.mads()
            + order
            + self.drain()
            + self.extra
        )

    def but(self, **changes: object) -> Matmul:
        return replace(self, **changes)  # type: ignore[arg-type]
