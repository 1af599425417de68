"""From L1 into L0A, L0B and the bias table: fractals are put in the order that the product reads.

`LoadData` with the parameters of an im2col of a 1 x 1 filter takes any window of an `nz` tile in one call, and turns it
round on the way where it must (`MatrixParams`, a helper of the kernel); to L0B it always turns. It does not exist for
1-byte types that are turned, which go square by square (`LoadDataWithTranspose`), and not to L0B without turning, where
the fractals of a tile that is seen transposed are copied as they are (`LoadData2DParams`).

Sources: Ascend C guide, LoadData (2D, 3D) and LoadDataWithTranspose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from pypto_spec.ir.expr import Index, add, ceil_div, floordiv, mul
from pypto_spec.ir.instr import Instr, Ref, Struct
from pypto_spec.ir.layouts import FRACTAL_BYTES, FRACTAL_ROWS
from pypto_spec.ir.types import Layout, Memory, TileType, round_up

MAX_REPEAT = 255
"""LoadData2DParams.repeatTimes and LoadData2dTransposeParams.repeatTimes, 8 bit."""
SQUARE = 32
"""Rows and columns of what 1-byte types are turned round by."""
BIAS_UNIT = 64
"""DataCopyParams.blockLen of a copy into the bias table, in bytes."""


class Source(NamedTuple):
    """A window of a tile in L1: the tile, its operand's name, and the first row and column of the window."""

    tile: TileType
    name: str
    row: Index = 0
    col: Index = 0

    @property
    def stored(self) -> tuple[int, int]:
        """Rows and columns of the `nz` tile as it stands in L1."""
        rows, cols = self.tile.physical
        if self.tile.order is Layout.ND:
            return 1, cols
        return (cols, rows) if self.tile.order is Layout.ZN else (rows, cols)

    @property
    def start(self) -> tuple[Index, Index]:
        """The first row and column of the window as it stands in L1."""
        return (self.col, self.row) if self.tile.order is Layout.ZN else (self.row, self.col)


def into_left(source: Source, into: TileType) -> Iterator[Instr]:
    """The left operand [M, K]: rows of fractals, or for a vector the row as it is."""
    tile = source.tile
    if tile.order is Layout.ND and into.order is Layout.ND:
        yield from _row(source, into)
    elif tile.order is Layout.ZN and tile.dtype.bytes == 1:
        yield from _left_by_squares(source, into)
    else:
        turned = tile.order is Layout.ZN
        rows = 1 if tile.order is Layout.ND else round_up(into.rows, into.dtype.block if turned else FRACTAL_ROWS)
        depth = _depth(into)
        yield _matrix(source, (depth, rows) if turned else (rows, depth), turned)


def _depth(into: TileType) -> Index:
    """The K of a left operand as the product steps through it: what is valid of it, in whole fractals."""
    valid: Index = into.cols if into.valid is None else into.valid[1]
    unit = max(into.dtype.block, FRACTAL_ROWS)
    return mul(ceil_div(valid, unit), unit)


def into_right(source: Source, into: TileType) -> Iterator[Instr]:
    """The right operand [K, N]: rows of fractals that hold columns."""
    if source.tile.order is Layout.ZN:
        yield from _right_as_it_is(source, into)
    elif source.tile.dtype.bytes == 1:
        yield from _right_by_squares(source, into)
    else:
        rows = 1 if source.tile.order is Layout.ND else round_up(into.rows, FRACTAL_ROWS)
        yield _matrix(source, (rows, round_up(into.cols, FRACTAL_ROWS)), False)


def into_bias(source: Source, into: TileType) -> Iterator[Instr]:
    """The bias, one row of accumulators."""
    length = -(-into.cols * into.dtype.bytes // BIAS_UNIT)  # what is behind that is added to columns nobody stores
    yield Instr("DataCopy", (Ref("into"), Ref(source.name, source.col), Struct("DataCopyParams", (1, length, 0, 0))))


INTO: Mapping[Memory, Callable[[Source, TileType], Iterator[Instr]]] = {
    Memory.LEFT: into_left,
    Memory.RIGHT: into_right,
    Memory.BIAS: into_bias,
}
"""The recipe by destination."""


def _matrix(source: Source, counts: tuple[Index, Index], turned: bool) -> Instr:
    params = Struct("MatrixParams", (*source.stored, *source.start, *counts, turned))
    return Instr("LoadData", (Ref("into"), Ref(source.name), params))


def _row(source: Source, into: TileType) -> Iterator[Instr]:
    """A row as it is, 512 B at a time; what stands behind its end comes along and is not read."""
    each = FRACTAL_BYTES // into.dtype.bytes
    yield from _fractals(Ref("into"), Ref(source.name, source.col), -(-into.cols // each), each)


def _fractals(into: Ref, source: Ref, count: int, each: int) -> Iterator[Instr]:
    for first in range(0, count, MAX_REPEAT):
        repeat = min(MAX_REPEAT, count - first)
        params = Struct("LoadData2DParams", (0, repeat, 1, 0, 0, False, 0))
        ends = (Ref(r.name, add(r.offset, first * each)) for r in (into, source))
        yield Instr("LoadData", (*ends, params))


def _right_as_it_is(source: Source, into: TileType) -> Iterator[Instr]:
    rows, _ = source.stored
    block = into.dtype.block
    each = FRACTAL_ROWS * block
    depth, width = (n // unit for n, unit in zip(into.physical, (block, FRACTAL_ROWS), strict=True))
    row, col = source.start
    start = add(mul(floordiv(col, block), rows * block), mul(row, block))
    if row == 0 and width * FRACTAL_ROWS == rows:
        yield from _fractals(Ref("into"), Ref(source.name, start), depth * width, each)
        return
    for k in range(depth):
        ends = Ref("into", k * width * each), Ref(source.name, add(start, k * rows * block))
        yield from _fractals(*ends, width, each)


def _left_by_squares(source: Source, into: TileType) -> Iterator[Instr]:
    """Stored [K, M]: a call for each 32 columns of M, along as much of K as is valid."""
    rows, _ = source.stored
    row, col = source.start
    start = add(mul(floordiv(col, SQUARE), rows * SQUARE), mul(row, SQUARE))
    depth = floordiv(_depth(into), SQUARE)
    for m in range(into.physical[0] // SQUARE):
        params = Struct("LoadData2dTransposeParams", (0, depth, 1, 0, add(depth, -1)))
        ends = Ref("into", mul(depth, m * 2 * FRACTAL_BYTES)), Ref(source.name, add(start, m * rows * SQUARE))
        yield Instr("LoadDataWithTranspose", (*ends, params))


def _right_by_squares(source: Source, into: TileType) -> Iterator[Instr]:
    """Stored [K, N]: a call for each 32 rows of K, along N."""
    rows, _ = source.stored
    row, col = source.start
    start = add(mul(floordiv(col, SQUARE), rows * SQUARE), mul(row, SQUARE))
    width = into.physical[1] // SQUARE
    for k in range(into.physical[0] // SQUARE):
        params = Struct("LoadData2dTransposeParams", (0, width, rows // SQUARE, 1, 0))
        ends = Ref("into", k * 2 * width * FRACTAL_BYTES), Ref(source.name, add(start, k * SQUARE * SQUARE))
        yield Instr("LoadDataWithTranspose", (*ends, params))
