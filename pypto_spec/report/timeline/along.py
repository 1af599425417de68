"""How an index or a condition behaves along one symbol: after how many steps it comes again, where it stays the same.

This saves looking at every iteration of a loop: `i % 2` comes again after two, and `min(64, N - i * 64)` is 64 up to
the last one.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd, lcm

from pypto_spec.ir.condition import RELATIONS
from pypto_spec.ir.expr import Atom, Extremum, Index, Quot, Sym, coefficient
from pypto_spec.ir.nodes import Condition
from pypto_spec.report.timeline.known import Read, Values

Ends = tuple[int, int]
"""The values at the first and at the last step of something that is linear between them."""


def period_of(read: Read, symbol: Sym) -> int | None:
    """After how many steps of a symbol a value comes again, whatever the others are; None where it may never."""
    if isinstance(read, Condition):
        sides = [s for s in (read.left, read.right) if s is not None]
        return _common(period_of(side, symbol) for side in sides)
    if isinstance(read, int):
        return 1
    return _common(_atom_period(atom, symbol) for atom, _ in read.terms)


def _common(periods: Iterable[int | None]) -> int | None:
    found = 1
    for period in periods:
        if period is None:
            return None
        found = lcm(found, period)
    return found


def _atom_period(atom: Atom, symbol: Sym) -> int | None:
    if isinstance(atom, Sym):
        return None if atom is symbol else 1
    if isinstance(atom, Quot):
        inner = period_of(atom.value, symbol)
        factor = coefficient(atom.value, symbol)
        if inner is None and atom.op == "%" and factor is not None:
            return atom.by // gcd(atom.by, factor)
        return inner
    if isinstance(atom, Extremum):
        return _common(period_of(item, symbol) for item in atom.items)
    return _common((_atom_period(atom.left, symbol), _atom_period(atom.right, symbol)))


class NotLinearError(Exception):
    """Something that is not known to be linear."""


class Stretch:
    """A stretch of one symbol, from `first` to `last`, the others at `values`."""

    def __init__(self, symbol: Sym, first: int, last: int, values: Values) -> None:
        self.symbol = symbol
        self.first = first
        self.last = last
        self.values = values

    def constant(self, read: Read) -> int | None:
        """The value that an index or condition has all along; None where it changes, or that is not known."""
        try:
            if isinstance(read, Condition):
                return self._truth(read)
            first, last = self.ends(read)
        except (NotLinearError, KeyError):
            return None
        return first if first == last else None

    def ends(self, index: Index) -> Ends:
        """The ends of an index. Raises NotLinearError, or KeyError where a symbol has no value."""
        if isinstance(index, int):
            return index, index
        first = last = index.const
        for atom, factor in index.terms:
            a, b = self._atom(atom)
            first += factor * a
            last += factor * b
        return first, last

    def _atom(self, atom: Atom) -> Ends:
        if isinstance(atom, Sym):
            if atom is self.symbol:
                return self.first, self.last
            value = self.values[atom]
            return value, value
        if isinstance(atom, Quot):
            first, last = self.ends(atom.value)
            if first // atom.by != last // atom.by:
                raise NotLinearError
            if atom.op == "//":
                return first // atom.by, last // atom.by
            return first % atom.by, last % atom.by
        if isinstance(atom, Extremum):
            ends = [self.ends(item) for item in atom.items]
            pick = min if atom.op == "min" else max
            best = pick(a for a, _ in ends), pick(b for _, b in ends)
            if best not in ends:
                raise NotLinearError
            return best
        (a, b), (c, d) = self._atom(atom.left), self._atom(atom.right)
        if a != b and c != d:
            raise NotLinearError
        return a * c, b * d

    def _truth(self, condition: Condition) -> bool:
        left, right = condition.left, condition.right
        if condition.op == "not":
            assert isinstance(left, Condition)
            return not self._truth(left)
        if isinstance(left, Condition):
            assert isinstance(right, Condition)
            both = self._truth(left), self._truth(right)
            return all(both) if condition.op == "and" else any(both)
        assert not isinstance(right, Condition | None)
        (a, b), (c, d) = self.ends(left), self.ends(right)
        if (a - c) * (b - d) <= 0 and (a - c, b - d) != (0, 0) and not self._ordered(condition.op, a - c, b - d):
            raise NotLinearError
        return RELATIONS[condition.op](a, c)

    @staticmethod
    def _ordered(relation: str, first: int, last: int) -> bool:
        """Whether a difference that reaches zero at one end only leaves an order as it is."""
        if relation in ("<=", ">"):
            return max(first, last) == 0
        return relation in (">=", "<") and min(first, last) == 0
