"""A region as the simulator walks it: constant runs of events, and what depends on indices.

Only what decides cycles is kept: trip counts, conditions, amounts that vary and ids of flags. The index of a loop is
replaced by its start plus a count from zero, so that `for j in [i * 4, i * 4 + 4]` has the same shape for every `i`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from pypto_spec.ir.access import locate
from pypto_spec.ir.expr import Expr, Index, Sym, add, mul, substitute, sym, symbols, to_text
from pypto_spec.ir.instr import InnerBarrier, Instr
from pypto_spec.ir.loops import trip_count
from pypto_spec.ir.nodes import Barrier, Buffer, Condition, For, Grid, If, Op, Region, SetFlag, Stmt, WaitFlag
from pypto_spec.ir.recipe import OpRecipe
from pypto_spec.ir.rewrite import ops
from pypto_spec.ops.amounts import amounts
from pypto_spec.ops.decoding import Amounts, Decoded
from pypto_spec.ops.instructions import decode, form_of
from pypto_spec.records import dataclass
from pypto_spec.report.timeline.events import ALL, BARRIER, PIPES, RUN, SET, WAIT, Event, pipe_number, tile
from pypto_spec.report.timeline.known import Read, substituted, symbols_of
from pypto_spec.report.timeline.sharing import readers
from pypto_spec.targets.cycles import cycles
from pypto_spec.targets.model import Target

Price = Callable[[str, str, int, int, int | None], int]
"""Cycles of a call on a pipe, from its bytes and repeats, and how many cores have bytes of their own (None: all)."""


Binds = Mapping[Sym, Index | None]
"""Symbols that get their values inside of something; for the index of a loop its trips."""


@dataclass(frozen=True, slots=True, eq=False)
class Varying:
    """One event whose amounts or flag depend on indices; `event` has the constant part.

    `readers` is how many of the cores that run at once have bytes of their own to read, None where all have.
    """

    event: Event
    amounts: Amounts | None = None
    id: Index | None = None
    reads: tuple[Read, ...] = ()
    readers: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """An integer that is carried or picked: `symbol` becomes `value`."""

    symbol: Sym
    value: Index


@dataclass(frozen=True, slots=True, eq=False)
class Cycle:
    """A loop: `body` for `index` = 0 up to `trips`. `condition` is tested before each iteration, over `carried`.

    `trips` is None for a `while`. `first` and `next` give the carried numbers their values before the first iteration
    and after each, `last` what they are behind the loop. `reads` is what the loop and its body depend on, `binds` the
    symbols that get their values inside.
    """

    index: Sym
    trips: Index | None
    body: tuple[Node, ...]
    line: int
    condition: Condition | None = None
    first: tuple[Number, ...] = ()
    next: tuple[Number, ...] = ()
    last: tuple[Number, ...] = ()
    reads: tuple[Read, ...] = ()
    binds: Binds = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """A branch, and the numbers picked with each arm; `reads` and `binds` as those of a loop."""

    condition: Condition
    then: tuple[Node, ...]
    other: tuple[Node, ...]
    line: int
    then_numbers: tuple[Number, ...] = ()
    other_numbers: tuple[Number, ...] = ()
    reads: tuple[Read, ...] = ()
    binds: Binds = field(default_factory=dict)


Node = tuple[Event, ...] | Varying | Cycle | Choice


@dataclass(slots=True)
class Shape:
    """The shape of one region."""

    nodes: tuple[Node, ...]
    reads: tuple[Read, ...]
    binds: Binds
    price: Price

    def cost(self, event: Event, bytes: int, repeats: int, readers: int | None) -> int:
        """The cycles of an instruction with these amounts."""
        return self.price(PIPES[event.pipe], event.name, bytes, repeats, readers)


class UnknownStepError(Exception):
    """A loop whose step is not known before the run."""


def shape_of(
    region: Region,
    target: Target,
    fixed: Mapping[Sym, Index],
    active: int,
    buffers: Mapping[str, Buffer],
    grid: Grid | None = None,
) -> Shape:
    """The shape of a region where the symbols in `fixed` are known and `active` cores run at once, blocks of `grid`.

    Raises UnknownStepError.
    """

    def price(pipe: str, call: str, bytes: int, repeats: int, own: int | None) -> int:
        return cycles(target, pipe, call, bytes=bytes, repeats=repeats, active=active, readers=own)

    last = Event(BARRIER, ALL, target.costs.barrier, None, "PipeBarrier")
    known = {symbol: value for symbol, value in fixed.items() if isinstance(value, int)}
    shared = readers(region, grid, known, active)
    numbers = {id(op): shared.get(number) for number, op in enumerate(ops(region.body))}
    return finished((*_Maker(target, fixed, price, buffers, numbers).block(region.body), (last,)), price)


def finished(nodes: Sequence[Node], price: Price) -> Shape:
    """A shape of nodes: numbers that nothing depends on are left out, and each node knows what is read below it."""
    made = _pruned(nodes, _needed(nodes))
    return Shape(made, _reads(made), _binds(made), price)


def _reads(nodes: Iterable[Node]) -> tuple[Read, ...]:
    found: dict[Read, None] = {}
    for node in nodes:
        if isinstance(node, Varying | Cycle | Choice):
            found |= dict.fromkeys(node.reads)
    return tuple(found)


def _all(nodes: Iterable[Node]) -> Iterator[Varying | Cycle | Choice]:
    for node in nodes:
        if isinstance(node, tuple):
            continue
        yield node
        if isinstance(node, Cycle):
            yield from _all(node.body)
        elif isinstance(node, Choice):
            yield from _all((*node.then, *node.other))


def _needed(nodes: Sequence[Node]) -> frozenset[Sym]:
    """The symbols that cycles depend on, directly or through numbers."""
    found: set[Sym] = set()
    numbers: list[Number] = []
    for node in _all(nodes):
        if isinstance(node, Varying):
            direct: tuple[Read | None, ...] = node.reads
        elif isinstance(node, Cycle):
            direct = (node.trips, node.condition)
            numbers += (*node.first, *node.next, *node.last)
        else:
            direct = (node.condition,)
            numbers += (*node.then_numbers, *node.other_numbers)
        found.update(s for read in direct if read is not None for s in symbols_of(read))
    while True:
        more = {s for n in numbers if n.symbol in found for s in symbols(n.value)} - found
        if not more:
            return frozenset(found)
        found |= more


def _pruned(nodes: Iterable[Node], needed: frozenset[Sym]) -> tuple[Node, ...]:
    """The same without numbers that nothing depends on, and with what is read below each node."""

    def kept(numbers: Iterable[Number]) -> tuple[Number, ...]:
        return tuple(n for n in numbers if n.symbol in needed)

    made: list[Node] = []
    for node in nodes:
        if isinstance(node, Cycle):
            body = _pruned(node.body, needed)
            first, after, last = kept(node.first), kept(node.next), kept(node.last)
            values = [n.value for n in (*first, *after)]
            reads = _distinct((*_reads(body), *values, node.condition, node.trips))
            binds = {**_binds(body), **dict.fromkeys(n.symbol for n in (*first, *last))}
            made.append(replace(node, body=body, first=first, next=after, last=last, reads=reads, binds=binds))
        elif isinstance(node, Choice):
            then, other = _pruned(node.then, needed), _pruned(node.other, needed)
            first, after = kept(node.then_numbers), kept(node.other_numbers)
            values = [n.value for n in (*first, *after)]
            reads = _distinct((node.condition, *_reads(then), *_reads(other), *values))
            binds = {**_binds(then), **_binds(other), **dict.fromkeys(n.symbol for n in first)}
            made.append(
                replace(
                    node, then=then, other=other, then_numbers=first, other_numbers=after, reads=reads, binds=binds
                )
            )  # fmt: skip
        else:
            made.append(node)
    return tuple(made)


def _distinct(reads: Iterable[Read | None]) -> tuple[Read, ...]:
    """What is no constant, each once."""
    return tuple(dict.fromkeys(r for r in reads if isinstance(r, Expr | Condition)))


def _binds(nodes: Iterable[Node]) -> Binds:
    """The symbols that get their values below these nodes."""
    found: dict[Sym, Index | None] = {}
    for node in nodes:
        if isinstance(node, Cycle | Choice):
            found |= node.binds
        if isinstance(node, Cycle):
            found[node.index] = node.trips
    return found


class _Maker:
    def __init__(
        self,
        target: Target,
        fixed: Mapping[Sym, Index],
        price: Price,
        buffers: Mapping[str, Buffer],
        readers: Mapping[int, int | None],
    ) -> None:
        self.readers = readers
        self.costs = target.costs
        self.buffers = buffers
        self.known = dict(fixed)
        self.price = price

    def index(self, index: Index) -> Index:
        return index if isinstance(index, int) else substitute(index, self.known)

    def block(self, body: Sequence[Stmt]) -> tuple[Node, ...]:
        made: list[Node] = []
        run: list[Event] = []
        for stmt in body:
            for node in self.stmt(stmt):
                if isinstance(node, Event):
                    run.append(node)
                    continue
                if run:
                    made.append(tuple(run))
                    run = []
                made.append(node)
        if run:
            made.append(tuple(run))
        return tuple(made)

    def stmt(self, stmt: Stmt) -> Iterable[Node | Event]:
        if isinstance(stmt, Op):
            return self.op(stmt)
        if isinstance(stmt, SetFlag | WaitFlag):
            return (self.flag(stmt),)
        if isinstance(stmt, Barrier):
            return (self.barrier(stmt.pipe, stmt.loc.span.line),)
        if isinstance(stmt, For):
            return (self.loop(stmt),)
        assert isinstance(stmt, If), "calls and jumps are gone by now"
        return (self.branch(stmt),)

    def barrier(self, pipe: str, line: int) -> Event:
        return Event(BARRIER, pipe_number(pipe), self.costs.barrier, None, "PipeBarrier", line)

    def flag(self, stmt: SetFlag | WaitFlag) -> Event | Varying:
        raises = isinstance(stmt, SetFlag)
        pipe = pipe_number(stmt.source if raises else stmt.target)
        cost = self.costs.set_flag if raises else self.costs.wait_flag
        key = (stmt.source, stmt.target)
        name, line = ("SetFlag" if raises else "WaitFlag"), stmt.loc.span.line
        number = self.index(stmt.id)
        if isinstance(number, int):
            return Event(SET if raises else WAIT, pipe, cost, (*key, number), name, line)
        event = Event(SET if raises else WAIT, pipe, cost, key, name, line)
        return Varying(event, None, number, _distinct((number,)))

    def op(self, op: Op) -> Iterable[Event | Varying]:
        view = OpRecipe(op, "exact")

        line = op.loc.span.line
        for step in op.instrs or ():
            if isinstance(step, InnerBarrier):
                yield self.barrier(step.pipe, line)
            else:
                made = self.instruction(step, view, line)
                if made is not None:
                    yield made

    def instruction(self, instr: Instr, view: OpRecipe, line: int) -> Event | Varying | None:
        found = amounts(instr, view.dtype_of, view.memory_of)
        if found is None:
            return None
        decoded, form = decode(instr, view.dtype_of, view.memory_of), form_of(instr, view.memory_of)
        elements, bytes, repeats = (self.index(i) for i in found)
        where = None if decoded.unit == 0 else self.accumulator(view.op, decoded)
        own = self.readers.get(id(view.op))
        event = Event(RUN, pipe_number(decoded.pipe), 0, None if where is None else tile(), form, line)
        if isinstance(elements, int) and isinstance(bytes, int) and isinstance(repeats, int):
            if not elements:
                return None  # nothing is dispatched
            event = event._replace(cycles=self.price(decoded.pipe, form, bytes, repeats, own))
            if isinstance(where, int | None):
                return event if where is None else event._replace(flag=tile(where))
            return Varying(event, None, where, _distinct((where,)))
        reads = (elements, bytes, repeats) if where is None else (elements, bytes, repeats, where)
        return Varying(event, Amounts(elements, bytes, repeats), where, _distinct(reads), own)

    def accumulator(self, op: Op, decoded: Decoded) -> Index:
        """The byte of L0C where the accumulator begins whose unit flags an instruction has."""
        region = next(r for a in decoded.accesses if a.ordered and (r := a.region()) is not None)
        _, start = locate(op, region.operand, self.buffers)
        return self.index(add(start, region.base))

    def loop(self, loop: For) -> Cycle:
        start, step = self.index(loop.start), self.index(loop.step)
        stop = self.index(loop.stop)
        trips: Index | None = None
        if loop.kind != "while":
            if not isinstance(step, int):
                raise UnknownStepError(f"the step `{to_text(step)}` of a loop is not known before the run")
            trips = trip_count(start, stop, step)
        count = Sym(loop.index.name, "loop", 0, trips - 1 if isinstance(trips, int) else None)
        self.known[loop.index] = add(start, mul(sym(count), step))
        body = self.block(loop.body)
        condition = None if loop.condition is None else substituted(loop.condition, self.index)
        return Cycle(
            count,
            trips,
            body,
            loop.loc.span.line,
            condition,
            first=tuple(Number(n.arg, self.index(n.init)) for n in loop.numbers),
            next=tuple(Number(n.arg, self.index(n.yielded)) for n in loop.numbers),
            last=tuple(Number(n.result, sym(n.arg)) for n in loop.numbers),
        )

    def branch(self, branch: If) -> Choice:
        then, other = self.block(branch.then), self.block(branch.other)
        return Choice(
            substituted(branch.condition, self.index),
            then,
            other,
            branch.loc.span.line,
            then_numbers=tuple(Number(n.result, self.index(n.then)) for n in branch.numbers),
            other_numbers=tuple(Number(n.result, self.index(n.other)) for n in branch.numbers),
        )
