"""Where on chip values and scratch stand, in bytes of their memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pypto_spec.ir.expr import Index, bounds
from pypto_spec.ir.nodes import Buffer, BufferRef, Op, Value
from pypto_spec.ir.recipe import OpRecipe
from pypto_spec.ir.types import TileType
from pypto_spec.report.map.lives import Scratch
from pypto_spec.report.map.model import Range


class Places:
    """Byte ranges by the addresses of a program's buffers; of what has no address yet there are none."""

    def __init__(self, buffers: Mapping[str, Buffer], precision: Literal["exact", "fast"]) -> None:
        self.buffers = {name: b for name, b in buffers.items() if b.address is not None and b.bytes is not None}
        self.precision: Literal["exact", "fast"] = precision
        self._sizes: dict[Op, tuple[int, ...]] = {}

    def value(self, value: Value) -> tuple[Range, ...]:
        """The bytes of a value: one range for each slot it may be in."""
        assert value.buffer is not None
        size = value.type.bytes if isinstance(value.type, TileType) else 0
        return self._ranges(value.buffer, size)

    def scratch(self, area: Scratch) -> tuple[Range, ...]:
        """The bytes of a scratch area, as many as the recipe asks for."""
        sizes = self._sizes.get(area.op)
        if sizes is None:
            sizes = self._sizes[area.op] = area.op.defn.scratch(OpRecipe(area.op, self.precision))
        buffer = self.buffers.get(area.ref.buffer)
        whole = buffer.bytes or 0 if buffer is not None else 0
        return self._ranges(area.ref, sizes[area.number] if area.number < len(sizes) else whole)

    def one_memory(self, first: str, second: str) -> bool:
        """Whether two buffers are in one memory."""
        return self.buffers[first].memory is self.buffers[second].memory

    def _ranges(self, ref: BufferRef, size: int) -> tuple[Range, ...]:
        buffer = self.buffers.get(ref.buffer)
        if buffer is None:
            return ()
        assert buffer.address is not None and buffer.bytes is not None
        low, high = _limits(ref.offset, 0, max(0, buffer.bytes - size))
        first, last = _limits(0 if ref.slot is None else ref.slot, 0, buffer.slots - 1)
        starts = [buffer.address + slot * buffer.bytes for slot in range(first, last + 1)]
        return tuple((start + low, start + high + size) for start in starts)


def _limits(index: Index, low: int, high: int) -> Range:
    """The bounds of an index; `low` and `high` where it has none, or wider ones."""
    if isinstance(index, int):
        return index, index
    least, most = bounds(index)
    return max(low, least if least is not None else low), min(high, most if most is not None else high)


def overlap(some: Sequence[Range], others: Sequence[Range]) -> Range | None:
    """The first bytes that two places may have in common."""
    for low, high in some:
        for start, end in others:
            if max(low, start) < min(high, end):
                return max(low, start), min(high, end)
    return None


def scratch_name(area: Scratch) -> str:
    """How a scratch area is called: by its statement, with a number where that has several."""
    number = f" {area.number + 1}" if len(area.op.scratch) > 1 else ""
    return f"scratch{number} of {area.op.name}"
