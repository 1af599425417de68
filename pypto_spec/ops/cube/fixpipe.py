"""Out of L0C: to GM row by row, or into L1 as fractals; on the way rounded, quantised, or cut at zero (`Fixpipe`).

What the pipe can do on the way is one word, `QuantMode_t`, and follows from the two dtypes and from whether there is a
scale. A scale is an fp32 of which the pipe drops the 13 lowest bits.

Sources: Ascend C guide, Fixpipe (L0C to GM, L0C to L1) and quantisation on the way; DataCopyCO12DstParams for ranges.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pypto_spec.ir.dtype import BF16, FP16, FP32, INT8, INT32, UINT64, DType
from pypto_spec.ir.expr import Index, add, floordiv, mul
from pypto_spec.ir.instr import Instr, Ref, Struct, Word
from pypto_spec.ir.layouts import FRACTAL_ROWS
from pypto_spec.ir.types import TileType, round_up
from pypto_spec.ops.window import Run

MAX_COLS = 4_095
"""FixpipeParamsV220.nSize."""
MAX_ROWS = 8_192
"""FixpipeParamsV220.mSize of an output row by row."""
SIGNED = 1 << 46
"""The bit of a scale that makes 8-bit results signed."""

PLAIN: Mapping[tuple[DType, DType], str] = {
    (FP32, FP32): "NoQuant",
    (INT32, INT32): "NoQuant",
    (FP32, FP16): "F322F16",
    (FP32, BF16): "F322BF16",
}
"""The mode without a scale, by the dtypes of accumulator and output."""

SCALED: Mapping[tuple[DType, DType], str] = {
    (INT32, FP16): "DEQF16",
    (INT32, INT8): "REQ8",
    (FP32, INT8): "QF322B8_PRE",
}
"""The mode with one scale; with a scale a column it has a `V` before it."""

TO_MAT = (FP16, BF16, INT8)
"""Dtypes of outputs into L1 on dav-2201: 4-byte ones would need another fractal."""


class Way(NamedTuple):
    """What happens on the way: cut below zero, one scale or the operand that holds one a column, and the unit flag."""

    relu: bool = False
    scale: float | None = None
    scales: str | None = None
    unit_flag: int = 0


def mode(acc: DType, out: DType, way: Way) -> str | None:
    """The `QuantMode_t` between two dtypes; None where there is none."""
    if way.scale is None and way.scales is None:
        return PLAIN.get((acc, out))
    found = SCALED.get((acc, out))
    return f"V{found}" if found is not None and way.scales is not None else found


def outputs(acc: DType, scaled: bool) -> tuple[DType, ...]:
    """Dtypes that an accumulator can leave as."""
    return tuple(out for source, out in (SCALED if scaled else PLAIN) if source is acc)


def scale_bits(scale: float, out: DType) -> int:
    """A scale as the pipe takes it: the bits of the fp32, and whether 8-bit results are signed."""
    bits: int = struct.unpack("<I", struct.pack("<f", scale))[0]
    return bits | (SIGNED if out is INT8 else 0)


def to_gm(tile: TileType, out: DType, found: Sequence[Run], way: Way) -> Iterator[Instr]:
    """The calls that store the rows of a window from L0C."""
    stored = tile.physical[0]
    for run in found:
        for first in range(0, tile.cols, _STEP):
            width = run.length if tile.cols <= _STEP else min(_STEP, tile.cols - first)
            source = Ref("from", first * stored + run.row * FRACTAL_ROWS)
            target = Ref("to", add(run.start, first))
            pitch = run.pitch if run.most > 1 else run.length
            yield _call(target, source, tile.dtype, out, (width, run.rows, stored, pitch), way, "CFG_ROW_MAJOR")


_STEP = MAX_COLS // FRACTAL_ROWS * FRACTAL_ROWS


def to_mat(
    tile: TileType,
    into: TileType,
    row: Index,
    col: Index,
    way: Way,
    source: str,
    *,
    start: tuple[Index, Index] = (0, 0),
    shape: tuple[int, int] | None = None,
) -> Iterator[Instr]:
    """The calls that write a window of a tile of L0C into a window of one in L1.

    `col` is a multiple of the fractal's columns there, `start` is the first row and column in L0C and `shape` the
    window's extents, the whole tile by default.
    """
    stored, rows = tile.physical[0], into.physical[0]
    block = into.dtype.block
    height, length = shape or (tile.rows, tile.cols)
    for first in range(0, length, _STEP):
        width = round_up(min(_STEP, length - first), block)
        offset = add(mul(floordiv(add(col, first), block), rows * block), mul(row, block))
        origin = add(mul(add(start[1], first), stored), mul(start[0], FRACTAL_ROWS))
        ends = Ref("into", offset), Ref(source, origin)
        yield _call(*ends, tile.dtype, into.dtype, (width, height, stored, rows), way, "CFG_NZ")


def _call(
    target: Ref,
    source: Ref,
    acc: DType,
    out: DType,
    sizes: tuple[Index, Index, int, Index],
    way: Way,
    form: str,
) -> Instr:
    word = mode(acc, out, way)
    assert word is not None, f"no way from {acc} to {out}"
    scale = 0 if way.scale is None else scale_bits(way.scale, out)
    params = Struct(
        "FixpipeParamsV220",
        (*sizes, way.relu, Word(f"QuantMode_t::{word}"), scale, 1, 0, 0, way.unit_flag),
    )
    scales = () if way.scales is None else (Ref(way.scales, 0, UINT64),)
    return Instr("Fixpipe", (target, source, *scales, params), (out.cpp, acc.cpp, form))
