"""Tiles that nothing on chip can hold: refused where they are met, before anything is counted row by row."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_spec.diagnostics.model import CompileError, diagnose
from pypto_spec.diagnostics.rules.memory import CAPACITY
from pypto_spec.diagnostics.span import Span
from pypto_spec.ir.dtype import DType
from pypto_spec.ir.types import Memory, TileType
from pypto_spec.targets import TARGETS

LARGEST = max(size for target in TARGETS.values() for size in target.capacity.values())
"""Bytes of the largest on-chip memory of any target."""

HOPELESS = 2 * LARGEST
"""Bytes above which a tile is refused at once. Below, the memory passes say who else needs room."""


def is_too_large(dtype: DType, shape: Sequence[int], memory: Memory | None = None) -> bool:
    """Whether a tile of that shape is out of the question; an accumulator never is, which is cut where it leaves."""
    return memory is not Memory.ACC and TileType(dtype, tuple(shape)).bytes > HOPELESS


class TooLargeError(CompileError):
    """A tile that is out of the question; `bytes` is what it would take."""

    def __init__(self, dtype: DType, shape: Sequence[int], span: Span) -> None:
        tile = TileType(dtype, tuple(shape))
        self.bytes = tile.bytes
        figures = (self.bytes, LARGEST, self.bytes - LARGEST)
        super().__init__([
            diagnose(
                CAPACITY,
                span,
                f"a tile {tile} takes {tile.bytes:,} B, the largest on-chip memory has {LARGEST:,} B",
                label="too large for any on-chip memory",
                helps=["use smaller tiles, or load less at a time in a loop"],
                figures=list(zip(("needed_bytes", "available_bytes", "excess_bytes"), figures, strict=True)),
            )
        ])  # fmt: skip
