"""The nodes of a formula.

Every node knows the offsets of its text in the formula; they do not count for equality, so that two formulas are equal
when they say the same.
"""

from __future__ import annotations

import math
from dataclasses import field
from typing import TypeAlias

from pypto_spec.records import dataclass


@dataclass(frozen=True, slots=True)
class Number:
    """A literal, never negative; infinity and NaN are `math.inf` and `math.nan` themselves."""

    value: int | float
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Boolean:
    """`true` or `false`."""

    value: bool
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Name:
    """A name, perhaps with a version: `t`, `t.1`."""

    id: str
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Unary:
    """`-x`, `+x` or `not x`."""

    op: str
    operand: Expr
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic: `+ - * / // % **`."""

    op: str
    left: Expr
    right: Expr
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Compare:
    """`== != < <= > >=`, of two operands."""

    op: str
    left: Expr
    right: Expr
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Logical:
    """`and`, `or`."""

    op: str
    left: Expr
    right: Expr
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Keyword:
    """A named argument of a call; `start` and `end` are those of the name."""

    name: str
    value: Expr
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """`func(args, keywords)`. The function's name stands at `start`."""

    func: str
    args: tuple[Expr, ...]
    keywords: tuple[Keyword, ...] = ()
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Slice:
    """`lower:upper:step` inside a subscript; what is left out is None."""

    lower: Expr | None
    upper: Expr | None
    step: Expr | None = None
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Subscript:
    """`value[indices]`."""

    value: Expr
    indices: tuple[Index, ...]
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class ListExpr:
    """`[a, b]`, a shape."""

    items: tuple[Expr, ...]
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


Expr: TypeAlias = Number | Boolean | Name | Unary | Binary | Compare | Logical | Call | Subscript | ListExpr
Index: TypeAlias = Expr | Slice


@dataclass(frozen=True, slots=True)
class Let:
    """`target = value`; `start` and `end` are those of the target's name."""

    target: str
    value: Expr
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


def number(value: int | float, start: int = 0, end: int = 0) -> Expr:
    """A literal of any sign, as the parser would have read it."""
    if isinstance(value, float) and math.isnan(value):
        return Number(math.nan, start, end)
    if math.copysign(1.0, value) < 0:
        return Unary("-", Number(-value, start, end), start, end)
    return Number(value, start, end)
