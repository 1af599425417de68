"""The value of an expression over constants: what sizes, loop counts and the `constants` section are made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

from pypto_spec.diagnostics.model import Rule
from pypto_spec.diagnostics.rules.names import UNDEFINED_NAME
from pypto_spec.diagnostics.rules.syntax import ARITHMETIC, NUMBER_RANGE
from pypto_spec.diagnostics.suggest import did_you_mean
from pypto_spec.spec.core_schema import INT64_MAX, INT64_MIN
from pypto_spec.spec.formula.errors import FormulaError
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
    Subscript,
    Unary,
)

Value: TypeAlias = int | float | bool | str
"""What a constant can hold; a string is a word."""


def _ceil_div(left: int, right: int) -> int:
    return -(-left // right)


_INTEGER_FUNCTIONS: dict[str, tuple[int, int, Callable[..., int]]] = {
    "min": (2, 64, min),
    "max": (2, 64, max),
    "abs": (1, 1, abs),
    "ceil_div": (2, 2, _ceil_div),
}
_FLOAT_FUNCTIONS: dict[str, Callable[[float], float]] = {"sqrt": math.sqrt, "exp": math.exp, "log": math.log}
FUNCTIONS = frozenset(_INTEGER_FUNCTIONS) | frozenset(_FLOAT_FUNCTIONS)
"""Functions a constant expression may call."""

FUNCTION_DOCS: Mapping[str, str] = {
    "min": "the smallest of its arguments",
    "max": "the largest of its arguments",
    "abs": "the value without its sign",
    "ceil_div": "the quotient, rounded up: how many blocks of `b` hold `a`",
    "sqrt": "the square root, a float",
    "exp": "e to the power of its argument, a float",
    "log": "the natural logarithm, a float",
    "num_blocks": "the number of blocks of the `spmd` or `parallel` around it",
}
"""What the functions of constants and of sizes give."""


def arity(name: str) -> tuple[int, int]:
    """The least and the largest number of arguments of a function of constants or sizes."""
    if name in _INTEGER_FUNCTIONS:
        return _INTEGER_FUNCTIONS[name][:2]
    return (1, 1) if name in _FLOAT_FUNCTIONS else (0, 0)


_LARGEST_POWER = 1024
"""Bits of a power that is still computed, to find that it does not fit in 64."""


def evaluate(expr: Expr, names: Mapping[str, Value]) -> Value:
    """The value of an expression; raises FormulaError where it has none. Integers stay within 64 bits."""
    if isinstance(expr, Number):
        if isinstance(expr.value, int) and expr.value > INT64_MAX:
            raise _too_large(expr)
        return expr.value
    if isinstance(expr, Boolean):
        return expr.value
    if isinstance(expr, Name):
        if expr.id not in names:
            raise FormulaError(
                f"`{expr.id}` is not a constant",
                expr.start,
                expr.end,
                did_you_mean(expr.id, names) or "constants are defined in `constants`",
                rule=UNDEFINED_NAME,
                label="not defined",
            )
        return names[expr.id]
    if isinstance(expr, Unary):
        return _unary(expr, names)
    if isinstance(expr, Binary):
        left, right = _numeric(expr.left, names), _numeric(expr.right, names)
        return _checked(_arithmetic(expr, left, right), expr)
    if isinstance(expr, Compare):
        return _compare(expr, names)
    if isinstance(expr, Logical):
        left = _truth(expr.left, names)
        if left is (expr.op == "or"):
            return left
        return _truth(expr.right, names)
    if isinstance(expr, Call):
        return _checked(_call(expr, names), expr)
    assert isinstance(expr, (Subscript, ListExpr))
    what = "a slice" if isinstance(expr, Subscript) else "a list"
    raise _wrong(expr, f"{what} is not a constant", "constants are numbers and words")


def evaluate_int(expr: Expr, names: Mapping[str, Value]) -> int:
    """The value of a size or a count, which must be an integer."""
    value = evaluate(expr, names)
    if isinstance(value, bool) or not isinstance(value, int):
        shown = f"`{value}`" if isinstance(value, str) else repr(value)
        raise _wrong(
            expr,
            f"an integer is needed here, found {shown}",
            "use `//` for whole division" if isinstance(value, float) else "write an integer expression",
        )
    return value


def _wrong(
    expr: Expr, message: str, help_text: str, rule: Rule = ARITHMETIC, swap: tuple[int, int, str, str] | None = None
) -> FormulaError:
    return FormulaError(message, expr.start, expr.end, help_text, rule=rule, label="this part", swap=swap)


def _too_large(expr: Expr) -> FormulaError:
    return _wrong(
        expr,
        "the value does not fit in 64 bits",
        "sizes are 64-bit integers; write a float if it is none",
        NUMBER_RANGE,
    )


def _checked(value: int | float, expr: Expr) -> int | float:
    if isinstance(value, int) and not INT64_MIN <= value <= INT64_MAX:
        raise _too_large(expr)
    return value


def _numeric(expr: Expr, names: Mapping[str, Value]) -> int | float:
    value = evaluate(expr, names)
    if isinstance(value, (bool, str)):
        shown = str(value).lower() if isinstance(value, bool) else value
        raise _wrong(expr, f"a number is needed here, found `{shown}`", "arithmetic is for numbers")
    return value


def _truth(expr: Expr, names: Mapping[str, Value]) -> bool:
    value = evaluate(expr, names)
    if not isinstance(value, bool):
        raise _wrong(expr, f"a condition is needed here, found `{value}`", "compare it, as in `n > 0`")
    return value


def _unary(expr: Unary, names: Mapping[str, Value]) -> Value:
    if expr.op == "not":
        return not _truth(expr.operand, names)
    if expr.op == "-" and isinstance(expr.operand, Number):
        return _checked(-expr.operand.value, expr)  # -2**63 fits, 2**63 does not
    value = _numeric(expr.operand, names)
    return _checked(-value if expr.op == "-" else value, expr)


def _arithmetic(expr: Binary, left: int | float, right: int | float) -> int | float:
    op = expr.op
    whole = isinstance(left, int) and isinstance(right, int)
    try:
        if op == "+":
            return left + right
        if op == "-":
            return left - right
        if op == "*":
            return left * right
        if op == "**":
            return _power(expr, left, right)
        if op == "/":
            if whole:
                raise _wrong(
                    expr,
                    "`/` of two integers",
                    "use `//` for whole division, or make one of them a float: `1.0`",
                    swap=(expr.left.end, expr.right.start, "/", "//"),
                )
            return left / right
        return left // right if op == "//" else left % right
    except ZeroDivisionError:
        raise _wrong(expr.right, "division by zero", "the divisor is 0 here") from None
    except OverflowError:
        raise _too_large(expr) from None


def _power(expr: Binary, left: int | float, right: int | float) -> int | float:
    if isinstance(left, int) and isinstance(right, int):
        if right < 0:
            raise _wrong(expr.right, "a negative power of an integer", "make the base a float: `2.0 ** -1`")
        # Bounded before it is computed: 10**10**10 would take gigabytes.
        if left.bit_length() * right > _LARGEST_POWER and left not in (-1, 0, 1):
            raise _too_large(expr)
        if left in (-1, 0, 1):
            right = min(right, 2 + right % 2)
        whole: int = left**right
        return whole
    value = left**right
    if isinstance(value, complex):
        raise _wrong(expr, "a fractional power of a negative number", "it has no real value")
    return float(value)


def _compare(expr: Compare, names: Mapping[str, Value]) -> bool:
    left, right = _operand(expr.left, names), _operand(expr.right, names)
    if expr.op in ("==", "!="):
        if isinstance(left, str) != isinstance(right, str):
            raise _wrong(
                expr, f"`{left}` and `{right}` cannot be equal", "compare numbers with numbers, words with words"
            )
        return (left == right) is (expr.op == "==")
    for value, part in ((left, expr.left), (right, expr.right)):
        if isinstance(value, (bool, str)):
            raise _wrong(part, f"`{value}` has no order", "only numbers are less or greater")
    assert not isinstance(left, str) and not isinstance(right, str)
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[expr.op]


def _operand(expr: Expr, names: Mapping[str, Value]) -> Value:
    """An operand of a comparison: `mode == up_down` compares a constant with a word that names nothing."""
    if isinstance(expr, Name) and expr.id not in names and any(isinstance(value, str) for value in names.values()):
        return expr.id
    return evaluate(expr, names)


def _call(expr: Call, names: Mapping[str, Value]) -> int | float:
    if expr.keywords:
        raise _wrong(expr, f"`{expr.func}` takes no named arguments", "leave the name out")
    args = [_numeric(arg, names) for arg in expr.args]
    if expr.func in _FLOAT_FUNCTIONS:
        _check_count(expr, 1, 1)
        try:
            return _FLOAT_FUNCTIONS[expr.func](args[0])
        except (ValueError, OverflowError):
            raise _wrong(expr, f"`{expr.func}({args[0]})` has no value", "the argument is outside its domain") from None
    if expr.func not in _INTEGER_FUNCTIONS:
        known = ", ".join(f"`{name}`" for name in sorted(FUNCTIONS))
        raise FormulaError(
            f"`{expr.func}` is not a function of constant expressions",
            expr.start,
            expr.start + len(expr.func),
            did_you_mean(expr.func, FUNCTIONS) or f"known are {known}",
            rule=UNDEFINED_NAME,
            label="unknown here",
        )
    least, most, function = _INTEGER_FUNCTIONS[expr.func]
    _check_count(expr, least, most)
    if expr.func == "ceil_div":
        if not all(isinstance(arg, int) for arg in args):
            raise _wrong(expr, "`ceil_div` takes integers", "round floats first")
        if args[1] == 0:
            raise _wrong(expr.args[1], "division by zero", "the divisor is 0 here")
    return function(*args)


def _check_count(expr: Call, least: int, most: int) -> None:
    count = len(expr.args)
    if not least <= count <= most:
        takes = f"{least}" if least == most else f"{least} to {most}"
        word = "argument" if takes == "1" else "arguments"
        raise _wrong(
            expr, f"`{expr.func}` takes {takes} {word}, found {count}", "nest the calls, or leave arguments out"
        )
