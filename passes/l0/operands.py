"""Operands that were put into L0A or L0B by hand: one that is larger than its memory cannot be helped by any plan."""

from __future__ import annotations

from pypto_spec.ir.layouts import Memory
from pypto_spec.ir.types import TileType
from pypto_spec.records import dataclass
from pypto_spec.targets.model import Target


@dataclass(frozen=True, slots=True)
class TooLarge:
    """An operand that is larger than its memory, in bytes. `k` is the largest extent of K with which it fits, or 0."""

    needed: int
    available: int
    k: int


def too_large(target: Target, tile: TileType) -> TooLarge | None:
    """Whether a tile in `left` or `right` is larger than all of its memory; None if it fits."""
    assert tile.memory is not None
    available = target.capacity[tile.memory]
    if tile.bytes <= available:
        return None
    rows, columns = tile.physical
    across = (rows if tile.memory is Memory.LEFT else columns) * tile.dtype.bytes
    unit = target.l0.fractal if tile.dtype.bytes > 1 else tile.dtype.block
    return TooLarge(tile.bytes, available, available // across // unit * unit)
