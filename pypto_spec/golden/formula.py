"""Evaluating golden formulas with torch: an interpreter over the closed grammar, no eval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypeAlias

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

Operation: TypeAlias = Unary | Binary | Compare | Logical | Call
"""A node that does something to the values of others."""

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
    return value(parse_expression(text), names)


def value(expr: Expr, names: Mapping[str, Any]) -> Any:
    """The value of a part of a formula."""
    if isinstance(expr, Number | Boolean):
        return expr.value
    if isinstance(expr, Name):
        return _name(expr.id, names)
    if isinstance(expr, ListExpr):
        return [value(item, names) for item in expr.items]
    if isinstance(expr, Subscript):
        return value(expr.value, names)[tuple(_index(i, names) for i in expr.indices)]
    return apply(expr, [value(operand, names) for operand in operands(expr)], names)


def operands(expr: Operation) -> tuple[Expr, ...]:
    """What an operation is done to, its keywords left out."""
    if isinstance(expr, Unary):
        return (expr.operand,)
    return expr.args if isinstance(expr, Call) else (expr.left, expr.right)


def apply(expr: Operation, values: Sequence[Any], names: Mapping[str, Any]) -> Any:
    """An operation on the values of its operands; `names` are for the keywords of a function."""
    if isinstance(expr, Call):
        return _call(expr, values, names)
    if isinstance(expr, Unary):
        (only,) = values
        return -only if expr.op == "-" else (torch().logical_not(only) if expr.op == "not" else only)
    left, right = values
    if isinstance(expr, Binary):
        return _BINARY[expr.op](left, right)
    if isinstance(expr, Compare):
        return _COMPARE[expr.op](left, right)
    return (torch().logical_and if expr.op == "and" else torch().logical_or)(left, right)


def _name(name: str, names: Mapping[str, Any]) -> Any:
    if name in names:
        return names[name]
    if name in WORDS:
        return name
    near = get_close_matches(name, list(names), 1)
    raise GoldenError(f"`{name}` is no tensor, scalar or constant" + (f"; did you mean `{near[0]}`?" if near else ""))


def _index(index: Expr | Slice, names: Mapping[str, Any]) -> Any:
    if not isinstance(index, Slice):
        return int(value(index, names))
    parts = (index.lower, index.upper, index.step)
    return slice(*(None if p is None else int(value(p, names)) for p in parts))


def _call(call: Call, args: Sequence[Any], names: Mapping[str, Any]) -> Any:
    function = FUNCTIONS.get(call.func)
    if function is None:
        near = get_close_matches(call.func, list(FUNCTIONS), 1)
        raise GoldenError(
            f"`{call.func}` is no function of golden formulas" + (f"; did you mean `{near[0]}`?" if near else "")
        )
    keywords = {k.name: value(k.value, names) for k in call.keywords}
    try:
        return function(*args, **keywords)
    except (TypeError, RuntimeError, ValueError, IndexError, KeyError) as error:
        raise GoldenError(f"`{call.func}`: {str(error).splitlines()[0]}") from error
