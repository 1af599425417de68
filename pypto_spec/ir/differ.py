"""In what two types differ, for messages about values that must have one type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pypto_spec.ir.expr import to_text
from pypto_spec.ir.types import ArrayType, ScalarType, TensorType, TileType, ValueType


class Difference(NamedTuple):
    """Two types, spelt so that they can be told apart, and what they differ in."""

    first: str
    second: str
    what: str


_KINDS: Mapping[type, str] = {
    TileType: "a tile", ArrayType: "an array", TensorType: "a tensor", ScalarType: "a scalar"
}  # fmt: skip

_PARTS: Mapping[str, Callable[[Any], str]] = {
    "valid": lambda valid: "all valid" if valid is None else f"valid: [{', '.join(map(to_text, valid))}]",
    "layout": lambda layout: "no layout written" if layout is None else f"layout: {layout.value}",
    "pitch": lambda pitch: "no pitch written" if pitch is None else f"pitch: {pitch}",
    "pitches": lambda strides: "dense" if strides is None else f"strides: [{', '.join(map(to_text, strides))}]",
    "access": lambda access: f"access: {access.value}",
    "memory": lambda memory: "no memory yet" if memory is None else f"in {memory.value}",
}
"""What the short text of a type leaves out. The memory comes last: one that is not decided yet goes with any."""


def difference(a: ValueType, b: ValueType) -> Difference:
    """How two types differ that are not the same."""
    first, second = _KINDS[type(a)], _KINDS[type(b)]
    if first != second:
        return Difference(f"{a} ({first})", f"{b} ({second})", f"one is {first}, the other {second}")
    for part in ("dtype", "shape"):
        if getattr(a, part, None) != getattr(b, part, None):
            return Difference(str(a), str(b), f"they differ in {part}")
    part = next(part for part in _PARTS if getattr(a, part, None) != getattr(b, part, None))
    first, second = (_PARTS[part](getattr(kind, part)) for kind in (a, b))
    return Difference(f"{a} ({first})", f"{b} ({second})", f"they differ in {part}")
