"""Which bytes strided accesses share, for a distance between them that is known exactly or only in part.

Written apart from `ir/access.py`, which the inserter leans on: a mistake there must not hide from the checker.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from math import gcd, lcm

from pypto_spec.ir.expr import Expr, Extremum, Index, Product, Quot, Sym, add, bounds, mul, substitute, sym, symbols
from pypto_spec.records import dataclass

ENUMERATION_LIMIT = 512
"""Pieces or distances that are tried one by one; beyond it two accesses count as overlapping."""
RESIDUE_LIMIT = 64
"""Combinations of residues of loop indices that are told apart for `i % N` and `i // N`."""


@dataclass(frozen=True, slots=True)
class Shape:
    """`width` bytes, repeated along each (count, stride), widest stride first; `extent` is its hull."""

    width: int
    steps: tuple[tuple[int, int], ...]
    extent: int


@lru_cache(maxsize=4096)
def shape(width: int, steps: tuple[tuple[int, int], ...]) -> Shape | None:
    """The bytes of a region in one form; None where it is empty."""
    if width <= 0 or any(count <= 0 for count, _ in steps):
        return None
    kept: list[tuple[int, int]] = []
    for count, stride in sorted(steps, key=lambda step: step[1]):
        if count == 1 or stride == 0:
            continue
        if not kept and stride <= width:
            width += (count - 1) * stride
        else:
            kept.append((count, stride))
    return Shape(width, tuple(reversed(kept)), width + sum((count - 1) * stride for count, stride in kept))


def _inner(a: Shape) -> Shape:
    count, stride = a.steps[0]
    return Shape(a.width, a.steps[1:], a.extent - (count - 1) * stride)


@lru_cache(maxsize=65536)
def touch(a: Shape, b: Shape, distance: int) -> bool:
    """Whether `a` at 0 and `b` at `distance` share a byte. Exact up to the enumeration limit, else True."""
    if distance >= a.extent or distance + b.extent <= 0:
        return False
    if not a.steps and not b.steps:
        return True
    if not a.steps or (b.steps and b.steps[0][1] > a.steps[0][1]):
        return touch(b, a, -distance)
    (count, stride), inner = a.steps[0], _inner(a)
    if b.steps and b.steps[0][1] == stride:
        other = _inner(b)
        if inner.extent <= stride and other.extent <= stride:
            rows, shift = divmod(distance, stride)
            return (-b.steps[0][0] < rows < count and touch(inner, other, shift)) or (
                -b.steps[0][0] < rows + 1 < count and touch(inner, other, shift - stride)
            )
    first = max(0, (distance - inner.extent) // stride + 1)
    last = min(count - 1, -((-distance - b.extent) // stride) - 1)
    if last - first >= ENUMERATION_LIMIT:
        return True
    return any(touch(inner, b, distance - k * stride) for k in range(first, last + 1))


@dataclass(frozen=True, slots=True)
class Distance:
    """Possible distances: `base + k * unit` within `low..high` (None: unbounded); `unit` 0 means exactly `base`."""

    base: int
    unit: int = 0
    low: int | None = None
    high: int | None = None


def may_touch(a: Shape, b: Shape, distance: Distance, shift: int, same: bool = False) -> bool:
    """Whether `a` at 0 and `b` at one of the distances plus `shift` share a byte; True where it cannot be told.

    With `same` it does not count where they are of the very same bytes.
    """
    base = distance.base + shift
    same = same and a == b
    if distance.unit == 0:
        return touch(a, b, base) and not (same and base == 0)
    low, high = 1 - b.extent, a.extent - 1
    if distance.low is not None:
        low = max(low, distance.low + shift)
    if distance.high is not None:
        high = min(high, distance.high + shift)
    first = low + (base - low) % distance.unit
    if first > high:
        return False
    if (high - first) // distance.unit < ENUMERATION_LIMIT:
        return any(touch(a, b, d) for d in range(first, high + 1, distance.unit) if d or not same)
    if a.steps and b.steps and a.steps[0][1] == b.steps[0][1]:
        stride, gap, need = a.steps[0][1], _inner(a).extent, _inner(b).extent
        apart = low // stride == high // stride and low % stride >= gap and high % stride + need <= stride
        return not apart
    return True


def _quotients(index: Index, found: list[Quot]) -> list[Quot]:
    if isinstance(index, Expr):
        stack = [atom for atom, _ in index.terms]
        while stack:
            atom = stack.pop()
            if isinstance(atom, Quot):
                found.append(atom)
                _quotients(atom.value, found)
            elif isinstance(atom, Product):
                stack += (atom.left, atom.right)
            elif isinstance(atom, Extremum):
                for item in atom.items:
                    _quotients(item, found)
    return found


def distances(difference: Index) -> tuple[Distance, ...]:
    """All values an index can have, as progressions. `i % N` is told apart by the residues of its symbols."""
    if isinstance(difference, int):
        return (Distance(difference),)
    quotients = _quotients(difference, [])
    if quotients:
        unit = lcm(*(q.by for q in quotients))
        inside = sorted({s for q in quotients for s in symbols(q.value)}, key=lambda s: s.serial)
        if unit > 1 and unit ** len(inside) <= RESIDUE_LIMIT:
            return tuple(
                dict.fromkeys(
                    _progression(substitute(difference, dict(zip(inside, residues, strict=True))))
                    for residues in product(*(_residues(s, unit) for s in inside))
                )
            )
    return (_progression(difference),)


def _residues(symbol: Sym, unit: int) -> list[Index]:
    """The values of a symbol as `unit * q + r`, one for each r that occurs."""
    found: list[Index] = []
    for r in range(unit):
        low = None if symbol.low is None else -((r - symbol.low) // unit)
        high = None if symbol.high is None else (symbol.high - r) // unit
        if low is None or high is None or low <= high:
            found.append(add(mul(sym(Sym(f"{symbol.name}/{unit}", symbol.kind, low, high)), unit), r))
    return found


def _progression(index: Index) -> Distance:
    if isinstance(index, int):
        return Distance(index)
    low, high = bounds(index)
    return Distance(index.const, gcd(*(c for _, c in index.terms)), low, high)
