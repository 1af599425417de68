"""The terms of a formula while it is read, and how shapes fit each other."""

from __future__ import annotations

from typing import cast

from pypto_spec.convert.formula_place import Stretch
from pypto_spec.ir.dtype import DType
from pypto_spec.ir.nodes import Value
from pypto_spec.ops.registry import Operand
from pypto_spec.records import dataclass


@dataclass(frozen=True, slots=True)
class Number:
    """A literal, a constant, or what they fold to."""

    value: int | float
    at: Stretch


@dataclass(frozen=True, slots=True)
class Scalar:
    """A run-time scalar."""

    value: Value
    at: Stretch


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile, array or tensor. `dtype` is the one it counts as: bf16 where it is a bf16 result still held in fp32."""

    value: Value
    dtype: DType
    at: Stretch

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents; those of a tensor with run-time ones are refused by the op that uses it."""
        return cast("tuple[int, ...]", getattr(self.value.type, "shape", ()))


Term = Number | Scalar | Tile


def spread_kinds(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[Operand, Operand] | None:
    """What two shapes are to each other: equal, or one of them a [M, 1] or [1, N] vector of the other; else None."""
    if a == b:
        return "tile", "tile"
    if len(a) != len(b) or len(a) < 2:
        return None
    if b == (*a[:-1], 1):
        return "tile", "row"
    if a == (*b[:-1], 1):
        return "row", "tile"
    ones = (1,) * (len(a) - 1)
    if b == (*ones, 1) or a == (*ones, 1):
        return ("tile", "row") if b == (*ones, 1) else ("row", "tile")  # the row operators spread one element too
    if b == (*ones, a[-1]):
        return "tile", "col"
    if a == (*ones, b[-1]):
        return "col", "tile"
    return None


def spread_help(a: tuple[int, ...], b: tuple[int, ...]) -> str:
    """A way out where two shapes do not fit; a vector that lacks leading axes only is told which it should have."""
    short, long = sorted((a, b), key=len)
    padded = (1,) * (len(long) - len(short)) + short
    if len(short) < len(long) and spread_kinds(padded, long) is not None:
        return f"leading axes are written out: give it the shape {list(padded)}, which is spread over {list(long)}"
    return "shapes must be equal, or one of them [M, 1] or [1, N] beside [M, N]"
