"""What shares bytes and must not, by final addresses.

Values: going through a region backwards with what is still needed, no statement may write its result or its scratch
where a needed value stands, except over an operand that ends there if it may write over it. Buffers: two that are in
use at the same time stand apart. The compiler refuses both (`PS4002`, `PS4004`), so a correct build has neither; what
a statement may write over is asked of the caller, who knows the compiler's rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from pypto_spec.ir.nodes import Buffer, For, If, Op, Stmt, Value
from pypto_spec.records import dataclass
from pypto_spec.report.map.lives import Life, Lives, Scratch
from pypto_spec.report.map.model import Conflict, Range
from pypto_spec.report.map.places import Places, overlap, scratch_name


@dataclass(frozen=True, slots=True)
class Rules:
    """The compiler's answers.

    `over(op, old, new)`: may `op` write `new` over its operand `old`, which ends there? `apart(a, b)`: do two values of
    one buffer share no byte for certain? `together(a, b)`: are two buffers that share bytes refused?
    """

    over: Callable[[Op, Value, Value], bool]
    apart: Callable[[Value, Value], bool]
    together: Callable[[Buffer, Buffer], bool]


class Finder:
    """The conflicts among the values of one region."""

    def __init__(self, body: Sequence[Stmt], lives: Lives, places: Places, rules: Rules) -> None:
        self.lives, self.places, self.rules = lives, places, rules
        self.found: dict[tuple[str, str, int], Conflict] = {}
        self._scratch: dict[Op, list[Scratch]] = {}
        for area in lives.scratch:
            self._scratch.setdefault(area.op, []).append(area)
        self._block(body, set())

    def _block(self, body: Sequence[Stmt], live: set[Value]) -> set[Value]:
        """Go through a block; `live` is what is needed behind it, the answer what is needed before it."""
        for stmt in reversed(body):
            if isinstance(stmt, Op):
                live = self._op(stmt, live)
            elif isinstance(stmt, For):
                live = self._loop(stmt, live)
            elif isinstance(stmt, If):
                live = self._branch(stmt, live)
        return live

    def _op(self, op: Op, live: set[Value]) -> set[Value]:
        results = [v for v in op.results if v in self.lives.of]
        operands = {v for v in op.operands.values() if v in self.lives.of}
        behind = live.difference(results)
        if op.defn.role != "view":
            for number, result in enumerate(results):
                for other in (*behind, *results[number + 1 :]):
                    self._meet(op, result, other)
                for operand in operands - behind:
                    if not self.rules.over(op, operand, result):
                        self._meet(op, result, operand)
        for area in self._scratch.get(op, ()):
            for value in (*(behind | operands), *results):
                shared = overlap(self.places.scratch(area), self.places.value(value))
                if shared is not None and self.places.one_memory(area.ref.buffer, _buffer(value)):
                    names = (value.name, scratch_name(area))
                    self._add(names, (_buffer(value), area.ref.buffer), shared, (area.step, area.step))
        return behind | operands

    def _meet(self, op: Op, new: Value, old: Value) -> None:
        shared = overlap(self.places.value(new), self.places.value(old))
        if shared is None or not self.places.one_memory(_buffer(new), _buffer(old)):
            return
        if _buffer(new) == _buffer(old) and self.rules.apart(new, old):
            return
        life, other = self.lives.of[new], self.lives.of[old]
        self._add((old.name, new.name), (_buffer(old), _buffer(new)), shared, _meeting(life, other))

    def _add(self, names: tuple[str, str], buffers: tuple[str, str], shared: Range, life: Range) -> None:
        self.found.setdefault((*names, life[0]), Conflict("values", names, buffers, shared, life))

    def _loop(self, loop: For, live: set[Value]) -> set[Value]:
        behind = live - {c.result for c in loop.carries}
        inner = behind | {c.yielded for c in loop.carries if c.yielded in self.lives.of}
        start = self.lives.heads[loop]
        inner |= {v for v, life in self.lives.of.items() if life.start <= start and self._needed_in(life, loop)}
        inner -= {c.arg for c in loop.carries}
        before = self._block(loop.body, inner) - {c.arg for c in loop.carries}
        return before | {c.init for c in loop.carries if c.init in self.lives.of}

    def _needed_in(self, life: Life, loop: For) -> bool:
        head, end = self.lives.heads[loop], self.lives.ends[loop]
        return any(head < use < end for use in life.uses)

    def _branch(self, branch: If, live: set[Value]) -> set[Value]:
        behind = live - {p.result for p in branch.phis}
        then = behind | {p.then for p in branch.phis if p.then in self.lives.of}
        other = behind | {p.other for p in branch.phis if p.other in self.lives.of}
        return self._block(branch.then, then) | self._block(branch.other, other)


def _buffer(value: Value) -> str:
    assert value.buffer is not None
    return value.buffer.buffer


def _meeting(new: Life, old: Life) -> Range:
    """The steps in which both stand there; where the older one is needed again in a next round, the newer one's."""
    start = max(new.start, old.start)
    return (start, max(start, min(new.end, old.end) if old.end >= new.start else new.end))


def buffer_conflicts(buffers: Iterable[Buffer], spans: Mapping[str, Range], rules: Rules) -> list[Conflict]:
    """Pairs of buffers of one memory that share bytes while both are in use; `spans` are their lives in steps."""
    found: list[Conflict] = []
    here = sorted((b for b in buffers if b.address is not None), key=lambda b: (b.address or 0, b.name))
    for number, first in enumerate(here):
        low, high = extent(first)
        for second in here[number + 1 :]:
            start, end = extent(second)
            if start >= high:
                break
            if rules.together(first, second):
                a, b = spans[first.name], spans[second.name]
                life = (max(a[0], b[0]), max(min(a[1], b[1]), max(a[0], b[0])))
                names = (first.name, second.name)
                found.append(Conflict("buffers", names, names, (max(low, start), min(high, end)), life))
    return found


def extent(buffer: Buffer) -> Range:
    """The bytes of a buffer with all its slots."""
    assert buffer.address is not None
    return buffer.address, buffer.address + (buffer.bytes or 0) * buffer.slots
