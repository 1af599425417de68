"""Random loops over instructions, flags and barriers that a core could run, as the simulator walks them."""

from __future__ import annotations

from hypothesis import strategies as st

from pypto_spec.ir.expr import Index, Sym, add, minimum, mod, mul, sub, sym
from pypto_spec.ir.nodes import Condition
from pypto_spec.ops.decoding import Amounts
from pypto_spec.report.timeline.events import ALL, BARRIER, PIPES, RUN, SET, WAIT, Event
from pypto_spec.report.timeline.shape import Choice, Cycle, Node, Number, Shape, Varying, finished

MTE2, V, MTE3 = (PIPES.index(name) for name in ("mte2", "v", "mte3"))
SMALL = st.integers(0, 3)


def price(pipe: str, call: str, bytes: int, repeats: int, readers: int | None) -> int:
    """Any function does."""
    return 7 + bytes // 16 + repeats


def run(pipe: int, cycles: int) -> Event:
    """An instruction."""
    return Event(RUN, pipe, cycles, None, "Add")


def raised(source: int, target: int, number: int) -> tuple[Event, Event]:
    """A flag that is set and waited for."""
    flag = (PIPES[source], PIPES[target], number)
    return Event(SET, source, 1, flag, "SetFlag"), Event(WAIT, target, 1, flag, "WaitFlag")


class Maker:
    """Draws one shape."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.flags = 0

    def shape(self) -> Shape:
        """A few statements with at least one loop, closed by a barrier of all pipes."""
        body = (*self.block(2, ()), *self.loop(2, ()), *self.block(1, ()))
        return finished((*body, (Event(BARRIER, ALL, 1),)), price)

    def block(self, depth: int, indices: tuple[Sym, ...]) -> tuple[Node, ...]:
        made: tuple[Node, ...] = ()
        for _ in range(self.draw(st.integers(1, 4))):
            made += self.one(depth, indices)
        return made

    def one(self, depth: int, indices: tuple[Sym, ...]) -> tuple[Node, ...]:
        kind = self.draw(st.sampled_from(("run", "run", "flag", "flag", "barrier", "vary", "if", "loop", "number")))
        pipe, other = self.draw(st.permutations((MTE2, V, MTE3)))[:2]
        if kind == "flag":
            return (raised(pipe, other, self.draw(SMALL)),)
        if kind == "barrier":
            return ((Event(BARRIER, self.draw(st.sampled_from((pipe, ALL))), 1),),)
        if kind == "vary" and indices:
            size = minimum(64, sub(self.draw(st.integers(0, 900)), mul(self.index(indices), 64)))
            return (Varying(run(pipe, 0), Amounts(size, size, 1), None, (size,)),)
        if kind == "if" and indices:
            condition = Condition(self.draw(st.sampled_from(("<", "==", ">="))), self.index(indices), self.draw(SMALL))
            return (Choice(condition, self.block(depth - 1, indices), ((run(pipe, 90),),), 1),)
        if kind in ("loop", "number") and depth > 0:
            return self.loop(depth - 1, indices) if kind == "loop" else self.numbered(indices)
        return ((run(pipe, self.draw(st.integers(1, 60))),),)

    def index(self, indices: tuple[Sym, ...]) -> Index:
        """Something that depends on the indices of loops."""
        chosen: Index = sym(self.draw(st.sampled_from(indices)))
        if self.draw(st.booleans()):
            chosen = add(chosen, mul(sym(self.draw(st.sampled_from(indices))), self.draw(SMALL)))
        period = self.draw(st.integers(1, 4))
        return mod(add(chosen, self.draw(SMALL)), period) if period > 1 else add(chosen, self.draw(SMALL))

    def loop(self, depth: int, indices: tuple[Sym, ...]) -> tuple[Node, ...]:
        """A loop, perhaps with a flag for each of several slots, carried from round to round."""
        index = Sym(f"i{self.flags}", "loop", 0)
        trips: Index = self.draw(st.integers(0, 40))
        differs = self.draw(st.booleans())
        if indices and differs:
            trips = add(self.index(indices), 2)
        body = self.block(depth, (*indices, index))
        if self.draw(st.booleans()):  # every round starts from the same state
            body = (*body, (Event(BARRIER, ALL, 1),))
        slots = self.draw(SMALL)
        if not slots:
            return (Cycle(index, trips, body, 1),)
        self.flags += 1
        pipe, other = self.draw(st.permutations((MTE2, V, MTE3)))[:2]
        key = (PIPES[pipe], PIPES[other], f"slot {self.flags}")
        slot = mod(sym(index), slots)
        wait: Node = Varying(Event(WAIT, other, 1, key), None, slot, (slot,))
        lower: Node = Varying(Event(SET, pipe, 1, key), None, slot, (slot,))
        if slots == 1:
            wait, lower = (Event(WAIT, other, 1, (*key, 0)),), (Event(SET, pipe, 1, (*key, 0)),)
        first = tuple(Event(SET, pipe, 1, (*key, n)) for n in range(slots))
        last = tuple(Event(WAIT, other, 1, (*key, n)) for n in range(slots))
        return (first, Cycle(index, trips, (wait, *body, lower), 1), last)

    def numbered(self, indices: tuple[Sym, ...]) -> tuple[Node, ...]:
        """A loop whose amounts depend on a number that it carries."""
        index, number, result = Sym("w", "loop", 0), Sym("n", "local"), Sym("m", "local")
        size = mul(add(mod(sym(number), 5), 1), 32)
        body = (Varying(run(V, 0), Amounts(size, size, 1), None, (size,)),)
        start = self.index(indices) if indices else 0
        first, after = Number(number, start), Number(number, add(mul(sym(number), 3), 1))
        trips = self.draw(st.integers(0, 12))
        return (Cycle(index, trips, body, 1, None, (first,), (after,), (Number(result, sym(number)),)),)


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    """Any of them."""
    return Maker(draw).shape()
