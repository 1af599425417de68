"""Which flags and barriers a region needs.

The region is run once in the abstract: every instruction takes the next time of its pipe, and a table `known[q][p]`
holds up to which time pipe `q` may rely on pipe `p` to be complete. An instruction that conflicts with an older one
not yet known gets a flag (other pipe) or a barrier (same pipe), placed as late as that need allows, so that one serves
as many later needs as possible. Waiting for an instruction also gives all that its pipe knew when it issued it.

A loop is run twice: what the second round lacks of the first is carried by the loop. A carried flag is set before the
loop and after its producer, and waited for before its consumer and after the loop. With what is carried in force the
whole region is run again, until nothing is missing. A flag never crosses a block: a wait is moved before the loop or
`if` that holds its consumer, a set behind the one that holds its producer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pypto_spec.ir.access import next_iteration
from pypto_spec.ir.expr import Index, Sym
from pypto_spec.ir.nodes import Barrier, Buffer, For, If, Op, SetFlag, Stmt, WaitFlag
from pypto_spec.ir.rewrite import local_symbols
from pypto_spec.passes.sync.history import History, Record, hull
from pypto_spec.passes.sync.knowledge import Visit, common, later, unless
from pypto_spec.passes.sync.model import PIPES, Anchor, Edge, Fence, Row
from pypto_spec.passes.sync.places import Places, Step, least_trips, trips

_N = len(PIPES)


@dataclass(slots=True)
class _Frame:
    """A block being run: its holder, the statement at hand, and the last times when it began."""

    stmt: Stmt | None = None
    last: Row = ()


class Analysis:
    """The abstract run of one region; afterwards `edges` and `fences` hold what it needs.

    `carried` and `carried_fences` are what loops carry; they grow until a run finds nothing missing. The event ids
    decide `home_of`, `walls` and `pinned`: flags set before an outer loop, `barrier: all` in place of flags, and flags
    with the guards of their ids, which then order other things as well.
    """

    def __init__(self, body: tuple[Stmt, ...], buffers: Mapping[str, Buffer]) -> None:
        self.body = body
        self.places = Places(body, buffers)
        self.order = self.places.order
        self.home_of: dict[tuple[For, int, int, Stmt], For] = {}
        self.walls: dict[Stmt, Fence] = {}
        self.pinned: list[Edge] = []
        self.pins = 0
        self.run()

    def run(self) -> None:
        """Run the region until nothing is missing any more.

        A flag is found where it is needed first, but it also orders what stands around it: with loops or branches the
        barriers are looked for anew once all flags are in force.
        """
        self.standing = {e.key: e for e in self.pinned if e.loop is None and e.guards is None}
        self.carried = {e.carried_key: e for e in self.pinned if e.loop is not None and e.guards is None}
        for key, edge in self.carried.items():
            edge.home = self.home_of.get(key, edge.loop)
        self.carried_fences: dict[tuple[Stmt, int, int], Fence] = {}
        self._complete()
        if any(isinstance(s, For | If) for s in self.order):
            self.standing = self.edges
            self.carried_fences = {}
            self._complete()
            self._review()

    def _complete(self) -> None:
        """Add what loops have to carry until a whole run finds nothing missing.

        Of what a run finds missing only that of the innermost loops is added before the next: it often orders what
        outer loops seemed to lack.
        """
        while True:
            self._reset()
            self._block(self.body, {})
            if not self.missing and not self.missing_fences:
                break
            lacking = [k[0] for k in self.missing] + [loop for loop, _ in self.missing_fences.values()]
            depth = max(self.places.depths[loop] for loop in lacking)
            for key, edge in self.missing.items():
                assert edge.loop is not None
                if self.places.depths[edge.loop] == depth:
                    known = self.carried.get(key)
                    self.carried[key] = edge
                    if known is not None:
                        edge.pairs = list(dict.fromkeys((*known.pairs, *edge.pairs)))
            for place, (loop, fence) in self.missing_fences.items():
                if self.places.depths[loop] == depth:
                    self.carried_fences[place] = fence

    def _review(self) -> None:
        """Run once more for `visits` alone.

        Nothing is relied on that a loop does which may not run. Work that was skipped is no concern to others, but a
        wait in front of the loop is still to come then: event ids must not be given on the strength of such a loop.
        """
        self.standing = self.edges
        self._reset(self.fences)
        self.final = True
        self._block(self.body, {})
        self.final = False

    def all_fences(self) -> list[Fence]:
        """Every barrier the region needs, in program order."""
        found = (*self.fences.values(), *self.carried_fences.values(), *self.walls.values())
        return sorted(found, key=lambda f: (self.order[f.stmt], f.step, f.pipe))

    def _reset(self, fences: Mapping[tuple[Stmt, int, int], Fence] | None = None) -> None:
        """Start a run with the flags in force that `standing` and `carried` hold, and perhaps with barriers."""
        self.known: list[list[int]] = [[0] * _N for _ in range(_N)]
        self.last: list[int] = [0] * _N
        self.time = 0
        self.moment = 0
        self.history = History()
        self.edges: dict[tuple[int, int, Stmt], Edge] = dict(self.standing)
        self.fences: dict[tuple[Stmt, int, int], Fence] = dict(fences or {})
        self.frames: list[_Frame] = []
        self.ends: dict[Stmt, tuple[tuple[Row, ...], Row]] = {}
        self.visits: dict[Stmt, list[Visit]] = {}
        self.rows: dict[Edge, Row] = {}
        self.rounds: list[tuple[For, int, int]] = []
        self.learnt: dict[Stmt, list[tuple[int, int, Row, int]]] = {}
        self.final = False
        self.missing: dict[tuple[For, int, int, Stmt], Edge] = {}
        self.missing_fences: dict[tuple[Stmt, int, int], tuple[For, Fence]] = {}
        self.waits_at: dict[Stmt, list[Edge]] = {}
        self.sets_at: dict[Stmt, list[Edge]] = {}
        self.homes: dict[For, list[Edge]] = {}
        self.guard_waits_at: dict[Stmt, list[Edge]] = {}
        self.guard_sets_at: dict[Stmt, list[Edge]] = {}
        for edge in (*self.standing.values(), *self.carried.values(), *self.guards):
            guards = edge.guards is not None
            sets, waits = (self.guard_sets_at, self.guard_waits_at) if guards else (self.sets_at, self.waits_at)
            sets.setdefault(edge.set_at.stmt, []).append(edge)
            waits.setdefault(edge.wait_at.stmt, []).append(edge)
            if edge.home is not None:
                self.homes.setdefault(edge.home, []).append(edge)

    @property
    def guards(self) -> list[Edge]:
        """The pinned flags that guard the id of another."""
        return [e for e in self.pinned if e.guards is not None]

    # -- running --------------------------------------------------------------------------------------------------

    def _block(self, body: tuple[Stmt, ...], moves: Mapping[Sym, Index]) -> None:
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
                Visit(before, known, entered, self.time, behind, ready, self.moment)
            )
            self._sets(self.sets_at.get(stmt, ()))
        self.frames.pop()

    def _waits(self, edges: Iterable[Edge]) -> None:
        for edge in edges:
            if edge in self.rows:
                self._join(edge.target, self.rows[edge])

    def _sets(self, edges: Iterable[Edge]) -> None:
        for edge in edges:
            self.rows[edge] = self._row_now(edge.source)

    def _snapshot(self) -> tuple[Row, ...]:
        return tuple(map(tuple, self.known))

    def _join(self, pipe: int, row: Sequence[int]) -> None:
        mine = self.known[pipe]
        for number, time in enumerate(row):
            if time > mine[number]:
                mine[number] = time

    def _op(self, op: Op, moves: Mapping[Sym, Index]) -> None:
        plain = steps = self.places.steps(op)
        if moves:
            steps = tuple(Step(s.number, s.pipe, tuple(a.moved(moves) for a in s.accesses), s.atomic) for s in steps)
        self._flags(op, steps)
        for step, source in zip(steps, plain, strict=True):
            self._fence(op, step)
            self.time += 1
            row = tuple(self.known[step.pipe])
            for access, whole in zip(step.accesses, source.accesses, strict=True):
                record = Record(access, op, step.pipe, self.time, row, step.atomic, whole, *hull(access))
                self.history.add(record)
            self.last[step.pipe] = self.time

    def _flags(self, op: Op, steps: tuple[Step, ...]) -> None:
        """Wait for what other pipes still have to do for this op."""
        needs: dict[tuple[int, int], Record] = {}
        for step in steps:
            pipe, mine = step.pipe, self.known[step.pipe]
            if all(time <= mine[other] or other == pipe for other, time in enumerate(self.last)):
                continue  # all that the other pipes ever did is known to be done
            for access in step.accesses:
                for record in self.history.conflicts(access, step.atomic, pipe, mine, own=False):
                    held = needs.get((record.pipe, step.pipe))
                    if held is None or record.time > held.time:
                        needs[record.pipe, step.pipe] = record
        # Waiting for the youngest first often gives the others as well.
        for (source, target), record in sorted(needs.items(), key=lambda item: -item[1].time):
            if self.known[target][source] < record.time:
                self._edge(op, record, target)

    def _crossing(self, record: Record) -> For | None:
        """The loop whose former round `record` belongs to, if any."""
        for loop, start, end in self.rounds:
            if start < record.time <= end:
                return loop
        return None

    def _edge(self, op: Op, record: Record, target: int) -> None:
        """Make (or extend) the flag that lets `op` wait for `record`."""
        source = record.pipe
        loop = self._crossing(record)
        first, second = self.places.meet(record.op, op, loop)
        if self.final:
            found = self.edges.get((source, target, second)) if loop is None else None
            if found is None:
                return
            edge = found
        elif loop is None:
            assert self.order[first] < self.order[second], "an edge runs forward in its block"
            made = Edge(source, target, Anchor(first, True), Anchor(second, False), None)
            edge = self.edges.setdefault((source, target, second), made)
        else:
            if self.order[first] < self.order[second]:
                first = second  # a carried flag is lowered in each round before it is raised again
            key = (loop, source, target, second)
            home = self.home_of.get(key, loop)
            made = Edge(source, target, Anchor(first, True), Anchor(second, False), loop, home)
            edge = self.missing.setdefault(key, made)
        if not self.final:
            if self.order[first] > self.order[edge.set_at.stmt]:
                edge.set_at = Anchor(first, True)
            edge.note(record.op, op)
        placed = edge.set_at.stmt
        if isinstance(placed, Op) or placed not in self.ends:
            row, time = record.row, record.time
        else:
            rows, last = self.ends[placed]
            row, time = rows[source], last[source]
        self._learn(target, source, row, time)
        if loop is None and not isinstance(second, Op):
            holders = [frame.stmt for frame in self.frames]
            for holder in holders[holders.index(second) :]:  # the wait stands before all of them
                if isinstance(holder, For | If):
                    self.learnt.setdefault(holder, []).append((target, source, row, time))

    def _learnt_before(self, stmt: For | If, known: Iterable[Sequence[int]]) -> list[list[int]]:
        """What was known before a loop or `if`, with what the waits give that are found to stand in front of it."""
        rows = [list(row) for row in known]
        for target, source, row, time in self.learnt.get(stmt, ()):
            mine = rows[target]
            for number, passed in enumerate(row):
                mine[number] = max(mine[number], passed)
            mine[source] = max(mine[source], time)
        return rows

    def _learn(self, target: int, source: int, row: Row, time: int) -> None:
        self._join(target, row)
        self.known[target][source] = max(self.known[target][source], time)

    def _fence(self, op: Op, step: Step) -> None:
        """Put a barrier before an instruction that depends on one of its own pipe."""
        pipe = step.pipe
        mine = self.known[pipe]
        if self._standing((op, step.number, pipe)):
            mine[pipe] = self.last[pipe]
        if mine[pipe] == self.last[pipe]:
            return
        late = [
            record
            for access in step.accesses
            for record in self.history.conflicts(access, step.atomic, pipe, mine, own=True)
        ]
        if not late or self.final:
            return
        newest = max(late, key=lambda r: r.time)
        stmt: Stmt = op
        number = step.number
        loop = self._crossing(newest)
        if loop is not None:
            fence = self.missing_fences.setdefault((op, number, pipe), (loop, Fence(pipe, op, number)))[1]
        else:
            stmt, number = self._outermost(newest, op, number)
            fence = self.fences.setdefault((stmt, number, pipe), Fence(pipe, stmt, number))
        for record in late:
            fence.note(record.op, op)
        if stmt is op:
            mine[pipe] = self.last[pipe]
        else:
            frame = next(f for f in self.frames if f.stmt is stmt)
            mine[pipe] = max(mine[pipe], frame.last[pipe])

    def _standing(self, key: tuple[Stmt, int, int]) -> bool:
        """Whether that barrier stands already."""
        return key in self.fences or key in self.carried_fences

    def _outermost(self, record: Record, op: Op, number: int) -> tuple[Stmt, int]:
        """Where a barrier between the two runs least often: before the outermost loop around the second alone."""
        if record.op is op:
            return op, number
        _, second = self.places.meet(record.op, op, None)
        if second is op or not any(isinstance(s, For) for _, _, s in self.places.paths[op] if self._within(s, second)):
            return op, number
        return second, 0

    def _within(self, stmt: Stmt, outer: Stmt) -> bool:
        return stmt is outer or self.order[stmt] >= self.order[outer]

    # -- structure ------------------------------------------------------------------------------------------------

    def _row_now(self, pipe: int) -> Row:
        row = list(self.known[pipe])
        row[pipe] = max(row[pipe], self.last[pipe])
        return tuple(row)

    def _for(self, loop: For, moves: Mapping[Sym, Index]) -> None:
        """Run a loop twice: the second round stands for all later ones."""
        for edge in self.homes.get(loop, ()):
            self.rows[edge] = self._row_now(edge.source)
        before, last, opening = self._snapshot(), tuple(self.last), dict(self.rows)
        self.learnt.pop(loop, None)
        start = self.time
        least = least_trips(loop)
        skipped = self.history.copy() if least == 0 else None
        self._block(loop.body, moves)
        if trips(loop) != 1:
            # After one round alone less may be known than after two; times of the first stand for those of the second.
            shift = self.time - start
            once = [later(row, start, shift) for row in self.known]
            rows = {edge: later(row, start, shift) for edge, row in self.rows.items()}
            self.rounds.append((loop, start, self.time))
            self._block(loop.body, self._moved(loop, moves))
            self.rounds.pop()
            self.history.settle(start, start + shift, moves)
            if loop in self.places.once:
                self.known = [list(common(a, b)) for a, b in zip(once, self.known, strict=True)]
                self.rows = {edge: common(rows[edge], row) for edge, row in self.rows.items()}
        if skipped is not None:
            self.history.merge(skipped)
        before = tuple(map(tuple, self._learnt_before(loop, before)))
        if least == 0 and self.final:
            self.known = [list(common(a, b)) for a, b in zip(before, self.known, strict=True)]
            self.rows = {edge: common(opening[edge], row) for edge, row in self.rows.items() if edge in opening}
        elif least == 0:
            self.known = [list(unless(a, last, b)) for a, b in zip(before, self.known, strict=True)]
            self.rows = {edge: unless(opening[edge], last, row) for edge, row in self.rows.items() if edge in opening}
        for edge in self.homes.get(loop, ()):
            self._join(edge.target, self.rows.pop(edge))

    def _moved(self, loop: For, moves: Mapping[Sym, Index]) -> Mapping[Sym, Index]:
        inner = [*local_symbols(loop.body), *(n.arg for n in loop.numbers)]
        return {**moves, **next_iteration(loop.index, loop.step, trips(loop), inner)}

    def _if(self, branch: If, moves: Mapping[Sym, Index]) -> None:
        before, history, rows = [list(row) for row in self.known], self.history.copy(), dict(self.rows)
        self.learnt.pop(branch, None)
        self._block(branch.then, moves)
        after, seen, raised = self.known, self.history, self.rows
        # The other arm never runs after this one: it sees what was before both, and the waits in front of both.
        self.known, self.history, self.rows = self._learnt_before(branch, before), history, rows
        self._block(branch.other, moves)
        after = self._learnt_before(branch, after)
        self.known = [list(common(a, b)) for a, b in zip(after, self.known, strict=True)]
        self.rows = {edge: common(raised[edge], row) for edge, row in self.rows.items() if edge in raised}
        self.history.merge(seen)
