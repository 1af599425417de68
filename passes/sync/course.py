"""The abstract run of a region: what each pipe may rely on, along loops and branches.

Every instruction takes the next time of its pipe. `known[q][p]` is up to which time pipe `q` may rely on pipe `p` to be
complete, a set of a flag hands its pipe's row on, and a wait takes it over (`rows`).

A loop is run twice, and the second round stands for all later ones. One with rotating slots (`rotation.py`) is run
D + 1 times, D being the largest N of its slots `(i + c) % N`, or the number of event ids where that is less.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pypto_spec.ir.access import Access, next_iteration
from pypto_spec.ir.loops import least_trips, trips
from pypto_spec.ir.nodes import Barrier, Buffer, For, If, Op, SetFlag, Stmt, WaitFlag
from pypto_spec.ir.rewrite import local_symbols
from pypto_spec.passes.sync.history import History, Record
from pypto_spec.passes.sync.knowledge import Visit, both, common, later, unless
from pypto_spec.passes.sync.model import PIPES, Edge, Fence, Row
from pypto_spec.passes.sync.places import Places
from pypto_spec.passes.sync.residues import Residues
from pypto_spec.passes.sync.rotation import Moves, meet

_N = len(PIPES)


@dataclass(slots=True)
class _Frame:
    """A block being run: its holder, the statement at hand, and the last times when it began."""

    stmt: Stmt | None = None
    last: Row = ()


@dataclass(frozen=True, slots=True)
class Former:
    """The former rounds of a loop being run: from time `start` to `end`, `length` each; `most` are told apart."""

    loop: For
    start: int
    end: int
    length: int
    most: int

    def lag(self, time: int) -> int:
        """How many rounds ago that was, if it was in one of them."""
        return (self.end - time) // self.length + 1


class Course(ABC):
    """One region being run, from its start (`_begin`) on.

    `limits` says how many rounds the flags of a loop may reach back at most, where that is not the number of event ids.
    `final`: nothing is relied on that a loop does which may not run.
    """

    def __init__(self, body: tuple[Stmt, ...], buffers: Mapping[str, Buffer], ids: int) -> None:
        self.body = body
        self.ids = ids
        self.places = Places(body, buffers)
        self.order = self.places.order
        self.limits: dict[For, int] = {}
        self.supposed: frozenset[For] = frozenset()
        """Loops that are supposed to run at least once."""
        self.walls: dict[Stmt, Fence] = {}

    @abstractmethod
    def _op(self, op: Op, moves: Moves) -> None:
        """Find what an op needs and keep what it does."""

    @abstractmethod
    def _standing(self, key: tuple[Stmt, int, int]) -> bool:
        """Whether a barrier stands already before that step of a statement, of that pipe."""

    def reach(self, loop: For) -> int:
        """How many rounds back the flags that a loop carries may reach."""
        period = self.places.periods.get(loop, 1)
        return min(period, self.limits.get(loop, self.ids))

    def _count(self, loop: For) -> int:
        """For how many rounds a loop is run: one more than its flags reach back, or as many as it has."""
        count, enough = trips(loop), self.reach(loop) + 1
        return min(enough, count) if count else enough

    def _begin(self, edges: Iterable[Edge]) -> None:
        """Start a run with these flags in force."""
        self.known: list[list[int]] = [[0] * _N for _ in range(_N)]
        self.last: list[int] = [0] * _N
        self.time = 0
        self.moment = 0
        self.history = History(self._touch) if self.places.periods else History()
        self.once = self.places.short({loop: self._count(loop) for loop in self.places.periods})
        self.frames: list[_Frame] = []
        self.ends: dict[Stmt, tuple[tuple[Row, ...], Row]] = {}
        self.visits: dict[Stmt, list[Visit]] = {}
        self.rows: dict[Edge, tuple[Row, ...]] = {}
        self.rounds: list[Former] = []
        self.turn = (0, 0)
        self.learnt: dict[Stmt, list[tuple[int, int, Row, int]]] = {}
        self.final = False
        self.waits_at: dict[Stmt, list[Edge]] = {}
        self.sets_at: dict[Stmt, list[Edge]] = {}
        self.homes: dict[For, list[Edge]] = {}
        self.turning: dict[For, list[Edge]] = {}
        self.guard_waits_at: dict[Stmt, list[Edge]] = {}
        self.guard_sets_at: dict[Stmt, list[Edge]] = {}
        for edge in edges:
            guards = edge.guards is not None
            sets, waits = (self.guard_sets_at, self.guard_waits_at) if guards else (self.sets_at, self.waits_at)
            sets.setdefault(edge.set_at.stmt, []).append(edge)
            waits.setdefault(edge.wait_at.stmt, []).append(edge)
            if edge.home is not None:
                self.homes.setdefault(edge.home, []).append(edge)
            if edge.width > 1 and edge.loop is not None:
                self.turning.setdefault(edge.loop, []).append(edge)
        self.residues = Residues(self.turning, self.places.periods)

    # -- statements -----------------------------------------------------------------------------------------------

    def _block(self, body: tuple[Stmt, ...], moves: Moves) -> None:
        frame = _Frame()
        self.frames.append(frame)
        for stmt in body:
            frame.stmt = stmt
            self._waits(self.waits_at.get(stmt, ()))
            if stmt in self.walls:
                for pipe in range(_N):
                    self._join(pipe, self.last)
            self.moment += 1
            before, known, entered = self.time, self._snapshot(), self.moment
            if isinstance(stmt, Op):
                self._op(stmt, moves)
                if len(self.places.steps(stmt)) > 1:  # a flag behind it is for all of them
                    self.ends[stmt] = self._snapshot(), tuple(self.last)
            elif isinstance(stmt, For | If):
                for pipe in range(_N):
                    if self._standing((stmt, 0, pipe)):
                        self.known[pipe][pipe] = self.last[pipe]
                frame.last = tuple(self.last)
                if isinstance(stmt, For):
                    self._for(stmt, moves)
                else:
                    self._if(stmt, moves)
                self.ends[stmt] = self._snapshot(), tuple(self.last)
            elif isinstance(stmt, SetFlag | WaitFlag | Barrier):
                raise AssertionError("written flags and barriers belong to `sync: manual`")
            self.moment += 1
            behind = ready = self._snapshot()
            self._sets(self.guard_sets_at.get(stmt, ()))
            if stmt in self.guard_waits_at:
                self._waits(self.guard_waits_at[stmt])
                ready = self._snapshot()
            self.visits.setdefault(stmt, []).append(
                Visit(before, known, entered, self.time, behind, ready, self.moment, self.turn)
            )
            self._sets(self.sets_at.get(stmt, ()))
        self.frames.pop()

    # -- knowledge ------------------------------------------------------------------------------------------------

    def _waits(self, edges: Iterable[Edge]) -> None:
        for edge in edges:
            if edge in self.rows:
                self._join(edge.target, self.rows[edge][0])
                if edge.width > 1:
                    self.residues.wait(edge, self.time)

    def _sets(self, edges: Iterable[Edge]) -> None:
        for edge in edges:
            row = self._row_now(edge.source)
            if edge.width == 1:
                self.rows[edge] = (row,)
                continue
            self.rows[edge] = (*self.rows[edge][1:], row)
            if self.turn[1] == 0:
                self.residues.set(edge, row)

    def _snapshot(self) -> tuple[Row, ...]:
        return tuple(map(tuple, self.known))

    def _row_now(self, pipe: int) -> Row:
        row = list(self.known[pipe])
        row[pipe] = max(row[pipe], self.last[pipe])
        return tuple(row)

    def _join(self, pipe: int, row: Sequence[int]) -> None:
        mine = self.known[pipe]
        for number, time in enumerate(row):
            if time > mine[number]:
                mine[number] = time

    def _learn(self, target: int, source: int, row: Row, time: int) -> None:
        self._join(target, row)
        self.known[target][source] = max(self.known[target][source], time)

    def _learnt_before(self, stmt: For | If, known: Iterable[Sequence[int]]) -> list[list[int]]:
        """What was known before a loop or `if`, with what the waits give that are found to stand in front of it."""
        rows = [list(row) for row in known]
        for target, source, row, time in self.learnt.get(stmt, ()):
            mine = rows[target]
            for number, passed in enumerate(row):
                mine[number] = max(mine[number], passed)
            mine[source] = max(mine[source], time)
        return rows

    def _crossing(self, record: Record) -> Former | None:
        """The loop whose former round `record` belongs to, if any."""
        for former in self.rounds:
            if former.start < record.time <= former.end:
                return former
        return None

    def _touch(self, record: Record, access: Access) -> bool:
        """Whether an access can share a byte with a record, where a loop tells its rounds apart."""
        former = self._crossing(record)
        lag, most = (former.lag(record.time), former.most) if former is not None else (0, 1)
        return meet(record.access, access, lag, most)

    # -- structure ------------------------------------------------------------------------------------------------

    def _for(self, loop: For, moves: Moves) -> None:
        """Run a loop for some rounds, mostly two: the last stands for all later ones."""
        for edge in self.homes.get(loop, ()):
            self.rows[edge] = (self._row_now(edge.source),) * edge.width
        before, last, opening = self._snapshot(), tuple(self.last), dict(self.rows)
        self.learnt.pop(loop, None)
        least = max(least_trips(loop), int(loop in self.supposed))
        skipped = self.history.copy() if least == 0 else None
        self._rounds(loop, moves)
        for edge in self.turning.get(loop, ()):
            # Which of its ids comes next is not known behind the loop: what the oldest of them knows holds for each.
            self.rows[edge] = (self.rows[edge][-1 if edge.home is loop else 0],) * edge.width
        if skipped is not None:
            self.history.merge(skipped)
        before = tuple(map(tuple, self._learnt_before(loop, before)))
        if least == 0 and self.final:
            self.known = [list(common(a, b)) for a, b in zip(before, self.known, strict=True)]
            self.rows = {e: both(opening[e], rows) for e, rows in self.rows.items() if e in opening}
        elif least == 0:
            self.known = [list(unless(a, last, b)) for a, b in zip(before, self.known, strict=True)]
            self.rows = {
                e: tuple(unless(a, last, b) for a, b in zip(opening[e], rows, strict=True))
                for e, rows in self.rows.items()
                if e in opening
            }
        for edge in self.homes.get(loop, ()):
            self._join(edge.target, self.rows.pop(edge)[-1])

    def _rounds(self, loop: For, moves: Moves) -> None:
        start, outer, run = self.time, self.turn, self.moment
        rounds, most = self._count(loop), self.reach(loop)
        self.turn = run, 0
        self.residues.round(loop, 0, start)
        self._block(loop.body, moves)
        length = self.time - start
        here, less = moves, []
        for number in range(1, rounds):
            if loop in self.once:
                # After fewer rounds less may be known; their times stand for those of the last ones.
                shift = (rounds - number) * length
                known = [later(row, start, shift) for row in self.known]
                less.append((known, {e: tuple(later(r, start, shift) for r in rows) for e, rows in self.rows.items()}))
            here = self._moved(loop, moves, here, number)
            self.rounds.append(Former(loop, start, self.time, length or 1, most))
            self.turn = run, number
            self.residues.round(loop, number, start)
            self._block(loop.body, here)
            self.rounds.pop()
        self.turn = outer
        if rounds > 1:
            self.history.settle(start, self.time - length, moves)
            self.residues.end(loop, self.time - length, self.time)
        for known, raised in less:
            self.known = [list(common(a, b)) for a, b in zip(known, self.known, strict=True)]
            self.rows = {e: both(raised[e], rows) for e, rows in self.rows.items()}

    def _moved(self, loop: For, first: Moves, former: Moves, number: int) -> Moves:
        inner = [*local_symbols(loop.body), *(n.arg for n in loop.numbers)]
        ahead = next_iteration(loop.index, loop.step, trips(loop), inner)
        if loop not in self.places.periods:
            return Moves({**first.values, **ahead}, first.exact)
        return first.round(loop.index, number, ahead, former)

    def _if(self, branch: If, moves: Moves) -> None:
        before, history, rows = [list(row) for row in self.known], self.history.copy(), dict(self.rows)
        self.learnt.pop(branch, None)
        self._block(branch.then, moves)
        after, seen, raised = self.known, self.history, self.rows
        # The other arm never runs after this one: it sees what was before both, and the waits in front of both.
        self.known, self.history, self.rows = self._learnt_before(branch, before), history, rows
        self._block(branch.other, moves)
        after = self._learnt_before(branch, after)
        self.known = [list(common(a, b)) for a, b in zip(after, self.known, strict=True)]
        self.rows = {e: both(raised[e], rows) for e, rows in self.rows.items() if e in raised}
        self.history.merge(seen)
