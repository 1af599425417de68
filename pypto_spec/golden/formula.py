"""Evaluating golden formulas with torch: an interpreter over the closed grammar, no eval."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from pypto_spec.golden.functions import FUNCTIONS
from pypto_spec.golden.need_torch import torch
from pypto_spec.ir.dtype import DTYPES
from pypto_spec.spec.formula.nodes import (
    Binary,
    Boolean,
    Call,
    Compare,
    Expr,
    ListExpr,
    Logical,
    Name,
    Number,
    Slice,
    Subscript,
    Unary,
)
from pypto_spec.spec.formula.parser import parse_expression

_BINARY = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "**": lambda a, b: a**b,
}
_COMPARE = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
WORDS = frozenset({*DTYPES, "none", "rint", "floor", "ceil", "round", "trunc", "odd", "tanh", "sigmoid"})
"""Names that stand for themselves as arguments: dtypes and rounding modes."""


class GoldenError(ValueError):
    """A reference cannot be computed; says why in words for the author, and where there is one, `way_out`."""

    def __init__(self, message: str, way_out: str | None = None) -> None:
        super().__init__(message)
        self.way_out = way_out


def evaluate(text: str, names: Mapping[str, Any]) -> Any:
    """The value of a formula; `names` gives tensors (float64 or int64), scalars and constants."""
    return _value(parse_expression(text), names)


def _value(expr: Expr, names: Mapping[str, Any]) -> Any:
    if isinstance(expr, Number | Boolean):
        return expr.value
    if isinstance(expr, Name):
        return _name(expr.id, names)
    if isinstance(expr, Unary):
        value = _value(expr.operand, names)
        return -value if expr.op == "-" else (torch().logical_not(value) if expr.op == "not" else value)
    if isinstance(expr, Binary):
        return _BINARY[expr.op](_value(expr.left, names), _value(expr.right, names))
    if isinstance(expr, Compare):
        return _COMPARE[expr.op](_value(expr.left, names), _value(expr.right, names))
    if isinstance(expr, Logical):
        join = torch().logical_and if expr.op == "and" else torch().logical_or
        return join(_value(expr.left, names), _value(expr.right, names))
    if isinstance(expr, ListExpr):
        return [_value(item, names) for item in expr.items]
    if isinstance(expr, Subscript):
        return _value(expr.value, names)[tuple(_index(i, names) for i in expr.indices)]
    return _call(expr, names)


def _name(name: str, names: Mapping[str, Any]) -> Any:
    if name in names:
        return names[name]
    if name in WORDS:
        return name
    near = get_close_matches(name, list(names), 1)
    raise GoldenError(f"`{name}` is no tensor, scalar or constant" + (f"; did you mean `{near[0]}`?" if near else ""))


def _index(index: Expr | Slice, names: Mapping[str, Any]) -> Any:
    if not isinstance(index, Slice):
        return int(_value(index, names))
    parts = (index.lower, index.upper, index.step)
    return slice(*(None if p is None else int(_value(p, names)) for p in parts))


def _call(call: Call, names: Mapping[str, Any]) -> Any:
    function = FUNCTIONS.get(call.func)
    if function is None:
        near = get_close_matches(call.func, list(FUNCTIONS), 1)
        raise GoldenError(
            f"`{call.func}` is no function of golden formulas" + (f"; did you mean `{near[0]}`?" if near else "")
        )
    args = [_value(a, names) for a in call.args]
    keywords = {k.name: _value(k.value, names) for k in call.keywords}
    try:
        return function(*args, **keywords)
    except (TypeError, RuntimeError, ValueError, IndexError, KeyError) as error:
        raise GoldenError(f"`{call.func}`: {str(error).splitlines()[0]}") from error
