"""Byte ranges of strided accesses: what one operand of a vector or copy instruction touches.

Lengths and strides are in bytes. Run-time counts and lengths are replaced by their upper bounds, so that a range never
covers less than what the instruction touches.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pypto_spec.ir.dtype import BLOCK_BYTES
from pypto_spec.ir.expr import Index, add, bounds, mul
from pypto_spec.ir.instr import Ref, Region
from pypto_spec.ir.nodes import Pipe

UNBOUNDED = 1 << 48
"""Bytes that stand for "no known end"; larger than any memory."""


class Access(NamedTuple):
    """`width` bytes at `base` bytes from the operand's start, repeated along each (count, stride).

    `ordered` is as in `Region`.
    """

    ref: Ref
    size: int
    width: int
    steps: tuple[tuple[int, int], ...]
    write: bool
    base: Index = 0
    ordered: frozenset[Pipe] = frozenset()

    def region(self) -> Region | None:
        """The bytes, with neighbouring runs merged; None where nothing is touched."""
        width, steps = self.width, self.steps
        if width <= 0:
            return None
        if steps:
            if any(count <= 0 for count, _ in steps):
                return None
            width, steps = merged(width, steps)
        base = add(mul(self.ref.offset, self.size), self.base)
        return Region(self.ref.name, base, width, steps, self.write, self.ordered)


def merged(width: int, steps: tuple[tuple[int, int], ...]) -> tuple[int, tuple[tuple[int, int], ...]]:
    """The same bytes with as few dimensions as possible: runs that touch become one."""
    kept: list[tuple[int, int]] = []
    for count, stride in sorted(steps, key=lambda step: step[1]):
        if count == 1 or stride == 0:
            continue
        if not kept and stride <= width:
            width += (count - 1) * stride
        elif kept and stride == kept[-1][0] * kept[-1][1]:
            kept[-1] = (kept[-1][0] * count, kept[-1][1])
        else:
            kept.append((count, stride))
    return width, tuple(kept)


def high(value: Index, unknown: int = UNBOUNDED) -> int:
    """The upper bound of an index, `unknown` where it has none."""
    top = bounds(value)[1]
    return unknown if top is None else top


def run(ref: Ref, size: int, count: int, write: bool) -> Access:
    """`count` elements one after the other."""
    return Access(ref, size, count * size, (), write)


def lanes(
    ref: Ref, size: int, mask: int, repeat: int, block_stride: int, repeat_stride: int, write: bool
) -> Iterator[Access]:
    """The first `mask` elements of each repeat; strides in 32 B blocks, start to start, 0 re-reads."""
    step = (repeat, repeat_stride * BLOCK_BYTES)
    each = BLOCK_BYTES // size
    if block_stride == 1:
        yield Access(ref, size, mask * size, (step,), write)
        return
    full, tail = divmod(mask, each)
    if full:
        yield Access(ref, size, BLOCK_BYTES, ((full, block_stride * BLOCK_BYTES), step), write)
    if tail and not (full and block_stride == 0):
        yield Access(ref, size, tail * size, (step,), write, base=full * block_stride * BLOCK_BYTES)


def blocks(ref: Ref, size: int, count: Index, width: Index, stride: Index, write: bool) -> Access:
    """`count` runs of `width` bytes, `stride` bytes from start to start; any of them may be known at run time only."""
    number, length = high(count), high(width)
    if isinstance(stride, int) and number < UNBOUNDED:
        return Access(ref, size, length, ((number, stride),), write)
    if number == 1:
        return Access(ref, size, length, (), write)
    return Access(ref, size, min((number - 1) * high(stride) + length, UNBOUNDED), (), write)
