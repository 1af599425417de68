"""Where the operand of a matmul stands: a window of a tile in L1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pypto_spec.ir.expr import Index, add, maximum, minimum, mod, sub
from pypto_spec.ir.nodes import Op, Value
from pypto_spec.ir.types import Memory, TileType
from pypto_spec.ops.cube.copies import steps_of_window
from pypto_spec.passes.making import in_memory
from pypto_spec.records import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """Elements along an axis: where they start, and how many there are."""

    start: Index
    extent: int

    def of(self, valid: Index) -> Index:
        """How many of them are defined, where `valid` elements from 0 on are."""
        return minimum(self.extent, maximum(0, sub(valid, self.start)))


@dataclass(frozen=True, slots=True)
class Window:
    """Rows and columns of `tile` from (`row`, `col`) on; `shape` and `valid` are those of the window."""

    tile: Value
    row: Index
    col: Index
    shape: tuple[int, int]
    valid: tuple[Index, Index]

    @property
    def kind(self) -> TileType:
        """The type of the tile that the window is cut from, in L1."""
        kind = self.tile.type
        assert isinstance(kind, TileType)
        return in_memory(kind, Memory.MAT)

    @property
    def is_whole(self) -> bool:
        """Whether the window is the tile."""
        return (self.row, self.col) == (0, 0) and self.shape == self.kind.shape

    @property
    def units(self) -> tuple[int, int]:
        """On multiples of how many rows and columns of it a part of the window may start."""
        return steps_of_window(self.kind)

    def part(self, rows: Part, cols: Part) -> Window:
        """A part of the window."""
        return Window(
            self.tile,
            add(self.row, rows.start),
            add(self.col, cols.start),
            (rows.extent, cols.extent),
            (rows.of(self.valid[0]), cols.of(self.valid[1])),
        )

    def moved(self, tile: Value) -> Window:
        """The same window of what now stands for the tile."""
        return self if tile is self.tile else replace(self, tile=tile)


def window_of(value: Value, makers: Mapping[Value, Op]) -> Window | None:
    """The window of a tile in L1 that a value is; None for one that stands elsewhere, or inside a fractal.

    A tile whose memory is not known yet is taken for one in L1. Windows of windows are windows of the tile.
    """
    kind = value.type
    assert isinstance(kind, TileType)
    valid = kind.shape if kind.valid is None else kind.valid
    row: Index = 0
    col: Index = 0
    while (maker := makers.get(value)) is not None and maker.name == "slice":
        at = maker.attrs["at"]
        assert isinstance(at, tuple)
        row, col, value = add(row, at[0]), add(col, at[1]), maker.operands["x"]
    base = value.type
    assert isinstance(base, TileType)
    if base.memory not in (None, Memory.MAT) or len(base.shape) != 2:
        return None
    made = Window(value, row, col, (kind.shape[0], kind.shape[1]), (valid[0], valid[1]))
    if any(mod(start, unit) != 0 for start, unit in zip((row, col), made.units, strict=True)):
        return None
    return made
