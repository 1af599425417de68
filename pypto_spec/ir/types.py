"""Types of values: tiles on chip, arrays at tensor level, tensors in GM, scalars."""

from __future__ import annotations

from enum import Enum
from math import prod

from pypto_spec.ir.dtype import BLOCK_BYTES, DType
from pypto_spec.ir.expr import Index
from pypto_spec.ir.layouts import CUBE_MEMORIES, Layout, Memory, box, implicit_layout, round_up
from pypto_spec.records import dataclass

__all__ = [
    "Access",
    "ArrayType",
    "Layout",
    "Memory",
    "ScalarType",
    "TensorType",
    "TileType",
    "ValueType",
    "round_up",
]


class Access(Enum):
    """What a program does with a tensor argument."""

    IN = "in"
    OUT = "out"
    INOUT = "inout"


@dataclass(frozen=True, slots=True)
class TileType:
    """A tile on chip.

    `shape` is in elements, static, two-dimensional after FlattenTileNdTo2D. `layout` None means the implicit one:
    a [N, 1] tile with N > 1 in `vec` is a dense column vector (`dn`), all else in `vec` is row by row (`nd`) with each
    row starting on a 32 B boundary; in the memories of the cube it is a fractal order (see `layouts`). `pitch` is the
    distance between rows in elements where it is not the implicit one (a column window of a wider tile). `valid` is the
    defined extent where it is smaller than the shape.
    """

    dtype: DType
    shape: tuple[int, ...]
    memory: Memory | None = None
    layout: Layout | None = None
    valid: tuple[Index, ...] | None = None
    pitch: int | None = None

    @property
    def rows(self) -> int:
        shape = self.shape
        return shape[0] if len(shape) == 2 else prod(shape[:-1])

    @property
    def cols(self) -> int:
        return self.shape[-1]

    @property
    def order(self) -> Layout:
        """The layout in force, the implicit one where none is written."""
        if self.layout is not None:
            return self.layout
        return implicit_layout(self.memory, self.rows, self.shape[-1])

    @property
    def is_boxed(self) -> bool:
        """Whether the tile stands in a memory of the cube, rounded up to whole boxes."""
        return self.memory in CUBE_MEMORIES

    @property
    def physical(self) -> tuple[int, int]:
        """Rows and columns that a tile of the cube takes in its memory, rounded up to whole boxes."""
        assert self.memory is not None
        sides = box(self.memory, self.order, self.dtype)
        assert sides is not None, f"{self} in {self.memory.value} has no layout {self.order.value}"
        return round_up(self.rows, sides[0]), round_up(self.shape[-1], sides[1])

    @property
    def row_pitch(self) -> int:
        """Elements from the start of a row to the start of the next (1 for a dense column vector)."""
        if self.pitch is not None:
            return self.pitch
        return 1 if self.order is Layout.DN else self._padded_row

    @property
    def _padded_row(self) -> int:
        return round_up(self.shape[-1], self.dtype.block)

    @property
    def is_dense(self) -> bool:
        """Whether the rows follow each other without a foreign element between (padding to 32 B may stand there)."""
        return self.pitch is None or self.rows == 1 or self.pitch == self._padded_row

    @property
    def span_elements(self) -> int:
        """Elements from the first to the end of the last row, padding included: what one count-form call covers."""
        rows = self.rows
        if self.is_boxed:
            return prod(self.physical)
        if self.order is Layout.DN:
            return rows
        if self.pitch is not None:
            return (rows - 1) * self.pitch + self._padded_row
        return rows * self._padded_row if rows > 1 else self.shape[-1]

    @property
    def bytes(self) -> int:
        """Bytes the tile takes on chip, rounded up to a 32 B block."""
        return round_up(self.span_elements * self.dtype.bytes, BLOCK_BYTES)

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


@dataclass(frozen=True, slots=True)
class ArrayType:
    """A whole array at tensor level: it has no place on chip until it is chunked into tiles."""

    dtype: DType
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


@dataclass(frozen=True, slots=True)
class TensorType:
    """A tensor argument in GM. A dimension may be a run-time symbol.

    Row-major and dense, or with `pitches`: elements between neighbours of each dimension.
    """

    dtype: DType
    shape: tuple[Index, ...]
    access: Access
    pitches: tuple[Index, ...] | None = None

    @property
    def elements(self) -> Index:
        """Elements from the first to the end of the last."""
        from pypto_spec.ir.expr import mul
        from pypto_spec.ir.strides import span

        if self.pitches is not None:
            return span(self.shape, self.pitches)
        count: Index = 1
        for extent in self.shape:
            count = mul(count, extent)
        return count

    @property
    def strides(self) -> tuple[Index, ...]:
        """Elements between neighbours of each dimension."""
        from pypto_spec.ir.strides import dense

        return dense(self.shape) if self.pitches is None else self.pitches

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A run-time scalar argument."""

    dtype: DType

    def __str__(self) -> str:
        return str(self.dtype)


ValueType = TileType | ArrayType | TensorType | ScalarType
