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


def known(condition: Condition) -> bool | None:
    """What a condition is by the bounds of its symbols; None where it may be either."""
    if condition.op == "not":
        found = _known(condition.left)
        return None if found is None else not found
    if condition.op in ("and", "or"):
        decisive = condition.op == "or"
        sides = [_known(condition.left), _known(condition.right)]
        if decisive in sides:
            return decisive
        return None if None in sides else not decisive
    assert condition.right is not None
    assert not isinstance(condition.left, Condition) and not isinstance(condition.right, Condition)
    low, high = bounds(sub(condition.left, condition.right))
    relation = RELATIONS[condition.op]
    if low is not None and low == high:
        return relation(low, 0)
    # Of a range of differences both ends and 0 are tried where they lie in it: no relation changes elsewhere.
    tried = {relation(n, 0) for n in (low, high) if n is not None}
    if low is None:
        tried.add(relation(min(-1, -1 if high is None else high - 1), 0))
    if high is None:
        tried.add(relation(max(1, 1 if low is None else low + 1), 0))
    if (low is None or low <= 0) and (high is None or high >= 0):
        tried.add(relation(0, 0))
    return tried.pop() if len(tried) == 1 else None


def _known(side: Index | Condition | None) -> bool | None:
    assert isinstance(side, Condition)
    return known(side)


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
