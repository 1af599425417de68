"""The product of two matrices in L0A and L0B, added to an accumulator in L0C (`Mmad`).

The true m, n and k are passed, with three exceptions that the stored form of the operands asks for: m = 1 would read
the left operand as a vector (GEMV), so a matrix of one row counts 16; of 1-byte types n covers both fractals of a
square; and fp32 operands, which are stored in pairs of fractals along K, say so where half a pair is filled
(`AlignedMmadParams`, a helper of the kernel).

Sources: Ascend C guide, Mmad; samples of LoadData for what n and K are rounded to.
"""

from __future__ import annotations

from collections.abc import Iterator

from pypto_spec.ir.dtype import BF16, FP16, FP32, INT8, INT32, DType
from pypto_spec.ir.expr import Index, bounds
from pypto_spec.ir.instr import Arg, Instr, Ref, Struct
from pypto_spec.ir.layouts import FRACTAL_ROWS
from pypto_spec.ir.nodes import Condition
from pypto_spec.ir.types import Layout, TileType

ACCUMULATOR: dict[DType, DType] = {FP16: FP32, BF16: FP32, FP32: FP32, INT8: INT32}
"""The dtype of the accumulator by that of the operands (dav-2201)."""
OPERANDS = tuple(ACCUMULATOR)
"""Dtypes of the operands."""
MAX_EXTENT = 4_095
"""MmadParams: each of m, n and k."""


def mmad(
    lhs: TileType,
    rhs: TileType,
    *,
    init: Condition | bool,
    bias: bool = False,
    unit_flag: Index = 0,
) -> Iterator[Instr]:
    """The call: `init` starts at zero (or, with `bias`, at the bias), else it adds to what the accumulator holds."""
    m = 1 if lhs.order is Layout.ND else max(lhs.rows, 2) if lhs.rows > 1 else FRACTAL_ROWS
    n = rhs.physical[1] if rhs.dtype.bytes == 1 else rhs.cols
    k: Index = lhs.cols if lhs.valid is None else lhs.valid[1]
    start: Arg = False if bias else init
    params = Struct(_params(lhs.dtype, k), (m, n, k, unit_flag, bias, start))
    operands = (Ref("into"), Ref("lhs"), Ref("rhs"))
    yield Instr("Mmad", (*operands, Ref("bias"), params) if bias else (*operands, params))


def _params(dtype: DType, k: Index) -> str:
    if dtype is not FP32:
        return "MmadParams"
    known = k if isinstance(k, int) else None
    assert known is not None or bounds(k)[1] is not None
    even = known is not None and -(-known // dtype.block) % 2 == 0
    return "MmadParams" if even else "AlignedMmadParams"
