"""When each value of a region is alive, in steps.

Steps are statements in program order, with one more behind the last statement of a loop or `if`; flags and barriers
are none, so that a map stays the same whether or not they are there. A value that is used in a loop it was not defined
in lives to the end of that loop: the next round may need it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Literal

from pypto_spec.ir.nodes import BufferRef, For, If, Op, Stmt, Value
from pypto_spec.records import dataclass


@dataclass(slots=True, eq=False)
class Life:
    """One value: the steps in which it is defined and needed last, and all that read it."""

    value: Value
    start: int
    end: int
    op: Op | None
    uses: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class Scratch:
    """An area that one statement works in: area `number` of `op`, at step `step`."""

    op: Op
    number: int
    ref: BufferRef
    step: int


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A step: the statement it stands for, and how deep in loops and ifs it is."""

    kind: Literal["op", "for", "while", "if", "end"]
    stmt: Op | For | If
    depth: int


@dataclass(slots=True, eq=False)
class _Loop:
    outside: list[Life] = field(default_factory=list)
    """Used in the loop and not defined in it."""


class Lives:
    """The steps of a region, and the lives of its values and scratch areas. Step 1 is `places[0]`."""

    def __init__(self, body: Sequence[Stmt]) -> None:
        self.places: list[Place] = []
        self.of: dict[Value, Life] = {}
        self.scratch: list[Scratch] = []
        self.heads: dict[For | If, int] = {}
        self.ends: dict[For | If, int] = {}
        self._homes: dict[Value, tuple[_Loop, ...]] = {}
        self._block(body, (), 0)

    @property
    def step(self) -> int:
        """The number of the newest step."""
        return len(self.places)

    def _block(self, body: Sequence[Stmt], loops: tuple[_Loop, ...], depth: int) -> None:
        for stmt in body:
            if isinstance(stmt, Op):
                self._op(stmt, loops, depth)
            elif isinstance(stmt, For):
                self._loop(stmt, loops, depth)
            elif isinstance(stmt, If):
                self.places.append(Place("if", stmt, depth))
                self.heads[stmt] = self.step
                self._block(stmt.then, loops, depth + 1)
                self._block(stmt.other, loops, depth + 1)
                self.places.append(Place("end", stmt, depth))
                self.ends[stmt] = self.step
                for phi in stmt.phis:
                    self._use(phi.then, loops)
                    self._use(phi.other, loops)
                    self._define(phi.result, None, loops)

    def _op(self, op: Op, loops: tuple[_Loop, ...], depth: int) -> None:
        self.places.append(Place("op", op, depth))
        for value in op.operands.values():
            self._use(value, loops)
        for value in op.results:
            self._define(value, op, loops)
        self.scratch += [Scratch(op, number, ref, self.step) for number, ref in enumerate(op.scratch)]

    def _loop(self, loop: For, loops: tuple[_Loop, ...], depth: int) -> None:
        self.places.append(Place("while" if loop.kind == "while" else "for", loop, depth))
        mine = _Loop()
        self.heads[loop] = self.step
        for carry in loop.carries:
            self._use(carry.init, loops)
            self._define(carry.arg, None, (*loops, mine))
        self._block(loop.body, (*loops, mine), depth + 1)
        self.places.append(Place("end", loop, depth))
        self.ends[loop] = self.step
        for life in mine.outside:
            life.end = self.step
        for carry in loop.carries:
            self._use(carry.yielded, loops)
            self._define(carry.result, None, loops)

    def _define(self, value: Value, op: Op | None, loops: tuple[_Loop, ...]) -> None:
        if value.buffer is not None:
            self.of[value] = Life(value, self.step, self.step, op)
            self._homes[value] = loops

    def _use(self, value: Value, loops: tuple[_Loop, ...]) -> None:
        life = self.of.get(value)
        if life is None:
            return
        life.end = self.step
        if life.uses[-1:] != [self.step]:
            life.uses.append(self.step)
        home = self._homes[value]
        for loop in loops:
            if loop not in home:
                loop.outside.append(life)
                break
