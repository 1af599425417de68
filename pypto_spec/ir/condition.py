"""Conditions for given values of their symbols."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from pypto_spec.ir.expr import Index, Sym, bounds, evaluate, sub, symbols, to_text
from pypto_spec.ir.nodes import Condition

RELATIONS: Mapping[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
"""What each relation means."""


def holds(condition: Condition, values: Mapping[Sym, int]) -> bool:
    """Whether a condition is true; KeyError where a symbol has no value."""
    if condition.op == "not":
        return not _truth(condition.left, values)
    assert condition.right is not None
    if condition.op == "and":
        return _truth(condition.left, values) and _truth(condition.right, values)
    if condition.op == "or":
        return _truth(condition.left, values) or _truth(condition.right, values)
    return RELATIONS[condition.op](_number(condition.left, values), _number(condition.right, values))


def decide(condition: Condition) -> bool | None:
    """What a condition comes to, where bounds leave one answer."""
    left, right = condition.left, condition.right
    if isinstance(left, Condition):
        a = decide(left)
        if condition.op == "not":
            return None if a is None else not a
        b = decide(right) if isinstance(right, Condition) else None
        decisive = condition.op == "or"
        if a is decisive or b is decisive:
            return decisive
        return None if a is None or b is None else not decisive
    assert not isinstance(right, Condition) and right is not None
    return _compare(condition.op, sub(left, right))


def _compare(op: str, difference: Index) -> bool | None:
    low, high = bounds(difference)
    if op in (">", "<="):
        above = True if low is not None and low > 0 else False if high is not None and high <= 0 else None
        return above if op == ">" or above is None else not above
    if op in ("<", ">="):
        below = True if high is not None and high < 0 else False if low is not None and low >= 0 else None
        return below if op == "<" or below is None else not below
    apart = (low is not None and low > 0) or (high is not None and high < 0)
    equal = True if low == 0 == high else False if apart else None
    return equal if op == "==" or equal is None else not equal


def text_of(condition: Condition, index_text: Callable[[Index], str] = to_text) -> str:
    """A condition as spec text; `index_text` prints the indices in it."""

    def operand(side: Index | Condition | None) -> str:
        if not isinstance(side, Condition):
            assert side is not None
            return index_text(side)
        text = text_of(side, index_text)
        return f"({text})" if side.op in ("and", "or", "not") else text

    if condition.op == "not":
        return f"not {operand(condition.left)}"
    return f"{operand(condition.left)} {condition.op} {operand(condition.right)}"


def condition_symbols(condition: Condition) -> frozenset[Sym]:
    """All symbols in a condition."""
    found: frozenset[Sym] = frozenset()
    for side in (condition.left, condition.right):
        if isinstance(side, Condition):
            found |= condition_symbols(side)
        elif side is not None:
            found |= symbols(side)
    return found


def _truth(side: Index | Condition, values: Mapping[Sym, int]) -> bool:
    assert isinstance(side, Condition)
    return holds(side, values)


def _number(side: Index | Condition, values: Mapping[Sym, int]) -> int:
    assert not isinstance(side, Condition)
    return evaluate(side, values)
