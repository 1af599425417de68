"""When each buffer of a region is in use, and who may take over whose place.

Statements are numbered in program order; a loop or `if` also has a number behind its last statement. A buffer lives
from its first definition to its last use; a use inside a loop of something defined before the loop keeps it to the
loop's end, and so does being carried. Two buffers may share a place if one ends before the other begins, or where both
meet in one op if that op may write its result over that operand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from pypto_spec.ir.nodes import For, If, Op, Stmt, Value
from pypto_spec.ir.recipe import OpRecipe
from pypto_spec.ir.types import TileType
from pypto_spec.records import dataclass


@dataclass(slots=True)
class Lifetime:
    """One buffer: `start` and `end` in statement numbers, and the values that live in it."""

    buffer: str
    start: int
    end: int
    values: list[Value] = field(default_factory=list)
    first: Op | None = None
    last: Op | None = None
    scratch: bool = False


class Lifetimes:
    """Lifetimes of the buffers of one region."""

    def __init__(self, body: tuple[Stmt, ...]) -> None:
        self.of: dict[str, Lifetime] = {}
        self.ops: dict[int, Op] = {}
        self._count = 0
        self._block(body, [])

    def _block(self, body: Sequence[Stmt], loops: list[tuple[int, dict[str, Op]]]) -> None:
        for stmt in body:
            self._count += 1
            here = self._count
            if isinstance(stmt, Op):
                self.ops[here] = stmt
                for value in stmt.operands.values():
                    self._use(value, here, stmt, loops)
                for value in stmt.results:
                    self._define(value, here, stmt, loops)
                for ref in stmt.scratch:
                    life = self._life(ref.buffer, here)
                    life.scratch, life.end = True, max(life.end, here)
                    life.first = life.first or stmt
                    life.last = stmt
            elif isinstance(stmt, For):
                for carry in stmt.carries:
                    self._use(carry.init, here, None, loops)
                    self._define(carry.arg, here, None, loops)
                used: dict[str, Op] = {}
                self._block(stmt.body, [*loops, (here, used)])
                self._count += 1
                for name, op in used.items():
                    self._extend(name, self._count, op)
                    if loops:
                        self._outer(name, op, loops)
                for carry in stmt.carries:
                    self._use(carry.yielded, self._count, None, loops)
                    self._define(carry.result, self._count, None, loops)
                    if carry.arg.buffer is not None:
                        self._extend(carry.arg.buffer.buffer, self._count, None)
            elif isinstance(stmt, If):
                self._block(stmt.then, loops)
                self._block(stmt.other, loops)
                self._count += 1
                for phi in stmt.phis:
                    self._use(phi.then, self._count, None, loops)
                    self._use(phi.other, self._count, None, loops)
                    self._define(phi.result, self._count, None, loops)

    def _life(self, name: str, here: int) -> Lifetime:
        life = self.of.get(name)
        if life is None:
            life = self.of[name] = Lifetime(name, here, here)
        return life

    def _define(self, value: Value, here: int, op: Op | None, loops: list[tuple[int, dict[str, Op]]]) -> None:
        if value.buffer is None:
            return
        life = self._life(value.buffer.buffer, here)
        life.values.append(value)
        life.end = max(life.end, here)
        life.first = life.first or op
        if op is not None:
            life.last = op
        self._outer(life.buffer, op, loops)

    def _use(self, value: Value, here: int, op: Op | None, loops: list[tuple[int, dict[str, Op]]]) -> None:
        if value.buffer is None:
            return
        self._extend(value.buffer.buffer, here, op)
        self._outer(value.buffer.buffer, op, loops)

    def _outer(self, name: str, op: Op | None, loops: list[tuple[int, dict[str, Op]]]) -> None:
        """Note a use inside the innermost loop that the buffer was defined before."""
        if not loops:
            return
        begin, used = loops[-1]
        if self._life(name, self._count).start <= begin and op is not None:
            used[name] = op

    def _extend(self, name: str, here: int, op: Op | None) -> None:
        life = self._life(name, here)
        life.end = max(life.end, here)
        if op is not None:
            life.last = op

    # -- sharing --------------------------------------------------------------------------------------------------

    def compatible(self, a: Lifetime, b: Lifetime) -> bool:
        """Whether the two may live at one place."""
        first, second = (a, b) if (a.start, a.end) <= (b.start, b.end) else (b, a)
        if second.start != first.end:
            return second.start > first.end
        op = self.ops.get(second.start)
        return op is not None and not first.scratch and not second.scratch and in_place(op, first.buffer, second.buffer)


def in_place(op: Op, old: str, new: str) -> bool:
    """Whether `op` may write its result in buffer `new` over its operand in buffer `old`.

    Only where both are whole, of one element size and of one form: vector instructions allow full overlap, not partial.
    """
    results = [v for v in op.results if v.buffer is not None and v.buffer.buffer == new]
    if len(results) != 1:
        return False
    (result,) = results
    assert result.buffer is not None
    mine = result.type
    for name, value in op.operands.items():
        if value.buffer is None or value.buffer.buffer != old:
            continue
        if name == op.defn.reuses and value.buffer == result.buffer:
            continue
        theirs = value.type
        if name in op.defn.no_alias or not isinstance(mine, TileType) or not isinstance(theirs, TileType):
            return False
        if value.buffer.offset != 0 or value.buffer.slot is not None or result.buffer.offset != 0:
            return False
        if mine.dtype.bytes != theirs.dtype.bytes or mine.span_elements != theirs.span_elements:
            return False
        if mine.row_pitch != theirs.row_pitch and mine.rows > 1 and theirs.rows > 1:
            return False
    return True


def scratch_bytes(op: Op, precision: str) -> tuple[int, ...]:
    """Bytes of each scratch area the op's recipe asks for."""
    return op.defn.scratch(OpRecipe(op, "fast" if precision == "fast" else "exact"))


def peak(lives: Mapping[str, Lifetime], sizes: Mapping[str, int]) -> tuple[int, int]:
    """The statement number at which the most bytes are live, and that many bytes."""
    events: dict[int, int] = {}
    for name, life in lives.items():
        if name in sizes:
            events[life.start] = events.get(life.start, 0) + sizes[name]
            events[life.end + 1] = events.get(life.end + 1, 0) - sizes[name]
    best = level = where = 0
    for number in sorted(events):
        level += events[number]
        if level > best:
            best, where = level, number
    return where, best
