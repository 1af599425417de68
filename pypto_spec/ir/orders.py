"""The order in which the cells of a grid are walked: from a place in that order to the indices of a cell.

`row`: the last index runs fastest. `col`: the last but one does. `swizzle:n`: rows are taken in groups of n, and a
group is walked column by column, so that cells next to each other in the order share rows and columns: what blocks side
by side read is read from L2 by several of them. The last group has the MT % n rows that are left. It is walked in the
same way where MT is known at compile time, and row by row where it is not, because a divisor must be a constant.
Indices before the last two run slowest. All are permutations of the cells, whatever the counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from pypto_spec.ir.expr import Index, add, floordiv, mod, mul, sub
from pypto_spec.ir.nodes import Condition
from pypto_spec.records import dataclass


class RunTimeCountError(Exception):
    """An order would have to divide by a count that is known at run time only: that of index number `axis`."""

    def __init__(self, axis: int) -> None:
        super().__init__(f"the count of index {axis} is not known at compile time")
        self.axis = axis


@dataclass(frozen=True, slots=True)
class Cell:
    """The indices of a cell: `first` where `condition` holds or is None, else `rest`."""

    first: tuple[Index, ...]
    condition: Condition | None = None
    rest: tuple[Index, ...] = ()


def cells(counts: Sequence[Index]) -> Index:
    """The number of cells."""
    total: Index = 1
    for count in counts:
        total = mul(total, count)
    return total


def cell(order: str | None, counts: Sequence[Index], place: Index) -> Cell:
    """The cell at a place of the order, which is below the number of cells.

    Raises RunTimeCountError where a count must be known at compile time and is not.
    """
    kind, _, size = (order or "row").partition(":")
    axes = len(counts)
    if axes == 1:
        return Cell((place,))
    if 1 in counts[-2:]:  # one row or one column has one order
        kind = "row"
    if kind == "swizzle" and size != "1":
        return _swizzled(int(size), counts, place)
    turned = [*range(axes - 2), axes - 1, axes - 2] if kind == "col" else list(range(axes))
    found = _rows([counts[axis] for axis in turned], place, turned)
    return Cell(tuple(found[turned.index(axis)] for axis in range(axes)))


def _rows(counts: Sequence[Index], place: Index, axes: Sequence[int]) -> list[Index]:
    """Indices of a place where the last one runs fastest; `axes` are their numbers, for errors."""
    known = [_known(count, axis) for count, axis in zip(counts[1:], axes[1:], strict=True)]
    made = [floordiv(place, prod(known))]
    for number, count in enumerate(known):
        made.append(mod(floordiv(place, prod(known[number + 1 :])), count))
    return made


def _swizzled(size: int, counts: Sequence[Index], place: Index) -> Cell:
    *outer, rows, columns = counts
    axes = len(counts)
    wide = _known(columns, axes - 1)
    lead: tuple[Index, ...] = ()
    if outer:
        area = _known(rows, axes - 2) * wide
        lead = tuple(_rows([*outer, area], place, range(axes - 1))[:-1])
        place = mod(place, area)
    whole, left = floordiv(rows, size), mod(rows, size)
    inside = mod(place, size * wide)
    first = (*lead, add(mul(floordiv(place, size * wide), size), mod(place, size)), floordiv(inside, size))
    if left == 0:
        return Cell(first)
    bound = mul(whole, size * wide)
    if isinstance(left, int):
        behind = sub(place, bound)
        rest = (*lead, add(mul(whole, size), mod(behind, left)), floordiv(behind, left))
    else:
        rest = (*lead, floordiv(place, wide), mod(place, wide))
    return Cell(rest) if bound == 0 else Cell(first, Condition("<", place, bound), rest)


def _known(count: Index, axis: int) -> int:
    if isinstance(count, int):
        return count
    raise RunTimeCountError(axis)
