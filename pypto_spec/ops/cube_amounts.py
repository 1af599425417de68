"""How much the cube's calls do: bytes, and what a repeat of each is.

| call | bytes | repeats |
| --- | --- | --- |
| DataCopy to NZ | those read from GM | rows of GM |
| LoadData, LoadDataWithTranspose | fractals written, 512 B each, the last ones whole | fractals |
| DataCopy to the bias table | those read from L1 | blocks |
| Mmad | 0: it has no bandwidth | fractals of L0C times fractals along K, twice for fp32, which goes through in parts |
| Fixpipe | those of the accumulator | rows |
"""

from __future__ import annotations

from collections.abc import Mapping

from pypto_spec.ir.dtype import DType
from pypto_spec.ir.expr import Index, ceil_div, mul
from pypto_spec.ir.instr import Instr, Ref, Struct
from pypto_spec.ops.cube_calls import FRACTAL, ROW, SIDE
from pypto_spec.ops.decoding import Amounts, DTypeOf, Measure, index_of, ref_of

FP32_PASSES = 2
"""How often an fp32 fractal goes through the cube."""


def _nz(instr: Instr, dtype_of: DTypeOf) -> Amounts:
    matrices, rows, cols = _fields(instr, 3)
    lines = mul(matrices, rows)
    elements = mul(lines, cols)
    return Amounts(elements, mul(elements, _dtype(instr, dtype_of, 1).bytes), lines)


def _bias(instr: Instr, dtype_of: DTypeOf) -> Amounts:
    count, length = _fields(instr, 2)
    bytes = mul(mul(count, length), ROW)
    return Amounts(ceil_div(bytes, _dtype(instr, dtype_of, 1).bytes), bytes, count)


def _left(instr: Instr, dtype_of: DTypeOf) -> Amounts:
    return _load(instr, dtype_of, True)


def _right(instr: Instr, dtype_of: DTypeOf) -> Amounts:
    return _load(instr, dtype_of, False)


def _load(instr: Instr, dtype_of: DTypeOf, left: bool) -> Amounts:
    params = instr.args[2]
    assert isinstance(params, Struct)
    dtype = _dtype(instr, dtype_of, 1)
    if params.name != "MatrixParams":
        return _fractals(index_of(instr, params.args[1]), dtype)
    rows, cols = (index_of(instr, a) for a in params.args[4:6])
    turned = params.args[6] is True or not left
    tall = ceil_div(rows, SIDE)
    if turned and dtype.bytes == 4:  # squares of 16 x 16, which are two fractals
        return _fractals(mul(mul(tall, ceil_div(cols, SIDE)), 2), dtype)
    return _fractals(mul(tall, ceil_div(cols, dtype.block)), dtype)


def _transposed(instr: Instr, dtype_of: DTypeOf) -> Amounts:
    dtype = _dtype(instr, dtype_of, 1)
    _, squares = _fields(instr, 2)
    return _fractals(mul(squares, 1 if dtype.bytes == 2 else 2), dtype)


def _mmad(instr: Instr, dtype_of: DTypeOf) -> Amounts:
    dtype = _dtype(instr, dtype_of, 1)
    m, n, k = _fields(instr, 3)
    fractals = mul(mul(ceil_div(m, SIDE), ceil_div(n, SIDE)), ceil_div(k, dtype.block))
    passes = FP32_PASSES if dtype.name == "fp32" else 1
    return Amounts(mul(mul(m, n), k), 0, mul(fractals, passes))


def _fixpipe(instr: Instr, dtype_of: DTypeOf) -> Amounts:
    cols, rows = _fields(instr, 2)
    elements = mul(rows, cols)
    return Amounts(elements, mul(elements, 4), rows)


def _fields(instr: Instr, count: int) -> list[Index]:
    """The first fields of the structure, which is the last argument."""
    params = instr.args[-1]
    assert isinstance(params, Struct)
    return [index_of(instr, a) for a in params.args[:count]]


def _dtype(instr: Instr, dtype_of: DTypeOf, place: int) -> DType:
    ref: Ref = ref_of(instr, instr.args[place])
    return dtype_of(ref)


def _fractals(count: Index, dtype: DType) -> Amounts:
    bytes = mul(count, FRACTAL)
    return Amounts(mul(count, FRACTAL // dtype.bytes), bytes, count)


CUBE_MEASURES: Mapping[str, Measure] = {
    "DataCopy.nz": _nz,
    "DataCopy.bias": _bias,
    "LoadData.left": _left,
    "LoadData.right": _right,
    **dict.fromkeys(("LoadDataWithTranspose.left", "LoadDataWithTranspose.right"), _transposed),
    "Mmad": _mmad,
    **dict.fromkeys(("Fixpipe.gm", "Fixpipe.mat"), _fixpipe),
}
