"""Puts the flags and barriers of a region among its statements."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from pypto_spec.ir.expr import Index
from pypto_spec.ir.instr import InnerBarrier, Step
from pypto_spec.ir.nodes import Barrier, For, If, Op, SetFlag, Stmt, WaitFlag
from pypto_spec.passes.sync.model import PIPES, Edge, Fence, pipe_name


class Emitter:
    """Rebuilds a region's body.

    Around a statement stand, in this order,
    before: waits, barriers, first sets of the flags that a loop carries;
    after: last waits of those flags, sets and waits that guard an id, sets.
    """

    def __init__(self, edges: list[Edge], fences: list[Fence]) -> None:
        self.before: dict[Stmt, list[Stmt]] = defaultdict(list)
        self.after: dict[Stmt, list[Stmt]] = defaultdict(list)
        self.inner: dict[Op, dict[int, Fence]] = defaultdict(dict)
        opening: dict[Stmt, list[Stmt]] = defaultdict(list)
        closing: dict[Stmt, list[Stmt]] = defaultdict(list)
        late: dict[bool, dict[Stmt, list[Stmt]]] = {True: defaultdict(list), False: defaultdict(list)}
        guards: dict[Stmt, list[Stmt]] = defaultdict(list)
        for edge in edges:
            late[edge.guards is not None][edge.set_at.stmt].append(self._set(edge))
            (guards if edge.wait_at.after else self.before)[edge.wait_at.stmt].append(self._wait(edge))
            if edge.home is not None:
                opening[edge.home] += [self._set(edge, event) for event in edge.events]
                closing[edge.home] += [self._wait(edge, event) for event in edge.events]
        for fence in fences:
            if isinstance(fence.stmt, Op) and fence.step:
                self.inner[fence.stmt][fence.step] = fence
            else:
                barrier = Barrier(pipe=pipe_name(fence.pipe), loc=fence.stmt.loc, pairs=tuple(fence.pairs))
                self.before[fence.stmt].append(barrier)
        for stmt, nodes in opening.items():
            self.before[stmt] += nodes
        for group in (closing, late[True], guards, late[False]):
            for stmt, nodes in group.items():
                self.after[stmt] += nodes

    @staticmethod
    def _set(edge: Edge, event: Index | None = None) -> SetFlag:
        return SetFlag(
            source=PIPES[edge.source],
            target=PIPES[edge.target],
            id=edge.event if event is None else event,
            loc=edge.set_at.stmt.loc,
            pairs=tuple(edge.pairs),
        )

    @staticmethod
    def _wait(edge: Edge, event: Index | None = None) -> WaitFlag:
        number = edge.event if event is None else event
        return WaitFlag(source=PIPES[edge.source], target=PIPES[edge.target], id=number, loc=edge.wait_at.stmt.loc)

    def block(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """The body with its flags and barriers."""
        made: list[Stmt] = []
        for stmt in body:
            made += self.before.get(stmt, ())
            if isinstance(stmt, For):
                made.append(replace(stmt, body=self.block(stmt.body)))
            elif isinstance(stmt, If):
                made.append(replace(stmt, then=self.block(stmt.then), other=self.block(stmt.other)))
            else:
                made.append(self._fenced(stmt) if isinstance(stmt, Op) else stmt)
            made += self.after.get(stmt, ())
        return tuple(made)

    def _fenced(self, op: Op) -> Op:
        fences = self.inner.get(op)
        if not fences:
            return op
        steps: list[Step] = []
        for number, step in enumerate(op.instrs or ()):
            if number in fences:
                steps.append(InnerBarrier(pipe_name(fences[number].pipe), tuple(fences[number].pairs)))
            steps.append(step)
        return replace(op, instrs=tuple(steps))
