"""All accesses of a region by address: which earlier ones can share a byte with a given one.

Accesses of a group differ by constants and stand on pages of their size; a query looks at the pages in its reach and
there only at the epochs that its pipe does not know to be complete.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field

from pypto_spec.check.model import Cycle, Flow, Group, Touch
from pypto_spec.check.ranges import Distance, distances, may_touch
from pypto_spec.check.state import Planes
from pypto_spec.ir.expr import Expr, Index, Sym, add, mul, sub, substitute, sym, symbols
from pypto_spec.records import dataclass

HERE = (Distance(0),)


@dataclass(slots=True, eq=False)
class _Page:
    writes: int = 0
    both: int = 0
    by_epoch: dict[int, list[Touch]] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class _Level:
    writes: int = 0
    both: int = 0
    pages: dict[int, _Page] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class _Shelf:
    """The accesses of one group."""

    group: Group
    writes: int = 0
    both: int = 0
    levels: dict[int, _Level] = field(default_factory=dict)

    def add(self, touch: Touch) -> None:
        bit, epoch, extent = 1 << touch.step.epoch, touch.step.epoch, touch.shape.extent
        shift = 9
        while extent >> shift > 4:
            shift += 4
        level = self.levels.get(shift)
        if level is None:
            level = self.levels[shift] = _Level()
        self.both |= bit
        level.both |= bit
        if touch.write:
            self.writes |= bit
            level.writes |= bit
        for number in range(touch.const >> shift, ((touch.const + extent - 1) >> shift) + 1):
            page = level.pages.get(number)
            if page is None:
                page = level.pages[number] = _Page()
            page.both |= bit
            if touch.write:
                page.writes |= bit
            found = page.by_epoch.get(epoch)
            if found is None:
                page.by_epoch[epoch] = [touch]
            else:
                found.append(touch)

    def near(self, low: int | None, high: int | None, wanted: int, writes_only: bool) -> Iterator[Touch]:
        """Accesses of the wanted epochs whose hulls may meet `low..high` (exclusive), each once."""
        for shift, level in self.levels.items():
            if not (level.writes if writes_only else level.both) & wanted:
                continue
            first = None if low is None else low >> shift
            last = None if high is None else (high - 1) >> shift
            numbers: Iterable[int]
            if first is not None and last is not None and last - first <= len(level.pages):
                numbers = range(first, last + 1)
            else:
                numbers = [n for n in level.pages if (first is None or n >= first) and (last is None or n <= last)]
            for number in numbers:
                page = level.pages.get(number)
                if page is None:
                    continue
                bits = (page.writes if writes_only else page.both) & wanted
                while bits:
                    lowest = bits & -bits
                    bits ^= lowest
                    for touch in page.by_epoch[lowest.bit_length() - 1]:
                        start = touch.const >> shift
                        if number == (start if first is None or start > first else first):
                            yield touch


class AddressIndex:
    """The accesses of a region; spaces that nothing writes are left out."""

    def __init__(self, flow: Flow, planes: Planes) -> None:
        self.planes = planes
        self.pipes = flow.pipes
        self.spaces: dict[str, dict[Group, _Shelf]] = {t.group.space: {} for t in flow.touches if t.write}
        self.between: dict[tuple[Group, Group, int, int], tuple[Distance, ...]] = {}
        for touch in flow.touches:
            shelves = self.spaces.get(touch.group.space)
            if shelves is not None:
                shelf = shelves.get(touch.group)
                if shelf is None:
                    shelf = shelves[touch.group] = _Shelf(touch.group)
                shelf.add(touch)

    def clashes(self, touch: Touch, unknown: int, flat: int) -> Iterator[tuple[Touch, bool]]:
        """Accesses that may still run when `touch` does and must not, and whether only in an earlier iteration.

        `unknown` is what the pipe of `touch` does not know to be complete, `flat` the same without planes.
        """
        size = self.planes.size
        for group, shelf in self.spaces.get(touch.group.space, {}).items():
            wanted = (shelf.both if touch.write else shelf.writes) & flat
            if not wanted:
                continue
            if not group.terms and not touch.group.terms:
                older = self.planes.flatten(unknown >> size) & wanted if self.planes.count > 1 else 0
                yield from self._scan(shelf, touch, HERE, unknown & wanted, older)
                continue
            for plane in range(self.planes.count):
                bits = (unknown >> (plane * size)) & wanted
                if bits:
                    apart = self._distances(group, touch, plane)
                    yield from self._scan(shelf, touch, apart, 0 if plane else bits, bits if plane else 0)

    def _scan(
        self, shelf: _Shelf, touch: Touch, apart: tuple[Distance, ...], newer: int, older: int
    ) -> Iterator[tuple[Touch, bool]]:
        """Clashes among accesses of this iteration (`newer`, as far as the text has come) and of earlier ones."""
        order, extent = touch.step.order, touch.shape.extent
        for distance in apart:
            low = distance.base if distance.unit == 0 else distance.low
            high = distance.base if distance.unit == 0 else distance.high
            start = None if low is None else touch.const + low
            end = None if high is None else touch.const + high + extent
            for found in shelf.near(start, end, newer | older, not touch.write):
                step = found.step
                now = step.order < order and (newer >> step.epoch) & 1
                if not now and not (older and (older >> step.epoch) & 1):
                    continue
                if not (found.write or touch.write) or (found.atomic and touch.atomic):
                    continue
                same = bool(touch.ordered) and self._ordered(found, touch)
                if may_touch(found.shape, touch.shape, distance, touch.const - found.const, same):
                    yield found, not now

    def _ordered(self, found: Touch, touch: Touch) -> bool:
        """Whether the hardware keeps two accesses in order, if they are of the very same bytes."""
        pipes = self.pipes
        return pipes[touch.step.pipe] in found.ordered and pipes[found.step.pipe] in touch.ordered

    def _distances(self, group: Group, touch: Touch, plane: int) -> tuple[Distance, ...]:
        """From an access of `group` in that plane to `touch`, without their constants."""
        chain = touch.step.chain
        shared = sum(1 for c in group.cycles if c.level <= len(chain) and chain[c.level - 1] is c)
        key = (group, touch.group, plane, shared)
        found = self.between.get(key)
        if found is None:
            found = self.between[key] = self._compare(group, touch, plane, shared)
        return found

    def _compare(self, group: Group, touch: Touch, plane: int, shared: int) -> tuple[Distance, ...]:
        level, lag = (plane - 1) // self.planes.lags + 1, (plane - 1) % self.planes.lags + 1
        here: Index = Expr(touch.group.terms, 0) if touch.group.terms else 0
        there: Index = Expr(group.terms, 0) if group.terms else 0
        last, lasts = dict(touch.group.last), dict(group.last)
        mine: dict[Sym, Index] = {
            c.index: _to(c.index, high) for c, high in last.items() if not (plane and c.level == level)
        }
        values: dict[Sym, Index] = {}
        for number, cycle in enumerate(group.cycles):
            if number >= shared or (plane and cycle.level > level):
                values[cycle.index] = _to(cycle.free, lasts.get(cycle, cycle.free.high))
                values.update((s, sym(Sym(s.name, s.kind, s.low, s.high))) for s in cycle.varying)
            elif plane and cycle.level == level:
                values.update((s, sym(Sym(s.name, s.kind, s.low, s.high))) for s in cycle.varying)
            elif cycle.turns:
                high = _least(lasts[cycle], last.get(cycle, lasts[cycle]))
                mine[cycle.index] = values[cycle.index] = _to(cycle.index, high)
        here, there = substitute(here, mine), substitute(there, values)
        if plane:
            cycle = touch.step.chain[level - 1]
            ends = last.get(cycle, cycle.index.high), lasts.get(cycle, cycle.index.high)
            apart = self._apart(cycle, lag, here, there, *ends)
            if apart is None:
                return ()
            here, there = apart
        return distances(sub(here, there))

    def _apart(
        self, cycle: Cycle, lag: int, here: Index, there: Index, last: int | None, former: int | None
    ) -> tuple[Index, Index] | None:
        """Both addresses, the loop's index `lag` iterations apart (the last lag: or more); None if it is too short.

        `last` and `former` are the greatest indices of the later and of the earlier access.
        """
        most = None if cycle.most is None else cycle.most - 1
        if most is not None and lag > most:
            return None
        index, low = cycle.index, cycle.index.low
        step = cycle.step if isinstance(cycle.step, int) else 0
        earlier = Sym(index.name, "loop", low, _least(former, None if last is None else last - lag * step))
        if index not in symbols(here) or index not in symbols(there):
            later = Sym(index.name, "loop", None if low is None else low + lag * step, last)
            return substitute(here, {index: sym(later)}), substitute(there, {index: sym(earlier)})
        back: Index = lag
        if lag == self.planes.lags and lag != most:
            back = sym(Sym(f"{index.name}-", "loop", lag, most))
        later_index = add(sym(earlier), mul(back, cycle.step))
        return substitute(here, {index: later_index}), substitute(there, {index: sym(earlier)})


def _least(a: int | None, b: int | None) -> int | None:
    """The smaller of two bounds, None being no bound."""
    return b if a is None else a if b is None else min(a, b)


def _to(symbol: Sym, high: int | None) -> Expr:
    """A symbol up to a bound."""
    return sym(symbol if symbol.high == high else Sym(symbol.name, symbol.kind, symbol.low, high))
