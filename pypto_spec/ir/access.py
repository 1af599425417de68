"""Byte regions of instructions at their final addresses, and whether two of them can touch the same byte."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from pypto_spec.ir.expr import Expr, Index, Sym, add, bounds, mul, sub, substitute
from pypto_spec.ir.instr import Region
from pypto_spec.ir.nodes import Buffer, BufferRef, Op, Pipe, Value
from pypto_spec.ir.recipe import OpRecipe
from pypto_spec.ir.types import TensorType
from pypto_spec.records import dataclass

Steps = tuple[tuple[int, int], ...]
"""Repetitions: (count, stride) each."""

ENUMERATION_LIMIT = 4096
"""Pieces up to which two strided regions are compared byte by byte; beyond it their hulls decide."""


@dataclass(frozen=True, slots=True)
class Access:
    """`width` bytes at byte `base` of a space, repeated along each (count, stride).

    `space` is the name of an on-chip memory, or the tensor argument for GM; `ordered` is as in `Region`.
    """

    space: str | Value
    base: Index
    width: int
    steps: Steps
    write: bool
    ordered: frozenset[Pipe] = frozenset()

    @property
    def extent(self) -> int:
        """Bytes from the first touched byte to behind the last."""
        extent = self.width
        for count, stride in self.steps:
            extent += (count - 1) * stride
        return extent

    def moved(self, values: Mapping[Sym, Index]) -> Access:
        """The same access with symbols replaced."""
        if isinstance(self.base, int):
            return self
        return self.at(substitute(self.base, values))

    def at(self, base: Index) -> Access:
        """The same access at another place."""
        return Access(self.space, base, self.width, self.steps, self.write, self.ordered)


def place(ref: BufferRef, buffers: Mapping[str, Buffer]) -> tuple[str, Index]:
    """Memory name and byte address of a buffer reference; the buffer must have its address."""
    buffer = buffers[ref.buffer]
    assert buffer.address is not None, f"buffer {ref.buffer} has no address yet"
    address: Index = add(buffer.address, ref.offset)
    if ref.slot is not None:
        assert buffer.bytes is not None
        address = add(address, mul(ref.slot, buffer.bytes))
    return buffer.memory.value, address


def locate(op: Op, operand: str, buffers: Mapping[str, Buffer]) -> tuple[str | Value, Index]:
    """Space and byte address at which an operand of an op starts (`scratch`, `scratch.1` ... included)."""
    if operand == "scratch" or operand.startswith("scratch."):
        number = int(operand[8:]) if operand != "scratch" else 0
        return place(op.scratch[number], buffers)
    value = OpRecipe(op, "exact").value(operand)
    if isinstance(value.type, TensorType):
        return value, 0
    assert value.buffer is not None, f"{value.name} has no buffer yet"
    return place(value.buffer, buffers)


def accesses(op: Op, regions: Iterable[Region], buffers: Mapping[str, Buffer]) -> list[Access]:
    """The regions of one instruction of `op` at their final places."""
    found: list[Access] = []
    where: dict[str, tuple[str | Value, Index]] = {}
    for region in regions:
        start = where.get(region.operand)
        if start is None:
            start = where[region.operand] = locate(op, region.operand, buffers)
        base = add(start[1], region.base)
        found.append(Access(start[0], base, region.width, region.steps, region.write, region.ordered))
    return found


def _pieces(steps: Steps) -> int:
    total = 1
    for count, _ in steps:
        total *= count
    return total


def _starts(steps: Steps, first: int) -> list[int]:
    starts = [first]
    for count, stride in steps:
        starts = [s + k * stride for k in range(count) for s in starts]
    return sorted(starts)


def _touch(a: Access, b: Access, shift: int) -> bool:
    """Whether `a` at 0 and `b` at `shift` share a byte."""
    if shift >= a.extent or shift + b.extent <= 0:
        return False
    if not a.steps and not b.steps:
        return True
    return _pieces_touch(a.width, a.steps, b.width, b.steps, shift)


@lru_cache(maxsize=1 << 14)
def _pieces_touch(left_width: int, left_steps: Steps, right_width: int, right_steps: Steps, shift: int) -> bool:
    """The same piece by piece; a pass over a loop asks the same again and again."""
    if _pieces(left_steps) > ENUMERATION_LIMIT or _pieces(right_steps) > ENUMERATION_LIMIT:
        return True
    left, right = _starts(left_steps, 0), _starts(right_steps, shift)
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] + left_width <= right[j]:
            i += 1
        elif right[j] + right_width <= left[i]:
            j += 1
        else:
            return True
    return False


def overlap(a: Access, b: Access) -> bool:
    """Whether two accesses can share a byte for some values of their symbols.

    Equal symbols stand for equal values: for another iteration of a loop move one of them first (`next_iteration`).
    Exact where the distance of the bases is constant; otherwise decided by the bounds of that distance.
    """
    if a.space is not b.space and a.space != b.space:
        return False
    if isinstance(a.base, int) and isinstance(b.base, int):  # as `sub` says, without asking it
        return _touch(a, b, b.base - a.base)
    distance = sub(b.base, a.base)
    if isinstance(distance, int):
        return _touch(a, b, distance)
    low, high = bounds(distance)
    return not ((low is not None and low >= a.extent) or (high is not None and high + b.extent <= 0))


def ordered(a: Access, pipe: Pipe, b: Access, other: Pipe) -> bool:
    """Whether the hardware itself lets one of two accesses wait for the other, on these pipes, where they overlap.

    Only where they are of the very same bytes, and both say so of the other's pipe.
    """
    if other not in a.ordered or pipe not in b.ordered:
        return False
    return a.width == b.width and a.steps == b.steps and (a.base == b.base or sub(a.base, b.base) == 0)


def next_iteration(index: Sym, step: Index, trips: int | None, inner: Iterable[Sym]) -> dict[Sym, Index]:
    """Symbols of a later iteration of a loop: its index some steps on, indices of loops inside it set free.

    `trips` is the trip count where known: the later iteration is then at most `trips - 1` steps ahead.
    """
    ahead = Sym(f"{index.name}'", "loop", 1, None if trips is None else max(trips - 1, 1))
    values: dict[Sym, Index] = {s: Expr(((Sym(f"{s.name}'", s.kind, s.low, s.high), 1),), 0) for s in inner}
    here = Expr(((index, 1),), 0)
    values[index] = add(here, mul(Expr(((ahead, 1),), 0), step))
    return values
