"""Indices and conditions for the values at hand, and what is assumed where a value is not known."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping

from pypto_spec.ir.condition import RELATIONS, condition_symbols
from pypto_spec.ir.expr import Atom, Expr, Extremum, Index, Quot, Sym, bounds, substitute, symbols, to_text
from pypto_spec.ir.nodes import Condition

Values = Mapping[Sym, int]
Read = Index | Condition
"""What cycles depend on: an index, or a condition as a whole."""


def number(index: Index, values: Values) -> int:
    """The value of an index, without building new ones; KeyError where a symbol has none."""
    if isinstance(index, int):
        return index
    total = index.const
    for atom, factor in index.terms:
        total += factor * (values[atom] if isinstance(atom, Sym) else _atom(atom, values))
    return total


def _atom(atom: Atom, values: Values) -> int:
    if isinstance(atom, Sym):
        return values[atom]
    if isinstance(atom, Quot):
        inner = number(atom.value, values)
        return inner // atom.by if atom.op == "//" else inner % atom.by
    if isinstance(atom, Extremum):
        return (min if atom.op == "min" else max)([number(item, values) for item in atom.items])
    return _atom(atom.left, values) * _atom(atom.right, values)


def truth(condition: Condition, values: Values) -> bool:
    """Whether a condition holds; KeyError where a symbol has no value."""
    left, right = condition.left, condition.right
    if condition.op == "not":
        assert isinstance(left, Condition)
        return not truth(left, values)
    if isinstance(left, Condition):
        assert isinstance(right, Condition)
        both = truth(left, values), truth(right, values)
        return all(both) if condition.op == "and" else any(both)
    assert not isinstance(right, Condition | None)
    return RELATIONS[condition.op](number(left, values), number(right, values))


def symbols_of(read: Read) -> frozenset[Sym]:
    """All symbols of an index or condition."""
    return condition_symbols(read) if isinstance(read, Condition) else symbols(read)


def value_of(read: Read, values: Values) -> int:
    """The number or the truth, as far as it decides anything; KeyError where a symbol has no value."""
    return truth(read, values) if isinstance(read, Condition) else number(read, values)


def residual(read: Read, values: Mapping[Sym, Index]) -> Hashable:
    """What is left of an index or condition when some symbols are known."""
    if not isinstance(read, Condition):
        return substitute(read, values)
    sides = (read.left, read.right)
    return read.op, *(None if side is None else residual(side, values) for side in sides)


def substituted(condition: Condition, change: Callable[[Index], Index]) -> Condition:
    """The condition with its indices changed."""

    def side(value: Index | Condition) -> Index | Condition:
        return substituted(value, change) if isinstance(value, Condition) else change(value)

    right = None if condition.right is None else side(condition.right)
    return Condition(condition.op, side(condition.left), right)


class Guesses:
    """What had to be assumed, in the order in which it was met, once each."""

    def __init__(self) -> None:
        self.made: dict[str, None] = {}

    def note(self, text: str) -> None:
        """Keep one assumption."""
        self.made.setdefault(text)

    def number(self, index: Index, values: Values) -> int:
        """The value of an index, or its upper bound where it has no value, or its lower one."""
        try:
            return number(index, values)
        except KeyError:
            assert isinstance(index, Expr)
            low, high = bounds(index)
            value = high if high is not None else low if low is not None else 1
            self.note(f"`{to_text(index)}` is not known before the run: {value} is assumed")
            return value

    def truth(self, condition: Condition, values: Values) -> bool:
        """Whether a condition of the host holds; it does where that is not known."""
        try:
            return truth(condition, values)
        except KeyError:
            self.note("a condition of the host is not known before the run: it holds")
            return True
