"""Where the elements of a tensor in GM stand: dense rows, or at strides that the spec gives."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from pypto_spec.ir.expr import Index, add, bounds, mul, sub

MOST_ORDERS = 720
"""Orders of the dimensions that are tried; more dimensions than that allows count as overlapping."""


def dense(shape: Sequence[Index]) -> tuple[Index, ...]:
    """Elements between neighbours of each dimension of a row-major tensor without gaps."""
    result: list[Index] = [1]
    for extent in reversed(shape[1:]):
        result.append(mul(result[-1], extent))
    return tuple(reversed(result))


def span(shape: Sequence[Index], strides: Sequence[Index]) -> Index:
    """Elements from the first to the end of the last, of a tensor without an extent of 0."""
    last: Index = 0
    for extent, stride in zip(shape, strides, strict=True):
        last = add(last, mul(sub(extent, 1), stride))
    return add(last, 1)


def are_distinct(shape: Sequence[Index], strides: Sequence[Index]) -> bool:
    """Whether no two indices are known to name one element, whatever the symbols are.

    Known where the dimensions nest in some order: each steps over all that the ones inside it reach. Strides that keep
    elements apart without nesting count as overlapping.
    """
    kept = [(extent, stride) for extent, stride in zip(shape, strides, strict=True) if extent != 1]
    for number, order in enumerate(permutations(reversed(kept))):
        if number == MOST_ORDERS:
            return False
        if _nests(order):
            return True
    return False


def _nests(order: Sequence[tuple[Index, Index]]) -> bool:
    reach: Index = 1
    for extent, stride in order:
        low = bounds(sub(stride, reach))[0]
        if low is None or low < 0:
            return False
        reach = add(reach, mul(sub(extent, 1), stride))
    return True
