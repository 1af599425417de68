"""Event ids for the flags of a region.

A flag is one bit per (source pipe, target pipe, id). Whenever it is set, the source pipe must be known to be past the
wait for the time before, or the bit could be set twice. Two flags may share an id if their times do not overlap and
this holds from each to the other, from one round of a loop to the next as well.

Where it does not hold there are four ways out: a flag that a loop carries is set first before an outer loop (`home`),
so that it is not set anew in each of its rounds; a flag the other way says that the wait is over (`guards`); one flag
does the work of two (the earlier wait then waits for the later set); and `barrier: all` takes the place of the flag.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from pypto_spec.ir.nodes import For, Stmt
from pypto_spec.passes.sync.analysis import Analysis
from pypto_spec.passes.sync.knowledge import Visit
from pypto_spec.passes.sync.model import ALL, PIPES, Anchor, Edge, Fence, Row
from pypto_spec.passes.sync.shape import Shape
from pypto_spec.passes.sync.turns import least_width

PINS = 3
"""How often a region is run again for the sake of the guards inside its loops."""

Kind = tuple[int, int]
Visits = Mapping[Stmt, Sequence[Visit]]
When = tuple[int, int]
"""A moment of the abstract run, and the place among the flags that stand together."""


@dataclass(slots=True)
class _Id:
    """What holds one event id so far: the flags that may have had it last, and the first one inside each loop.

    There are several where an arm of an `if` used it: behind it, and in the other arm, the one before counts as well.
    """

    last: list[Edge] = field(default_factory=list)
    firsts: dict[For, Edge] = field(default_factory=dict)


class Flags(Shape):
    """Gives every edge of an analysis its event id.

    `edges` are all flags afterwards. `again` is set where a carried flag was given another home, or `barrier: all` took
    the place of a flag, or a guard was added inside a loop: then the analysis has to be run again first.
    """

    def __init__(self, analysis: Analysis, ids: int) -> None:
        self.analysis = analysis
        self.ids = ids
        super().__init__(analysis.body, analysis.order)
        self.again = False
        self.kinds: dict[Kind, list[Edge]] = {}
        for edge in (*analysis.edges.values(), *analysis.carried.values(), *analysis.guards):
            self.kinds.setdefault((edge.source, edge.target), []).append(edge)
        self._homes()
        self.rotating: dict[Kind, list[Edge]] = {}
        self.narrowed = False
        if not self.again and analysis.places.periods:
            self._rotate()
        waiting = [] if self.again else sorted(self.kinds)
        while waiting and not self.narrowed:
            for changed in sorted(self._allocate(waiting.pop(0))):
                if changed not in waiting:
                    waiting.append(changed)
        if not self.again:
            self._pin()

    @property
    def edges(self) -> list[Edge]:
        """All flags, each with its id."""
        return [edge for kind in sorted(self.kinds) for edge in self.kinds[kind]]

    # -- what is known --------------------------------------------------------------------------------------------

    def _sets(self, edge: Edge, visits: Visits) -> list[tuple[When, Row]]:
        """Every set of a flag in the abstract run, and what its pipe knew."""
        stmt, pipe = edge.set_at.stmt, edge.source
        found = [((v.left, 2), (v.known_ready if edge.guards is None else v.known_after)[pipe]) for v in visits[stmt]]
        if edge.home is not None:
            found += [((v.entered, 1), v.known_before[pipe]) for v in visits[edge.home]]
        return sorted(found)

    def _waits(self, edge: Edge, visits: Visits) -> list[tuple[When, int]]:
        """Every wait for a flag in the abstract run, and the time up to which it was not over."""
        if edge.wait_at.after:
            found = [((v.left, 1), v.after) for v in visits[edge.wait_at.stmt]]
        else:
            found = [((v.entered, 0), v.before) for v in visits[edge.wait_at.stmt]]
        if edge.home is not None:
            found += [((v.left, 0), v.after) for v in visits[edge.home]]
        return sorted(found)

    def _knows(self, first: Edge, second: Edge) -> bool:
        """Whether at each set of `second` its pipe is known to be past the last wait for `first` before it."""
        if first.guards is not None:
            if first is second:
                return True  # what it guards stands between its wait and its next set
            if not self._around(first) and first.home is None:
                # Its wait comes before a set that the target of `second` has waited for.
                return self._interval(first.guards)[1] <= self._interval(second)[0]
        if self._past(first, second, self.analysis.visits):
            return True
        inside = self._around(first)
        if first.home is not None or not inside or inside[-1] in self._around(second):
            return False
        ran = self.analysis.visits_if.get(inside[-1])  # where that loop did not run, nothing waited in it
        return ran is not None and self._past(first, second, ran)

    def _past(self, first: Edge, second: Edge, visits: Visits) -> bool:
        """The same in one abstract run."""
        waits = self._waits(first, visits)
        at = 0
        for when, row in self._sets(second, visits):
            while at < len(waits) and waits[at][0] < when:
                at += 1
            if at and row[second.target] <= waits[at - 1][1]:
                return False
        return True

    def _rivals(self, edge: Edge, pool: _Id) -> list[Edge]:
        """The flags that may have had an id last when this one is set."""
        return [e for e in pool.last if not self._never_both(e, edge)]

    def _homes(self) -> None:
        """Give a carried flag that would be raised anew too early in each round of an outer loop a home further out."""
        for key, edge in self.analysis.carried.items():
            assert edge.home is not None
            around = self.loops[edge.home]
            visits = self.analysis.visits[edge.home]
            if around and any(
                later.known_before[edge.source][edge.target] <= former.after for former, later in pairwise(visits)
            ):
                self.analysis.home_of[key] = around[-1]
                self.again = True

    # -- allocation -----------------------------------------------------------------------------------------------

    def _allocate(self, kind: Kind) -> set[Kind]:
        """Give ids to the flags of one kind; the kinds that got new flags by it."""
        touched: set[Kind] = set()
        guarded = {e.guards for edges in self.kinds.values() for e in edges if e.guards is not None}
        plain = [e for e in self.kinds[kind] if e.width == 1]
        edges = sorted(plain, key=lambda e: (self._interval(e)[0], e.home is None, self._interval(e)[1]))
        rotating = self.rotating.get(kind, [])
        taken = sum(e.width for e in rotating)
        pools = [_Id() for _ in range(self.ids - taken)]
        kept = list(rotating)
        pending: list[Edge] = []
        for edge in edges:
            start = self._interval(edge)[0]
            pending = [p for p in pending if self._interval(p)[1] > start]
            number = self._free(edge, pools)
            if number is None and rotating:
                self._narrow(rotating)
                break
            if number is None and self._merge(edge, pending):
                continue
            if number is None and not self._around(edge):
                number = self._oldest(edge, pools) if edge.guards is None and self._guardable(kind) else None
                if number is not None:
                    (latest,) = self._rivals(edge, pools[number])
                    touched.add(self._guard(latest, edge))
            if number is None:
                self._give_up(edge)
                continue
            if edge not in guarded and edge.guards is None and not self._knows(edge, edge):
                if not self._guardable(kind):
                    self._give_up(edge)
                    continue
                touched.add(self._guard_itself(edge))
            edge.id = taken + number
            arms = self._arms(edge)
            pools[number].last = [e for e in pools[number].last if self._arms(e)[: len(arms)] != arms] + [edge]
            for loop in self._around(edge):
                pools[number].firsts.setdefault(loop, edge)
            kept.append(edge)
            pending.append(edge)
        self.kinds[kind] = kept
        return touched

    def _guardable(self, kind: Kind) -> bool:
        """Whether this core has the flags the other way, too."""
        source, target = kind
        return (PIPES[target], PIPES[source]) in self.analysis.kinds

    # -- ids that take turns --------------------------------------------------------------------------------------

    def _rotate(self) -> None:
        """Give those flags their ids that take turns with the rounds of a loop, below all others."""
        for key, edge in self.analysis.carried.items():
            if edge.width > 1 and not self._knows(edge, edge):
                self.analysis.narrow.add(key)
                self.again = True
        if self.again:
            return
        for kind, edges in self.kinds.items():
            for edge in edges:
                self._widen(edge)
            rotating = self._merged([e for e in edges if e.width > 1])
            if not rotating:
                continue
            self.kinds[kind] = [e for e in edges if e.width == 1 or e in rotating]
            self.rotating[kind] = rotating
            number = 0
            for edge in rotating:
                edge.id = number
                number += edge.width
            others = len(self.kinds[kind]) > len(rotating)
            if number + others > self.ids:
                self._narrow(rotating)

    def _widen(self, edge: Edge) -> None:
        """Let a flag within a round of a loop have as many ids as it needs to be set without waiting."""
        around = self.loops[edge.set_at.stmt]
        reach = self.analysis.reach(around[-1]) if around else 1
        if edge.loop is not None or edge in self.analysis.pinned or reach == 1 or self._knows(edge, edge):
            return
        visits = self.analysis.visits
        sets, waits = visits[edge.set_at.stmt], visits[edge.wait_at.stmt]
        width = least_width(edge, sets, waits, reach, self._hands_on(edge, around[-1]))
        if width is not None:
            edge.width, edge.turn = width, around[-1]

    def _hands_on(self, flag: Edge, loop: For) -> int:
        """With how many ids a flag in a loop is known to be down again in the next run, by a flag of as many ids.

        In each round the set of that one comes after the wait for this, and the next set of this after a wait for that.
        """
        for edge in self.analysis.turning.get(loop, ()) if isinstance(loop.start, int) else ():
            if self._over(flag, edge) and self._over(edge, flag):
                return edge.width
        return 0

    def _over(self, first: Edge, second: Edge) -> bool:
        """Whether in each round of a loop the set of `second` comes after the wait for `first`."""
        if first.target == second.source:
            return self._position(first.wait_at) <= self._position(second.set_at)
        visits = self.analysis.visits
        before = {visit.turn: visit.before for visit in visits[first.wait_at.stmt]}
        sets = visits[second.set_at.stmt]
        return all(visit.known_ready[second.source][first.target] > before[visit.turn] for visit in sets)

    def _merged(self, rotating: list[Edge]) -> list[Edge]:
        """Flags with ids that take turns, some doing the work of two where there would be more ids than there are."""
        kept: list[Edge] = []
        need = sum(e.width for e in rotating)
        for edge in sorted(rotating, key=self._interval):
            same = [e for e in kept if e.turn is edge.turn]
            if need >= self.ids and self._merge(edge, same):
                need -= edge.width
            else:
                kept.append(edge)
        return kept

    def _narrow(self, rotating: list[Edge]) -> None:
        """Let the flags of a loop reach back less far, because they take too many ids.

        One step at a time: what the flags of another kind need is asked of the analysis that follows.
        """
        if self.narrowed:
            return
        widest = max(rotating, key=lambda e: e.width)
        assert widest.turn is not None
        self.analysis.limits[widest.turn] = self.analysis.reach(widest.turn) - 1
        self.again = self.narrowed = True

    def _give_up(self, edge: Edge) -> None:
        """Let `barrier: all` do what there is no id for; for a guard, do what it guards."""
        real = edge.guards if edge.guards is not None else edge
        stmt = real.wait_at.stmt
        wall = self.analysis.walls.setdefault(stmt, Fence(ALL, stmt, 0))
        wall.pairs = list(dict.fromkeys((*wall.pairs, *real.pairs)))
        self.analysis.pinned = [e for e in self.analysis.pinned if e is not real and e.guards is not real]
        self.again = True
        for kind, edges in self.kinds.items():
            if real in edges:
                self.kinds[kind] = [e for e in edges if e is not real]
            self.kinds[kind] = [e for e in self.kinds[kind] if e.guards is not real]

    def _free(self, edge: Edge, pools: list[_Id]) -> int | None:
        """The lowest id this flag may use without further ado."""
        start = self._interval(edge)[0]
        for number, pool in enumerate(pools):
            rivals = self._rivals(edge, pool)
            if any(self._interval(e)[1] > start or not self._knows(e, edge) for e in rivals):
                continue
            shared = [pool.firsts[loop] for loop in self._around(edge) if loop in pool.firsts]
            if shared and (edge.guards is not None or any(e.guards is not None for e in (*rivals, *shared))):
                continue
            if all(self._knows(edge, first) for first in shared):
                return number
        return None

    def _oldest(self, edge: Edge, pools: list[_Id]) -> int | None:
        """The id whose last wait is over for the longest time, if one is over at all when this flag is set."""
        start = self._interval(edge)[0]
        over: list[When] = []
        for number, pool in enumerate(pools):
            rivals = self._rivals(edge, pool)
            if len(rivals) == 1:
                over.append((self._interval(rivals[0])[1], number))
        end, number = min(over, default=(start + 1, 0))
        return number if end <= start else None

    def _merge(self, edge: Edge, pending: list[Edge]) -> bool:
        """Let a pending flag of the same block do this one's work as well."""
        if edge.guards is not None or edge in self.analysis.pinned:
            return False
        for other in reversed(pending):
            if other.guards is not None or other.loop is not edge.loop or other.home is not edge.home:
                continue
            if self.blocks[other.set_at.stmt] != self.blocks[edge.set_at.stmt]:
                continue
            first, second = sorted((other, edge), key=lambda e: self._position(e.wait_at))
            late = max((other.set_at, edge.set_at), key=self._position)
            if other.loop is None and self._position(late) > self._position(first.wait_at):
                continue
            other.pairs = list(dict.fromkeys((*first.pairs, *second.pairs)))
            other.set_at, other.wait_at = late, first.wait_at
            other.width = max(other.width, edge.width) if edge.loop is None else min(other.width, edge.width)
            return True
        return False

    # -- guards ---------------------------------------------------------------------------------------------------

    def _pin(self) -> None:
        """Let the next run know of the guards inside loops: what they order needs nothing else."""
        pinned = self.analysis.pinned
        fresh = [g for g in self.edges if g.guards is not None and g.inner and g not in pinned]
        if fresh and self.analysis.pins < PINS:
            self.analysis.pins += 1
            pinned += [e for g in fresh if g.guards is not None for e in (g.guards, g)]
            self.again = True

    def _guard_itself(self, edge: Edge) -> Kind:
        """Make each set of a flag inside a loop come after its own last wait."""
        # A carried flag is waited for and then set in each round. Another is set and then waited for, and that wait is
        # news to the next round, wherever in the loop that is.
        loop = None if edge.loop is not None else self.loops[edge.set_at.stmt][-1]
        sets, waits = Anchor(edge.wait_at.stmt, True), Anchor(edge.set_at.stmt, True)
        return self._add_guard(edge, edge, sets, waits, loop, inner=True)

    def _guard(self, first: Edge, second: Edge) -> Kind:
        """Make the set of `second` come after the wait of `first`; neither is inside a loop."""
        before: Stmt = first.home if first.home is not None else first.wait_at.stmt
        behind: Stmt = second.home if second.home is not None else second.set_at.stmt
        block = self._common(before, behind)
        left, right = self._holder(before, block), self._holder(behind, block)
        after = second.home is None and right is behind
        return self._add_guard(first, second, Anchor(left, True), Anchor(right, after), None)

    def _add_guard(
        self, first: Edge, second: Edge, set_at: Anchor, wait_at: Anchor, loop: For | None, inner: bool = False
    ) -> Kind:
        home = self.loops[loop][0] if loop is not None and self.loops[loop] else loop
        guard = Edge(first.target, first.source, set_at, wait_at, loop, home, guards=second, inner=inner)
        guard.pairs = list(first.pairs)
        self.kinds.setdefault((guard.source, guard.target), []).append(guard)
        return guard.source, guard.target
