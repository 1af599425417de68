"""Operators and functions of two numbers of a formula: computed while it is read."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from pypto_spec.convert.let_terms import Number
from pypto_spec.diagnostics.rules.shapes import BAD_ARGUMENT
from pypto_spec.spec.formula import Binary, Expr, FormulaError, number
from pypto_spec.spec.formula.integer import evaluate

if TYPE_CHECKING:
    from pypto_spec.convert.let import Formula

_PAIRS: dict[str, Callable[[Any, Any], int | float]] = {
    "maximum": max,
    "minimum": min,
    "bit_and": operator.and_,
    "bit_or": operator.or_,
    "bit_xor": operator.xor,
}
"""Functions of two operands, of two numbers."""


def fold(formula: Formula, sign: str, left: Number, right: Number, expr: Expr) -> int | float:
    """The number that two numbers make."""
    fail = formula.maker.fail
    if sign.startswith("bit_") and not (isinstance(left.value, int) and isinstance(right.value, int)):
        raise fail(
            BAD_ARGUMENT, expr, f"`{sign}` takes integers, found {left.value} and {right.value}", label="a fraction"
        )
    if sign in _PAIRS:
        return _PAIRS[sign](left.value, right.value)
    try:
        if sign == "/" and right.value:
            return left.value / right.value  # a number takes the tile's dtype, so `1 / 3` is a fraction here
        a, b = (number(t.value, t.at.start, t.at.end) for t in (left, right))
        return cast("int | float", evaluate(Binary(sign, a, b, expr.start, expr.end), {}))
    except FormulaError as error:
        raise formula.reading.formula_error(error, formula.maker.node) from None
    except OverflowError:
        raise fail(BAD_ARGUMENT, expr, "the value is too large for a number", label="this part") from None
