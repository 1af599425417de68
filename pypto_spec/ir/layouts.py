"""Memory spaces, the orders in which tiles are stored in them, and how far a tile is rounded up there.

The cube reads fractals of 512 B: 16 rows of C0 elements, C0 = 32 B / element (`DType.block`). In

* `nz` (L1, L0C) columns of fractals stand one behind the other, each of all rows of the tile;
* `zz` (L0A) rows of fractals stand one behind the other;
* `zn` (L0B) fractals hold C0 rows of 16 columns, column by column; rows of fractals stand one behind the other. An
  `nz` tile in L1 seen with its axes exchanged is `zn` without a byte being moved.

The accumulators of L0C are 4 bytes wide in any case: its columns of boxes are 16 x 16.

Sources: Ascend C guide, data layouts of the cube; LoadData, LoadDataWithTranspose (squares of 16 x 16 or 32 x 32
elements, which round 4-byte types to 16 along K and 1-byte types to 32), Mmad, Fixpipe.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum

from pypto_spec.ir.dtype import DType

FRACTAL_BYTES = 512
"""A fractal: 16 rows of 32 B."""
FRACTAL_ROWS = 16
"""Rows of a fractal, and columns of a box of accumulators."""


class Memory(Enum):
    """Memory spaces, by their names in specs."""

    GM = "gm"
    VEC = "vec"
    MAT = "mat"
    LEFT = "left"
    RIGHT = "right"
    ACC = "acc"
    BIAS = "bias"


CUBE_MEMORIES = frozenset({Memory.MAT, Memory.LEFT, Memory.RIGHT, Memory.ACC, Memory.BIAS})
"""The memories of the cube core; `vec` is the vector core's."""


class Layout(Enum):
    """Storage order of a tile: rows (`nd`), columns (`dn`, a dense [N, 1] vector), or fractal orders of the cube."""

    ND = "nd"
    DN = "dn"
    NZ = "nz"
    ZN = "zn"
    ZZ = "zz"


FRACTAL_LAYOUTS = frozenset({Layout.NZ, Layout.ZN, Layout.ZZ})

_CUBE: Mapping[Memory, Layout] = {
    Memory.MAT: Layout.NZ,
    Memory.LEFT: Layout.ZZ,
    Memory.RIGHT: Layout.ZN,
    Memory.ACC: Layout.NZ,
    Memory.BIAS: Layout.ND,
}

_AS_ROW = frozenset({Memory.MAT, Memory.LEFT})
"""Memories where a single row is dense: a bias, or the vector of a GEMV."""


def implicit_layout(memory: Memory | None, rows: int, cols: int) -> Layout:
    """The layout of a tile of which none is written."""
    found = None if memory is None else _CUBE.get(memory)
    if found is None:
        return Layout.DN if cols == 1 and rows > 1 else Layout.ND
    return Layout.ND if rows == 1 and memory in _AS_ROW else found


def round_up(value: int, unit: int) -> int:
    """The smallest multiple of `unit` that is not below `value`."""
    return -(-value // unit) * unit


def _rows(dtype: DType) -> int:
    """What rows are rounded to where squares of fractals are turned round: 32 for 1-byte types."""
    return 2 * FRACTAL_ROWS if dtype.bytes == 1 else FRACTAL_ROWS


def _cols(dtype: DType) -> int:
    """What columns are rounded to: C0, 16 for 4-byte types, whose squares are two fractals."""
    return max(dtype.block, FRACTAL_ROWS)


def _in_bytes(count: int) -> Callable[[DType], int]:
    return lambda dtype: max(count // dtype.bytes, 1)


def _one(dtype: DType) -> int:
    return 1


def _acc_cols(dtype: DType) -> int:
    """Columns of accumulators, and of a bias: 32 for int32, since int8 operands fill two boxes at a time."""
    return FRACTAL_ROWS if dtype.is_float else 2 * FRACTAL_ROWS


def _fractal_rows(dtype: DType) -> int:
    return FRACTAL_ROWS


_BOXES: Mapping[tuple[Memory, Layout], tuple[Callable[[DType], int], Callable[[DType], int]]] = {
    (Memory.MAT, Layout.NZ): (_rows, _cols),
    (Memory.MAT, Layout.ZN): (_cols, _rows),
    (Memory.MAT, Layout.ND): (_one, _in_bytes(FRACTAL_BYTES)),
    (Memory.LEFT, Layout.ZZ): (_rows, _cols),
    (Memory.LEFT, Layout.ND): (_one, _in_bytes(FRACTAL_BYTES)),
    (Memory.RIGHT, Layout.ZN): (_cols, _rows),
    (Memory.ACC, Layout.NZ): (_fractal_rows, _acc_cols),
    (Memory.BIAS, Layout.ND): (_one, _acc_cols),
}
"""What rows and columns of a tile are rounded up to, by memory and layout."""


def box(memory: Memory, layout: Layout, dtype: DType) -> tuple[int, int] | None:
    """Rows and columns of the box a tile is rounded up to; None where that memory has no such layout."""
    found = _BOXES.get((memory, layout))
    return None if found is None else (found[0](dtype), found[1](dtype))


def layouts_of(memory: Memory) -> tuple[Layout, ...]:
    """The layouts tiles of the cube may have in a memory."""
    return tuple(layout for where, layout in _BOXES if where is memory)
