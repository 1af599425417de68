"""What tells the iterations of a loop, or the blocks of a launch, apart."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from math import lcm

from pypto_spec.ir.expr import Sym
from pypto_spec.report.timeline.along import Stretch, period_of
from pypto_spec.report.timeline.known import Read, number, residual, symbols_of, value_of
from pypto_spec.report.timeline.shape import Cycle, Shape


class TooMuchError(Exception):
    """More to simulate than a report is worth."""


class Budget:
    """How many events may be simulated, and how many iterations be looked at, for one program."""

    def __init__(self, events: int, looks: int) -> None:
        self.events = events
        self.looks = looks

    def event(self, count: int) -> None:
        """Take events. Raises TooMuchError."""
        self.events -= count
        if self.events < 0:
            raise TooMuchError

    def look(self, count: int = 1) -> None:
        """Take looks at iterations. Raises TooMuchError."""
        self.looks -= count
        if self.looks < 0:
            raise TooMuchError


class Keys:
    """The values of one symbol, told apart by what is read inside of a loop or block.

    What depends on symbols bound inside as well is compared as an expression, unless it has one value all along them.
    """

    def __init__(self, symbol: Sym, node: Cycle | Shape, values: Mapping[Sym, int], budget: Budget) -> None:
        self.symbol = symbol
        self.binds = node.binds
        self.values = {s: value for s, value in values.items() if s not in node.binds}
        self.budget = budget
        self.pure: list[Read] = []
        self.mixed: list[Read] = []
        for read in node.reads:
            needs = symbols_of(read)
            if symbol in needs:
                (self.pure if needs <= self.values.keys() | {symbol} else self.mixed).append(read)
        self.periods = [(read, period_of(read, symbol)) for read in (*self.pure, *self.mixed)]
        self.period = _common(period for _, period in self.periods)
        self._made: dict[int, Hashable] = {}

    def at(self, value: int) -> Hashable:
        """The key of one value."""
        if self.period is not None:
            value %= self.period
        found = self._made.get(value)
        if found is None:
            self.budget.look()
            values = {**self.values, self.symbol: value}
            found = self._made[value] = (
                *(value_of(read, values) for read in self.pure),
                *(self._inside(read, values) for read in self.mixed),
            )
        return found

    def _inside(self, read: Read, values: Mapping[Sym, int]) -> Hashable:
        """The one value that something has along the loop inside that it depends on, or what is left of it."""
        inner = [s for s in symbols_of(read) if s not in values]
        trips = self.binds.get(inner[0]) if len(inner) == 1 else None
        if trips is not None:
            try:
                last = number(trips, values) - 1
            except KeyError:
                last = -1
            constant = Stretch(inner[0], 0, last, values).constant(read) if last >= 0 else None
            if constant is not None:
                return constant
        return residual(read, {self.symbol: values[self.symbol]})

    def times(self, first: int, period: int, trips: int) -> int:
        """How often the iterations `first` up to `first + period` come again behind them."""
        most = (trips - first - period) // period
        if self.period is not None and period % self.period == 0:
            return most
        alike = self._alike(first, period, trips)
        if alike:
            return alike
        for place in range(most * period):
            if self.at(first + period + place) != self.at(first + place % period):
                return place // period
        return most

    def _alike(self, first: int, period: int, trips: int) -> int:
        """As `times`, as far as that shows without looking at every iteration; perhaps less, perhaps 0."""
        changing = [read for read, own in self.periods if own is None or period % own]
        low, high = first + period, trips
        while low < high:  # the longest stretch along which nothing changes
            middle = (low + high + 1) // 2
            self.budget.look()
            stretch = Stretch(self.symbol, first, middle - 1, self.values)
            if all(stretch.constant(read) is not None for read in changing):
                low = middle
            else:
                high = middle - 1
        return (low - first - period) // period


def _common(periods: Iterable[int | None]) -> int | None:
    found = 1
    for period in periods:
        if period is None:
            return None
        found = lcm(found, period)
    return found
