"""Which flags and barriers a region needs.

The region is run in the abstract (`course.py`). An instruction that conflicts with an older one that its pipe cannot
rely on yet gets a flag (other pipe) or a barrier (same pipe), placed as late as that need allows, so that one serves as
many later needs as possible. Waiting for an instruction also gives all that its pipe knew when it issued it.

What the second round of a loop lacks of the first is carried by the loop. A carried flag is set before the loop and
after its producer, and waited for before its consumer and after the loop; where rounds are told apart, and a round
lacks something of the one d rounds ago, it has d ids, which take turns. With what is carried in force the whole region
is run again, until nothing is missing. A flag never crosses a block: a wait is moved before the loop or `if` that holds
its consumer, a set behind the one that holds its producer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from pypto_spec.ir.loops import least_trips
from pypto_spec.ir.nodes import Buffer, For, If, Op, Stmt
from pypto_spec.passes.sync.course import Course
from pypto_spec.passes.sync.history import Record, hull
from pypto_spec.passes.sync.knowledge import Visit
from pypto_spec.passes.sync.model import ALL, PIPES, Anchor, Edge, Fence
from pypto_spec.passes.sync.places import Step
from pypto_spec.passes.sync.rotation import STILL, Moves

MOST_SUPPOSED = 4
"""Loops that may not run, up to which each is supposed to run once; more are not worth the time."""


class Analysis(Course):
    """The abstract run of one region; afterwards `edges` and `fences` hold what it needs.

    `carried` and `carried_fences` are what loops carry; they grow until a run finds nothing missing. The event ids
    decide `home_of`, `walls` and `pinned`: flags set before an outer loop, `barrier: all` in place of flags, and flags
    with the guards of their ids, which then order other things as well; and `limits` and `narrow`: how far the flags of
    a loop may reach back, and flags that may reach back one round only.
    """

    def __init__(
        self, body: tuple[Stmt, ...], buffers: Mapping[str, Buffer], ids: int, kinds: Collection[tuple[str, str]]
    ) -> None:
        super().__init__(body, buffers, ids)
        self.kinds = kinds
        self.home_of: dict[tuple[For, int, int, Stmt], For] = {}
        self.pinned: list[Edge] = []
        self.pins = 0
        self.narrow: set[tuple[For, int, int, Stmt]] = set()
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
        self.visits_if: dict[For, dict[Stmt, list[Visit]]] = {}
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
            standing = len(self.walls)
            self._block(self.body, STILL)
            if len(self.walls) > standing:
                continue
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
                        edge.width = min(edge.width, known.width)
                        edge.pairs = list(dict.fromkeys((*known.pairs, *edge.pairs)))
            for place, (loop, fence) in self.missing_fences.items():
                if self.places.depths[loop] == depth:
                    self.carried_fences[place] = fence

    def _review(self) -> None:
        """Run once more for `visits` alone.

        Nothing is relied on that a loop does which may not run. Work that was skipped is no concern to others, but a
        wait in front of the loop is still to come then: event ids must not be given on the strength of such a loop.
        What stands in it is another matter: where it did not run nothing was set there, so `visits_if` holds what is
        known if it did.
        """
        self.standing = self.edges
        loops = [s for s in self.order if isinstance(s, For) and least_trips(s) == 0]
        for loop in loops if len(loops) <= MOST_SUPPOSED and self._crowded() else ():
            self.supposed = frozenset(self.places.around[loop])
            self._look()
            self.visits_if[loop] = self.visits
        self.supposed = frozenset()
        self._look()

    def _crowded(self) -> bool:
        """Whether there are more flags of one kind than ids, so that some have to share one."""
        count = Counter[tuple[int, int]]()
        for edge in (*self.edges.values(), *self.carried.values()):
            count[edge.source, edge.target] += edge.width
        return max(count.values(), default=0) > self.ids

    def _look(self) -> None:
        """A run that changes nothing, for what is known at each statement."""
        self._reset(self.fences)
        self.final = True
        self._block(self.body, STILL)
        self.final = False

    def all_fences(self) -> list[Fence]:
        """Every barrier the region needs, in program order."""
        found = (*self.fences.values(), *self.carried_fences.values(), *self.walls.values())
        return sorted(found, key=lambda f: (self.order[f.stmt], f.step, f.pipe))

    def _reset(self, fences: Mapping[tuple[Stmt, int, int], Fence] | None = None) -> None:
        """Start a run with the flags in force that `standing` and `carried` hold, and perhaps with barriers."""
        self._begin((*self.standing.values(), *self.carried.values(), *self.guards))
        self.edges: dict[tuple[int, int, Stmt], Edge] = dict(self.standing)
        self.fences: dict[tuple[Stmt, int, int], Fence] = dict(fences or {})
        self.missing: dict[tuple[For, int, int, Stmt], Edge] = {}
        self.missing_fences: dict[tuple[Stmt, int, int], tuple[For, Fence]] = {}

    @property
    def guards(self) -> list[Edge]:
        """The pinned flags that guard the id of another."""
        return [e for e in self.pinned if e.guards is not None]

    def _op(self, op: Op, moves: Moves) -> None:
        plain = steps = self.places.steps(op)
        if moves is not STILL:
            steps = tuple(replace(s, accesses=tuple(map(moves.access, s.accesses))) for s in steps)
        self._flags(op, steps, plain)
        for step, source in zip(steps, plain, strict=True):
            if step.fenced:
                self.known[step.pipe][step.pipe] = self.last[step.pipe]
            self._fence(op, step, source)
            self.time += 1
            row = tuple(self.known[step.pipe])
            for access, whole in zip(step.accesses, source.accesses, strict=True):
                record = Record(access, op, step.pipe, self.time, row, step.atomic, whole, *hull(access, whole))
                self.history.add(record)
            self.last[step.pipe] = self.time

    def _conflicts(self, step: Step, plain: Step, own: bool) -> Iterator[Record]:
        """What the instruction has to wait for, on its own pipe or on others; `plain` is it in any round."""
        pipe, mine = step.pipe, self.known[step.pipe]
        between = bool(self.turning)
        for access, whole in zip(step.accesses, plain.accesses, strict=True):
            for record in self.history.conflicts(access, whole, step.atomic, pipe, mine, own):
                if not (between and self.residues.ordered(record, whole, pipe, mine)):
                    yield record

    def _flags(self, op: Op, steps: tuple[Step, ...], plain: tuple[Step, ...]) -> None:
        """Wait for what other pipes still have to do for this op."""
        needs = self._needs(steps, plain)
        # Waiting for the youngest first often gives the others as well.
        for (source, target), first in sorted(needs.items(), key=lambda item: -item[1].time):
            if self.known[target][source] < first.time:
                record = self._needs(steps, plain).get((source, target)) if self.turning else first
                if record is not None:
                    self._edge(op, record, target)

    def _needs(self, steps: tuple[Step, ...], plain: tuple[Step, ...]) -> dict[tuple[int, int], Record]:
        """The last that each pipe has to wait for of each other one."""
        needs: dict[tuple[int, int], Record] = {}
        for step, whole in zip(steps, plain, strict=True):
            pipe, mine = step.pipe, self.known[step.pipe]
            if all(time <= mine[other] or other == pipe for other, time in enumerate(self.last)):
                continue  # all that the other pipes ever did is known to be done
            for record in self._conflicts(step, whole, own=False):
                held = needs.get((record.pipe, pipe))
                if held is None or record.time > held.time:
                    needs[record.pipe, pipe] = record
        return needs

    def _edge(self, op: Op, record: Record, target: int) -> None:
        """Make (or extend) the flag that lets `op` wait for `record`."""
        source = record.pipe
        former = self._crossing(record)
        loop, lag = (former.loop, former.lag(record.time)) if former is not None else (None, 0)
        first, second = self.places.meet(record.op, op, loop)
        if (PIPES[source], PIPES[target]) not in self.kinds:
            self._wall(record, op, second, target)
            return
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
            lag = 1 if key in self.narrow else lag
            home = self.home_of.get(key, loop)
            made = Edge(source, target, Anchor(first, True), Anchor(second, False), loop, home, width=lag, turn=loop)
            edge = self.missing.setdefault(key, made)
            edge.width = min(edge.width, lag)
        if not self.final:
            if self.order[first] > self.order[edge.set_at.stmt]:
                edge.set_at = Anchor(first, True)
            edge.note(record.op, op)
        placed = edge.set_at.stmt
        if placed not in self.ends or lag > 1:
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

    def _wall(self, record: Record, op: Op, stmt: Stmt, target: int) -> None:
        """Let `barrier: all` stand where a flag would be that this core does not have; the next run reckons with it."""
        if not self.final:
            self.walls.setdefault(stmt, Fence(ALL, stmt, 0)).note(record.op, op)
        self._learn(target, record.pipe, record.row, record.time)

    def _fence(self, op: Op, step: Step, plain: Step) -> None:
        """Put a barrier before an instruction that depends on one of its own pipe."""
        pipe = step.pipe
        mine = self.known[pipe]
        if self._standing((op, step.number, pipe)):
            mine[pipe] = self.last[pipe]
        if mine[pipe] == self.last[pipe]:
            return
        late = list(self._conflicts(step, plain, own=True))
        if not late or self.final:
            return
        newest = max(late, key=lambda r: r.time)
        stmt: Stmt = op
        number = step.number
        former = self._crossing(newest)
        if former is not None:
            fence = self.missing_fences.setdefault((op, number, pipe), (former.loop, Fence(pipe, op, number)))[1]
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
