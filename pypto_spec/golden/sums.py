"""How far a sum of products may be off because it was added up in fp32.

A product of matrices adds K terms one after the other in fp32; the reference adds them in fp64. Each addition is off by
half a unit in the last place of the partial sum at most. Taken as independent, the error of an element is about
`2**-24 * K * rms(a) * rms(b)` (K additions to a sum that grows with the square root of K); eight times that is allowed.
A term that is missing, or one too many, is off by `rms(a) * rms(b)`, which is far more for any K below a million.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

UNIT = 2.0**-24
"""Half a unit in the last place of fp32, relative."""
MARGIN = 8
"""How many times the expected error is allowed; the largest of many elements is some four times it."""

_FOUND: ContextVar[list[float] | None] = ContextVar("sums", default=None)


@contextmanager
def recorded() -> Iterator[list[float]]:
    """Collects what the products evaluated inside may be off."""
    found: list[float] = []
    token = _FOUND.set(found)
    try:
        yield found
    finally:
        _FOUND.reset(token)


def record(lhs: Any, rhs: Any) -> None:
    """Note a product of two tensors of floats, as the reference takes them."""
    found = _FOUND.get()
    if found is None or not lhs.dtype.is_floating_point or 0 in ((~lhs.isnan()).sum(), (~rhs.isnan()).sum()):
        return
    depth = lhs.shape[-1]
    sizes = (float(t[~t.isnan()].square().mean().sqrt()) for t in (lhs, rhs))  # what is undefined holds NaN
    size = 1.0
    for one in sizes:
        size *= one
    found.append(MARGIN * UNIT * depth * size)
