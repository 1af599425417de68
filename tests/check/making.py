"""A small language for programs of instructions, flags, loops and branches, made into IR or unrolled by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pypto_spec.check import check_program
from pypto_spec.check.build import Builder
from pypto_spec.check.report import Reporter
from pypto_spec.check.walk import Walker
from pypto_spec.diagnostics.model import Diagnostic, Sink
from pypto_spec.diagnostics.span import Loc, Source, Span
from pypto_spec.ir.dtype import FP32
from pypto_spec.ir.expr import Index, Sym, add, mod, mul, sym
from pypto_spec.ir.instr import Effect, InnerBarrier, Instr, Step
from pypto_spec.ir.instr import Region as Bytes
from pypto_spec.ir.nodes import (
    Barrier,
    Buffer,
    BufferRef,
    Condition,
    For,
    If,
    Op,
    Pipe,
    Program,
    Region,
    SetFlag,
    Stmt,
    TargetOptions,
    Value,
    WaitFlag,
)
from pypto_spec.ir.opdef import OpDef
from pypto_spec.ir.types import Access, Memory, TensorType, TileType
from pypto_spec.targets import A2A3


@dataclass(frozen=True)
class At:
    """`width` bytes at `base + sum(coefficient * index)` of `vec` or of a tensor; `slots`: the index modulo that."""

    base: int
    width: int
    by: tuple[tuple[str, int], ...] = ()
    space: str = "vec"
    steps: tuple[tuple[int, int], ...] = ()
    slots: int = 0


@dataclass(frozen=True)
class Do:
    """One instruction."""

    pipe: Pipe
    reads: tuple[At, ...] = ()
    writes: tuple[At, ...] = ()
    atomic: bool = False
    name: str = "op"


@dataclass(frozen=True)
class Up:
    """A set. With `by` its id is `id + (by + shift) % turns`."""

    source: Pipe
    target: Pipe
    id: int = 0
    by: str = ""
    turns: int = 1
    shift: int = 0

    @property
    def key(self) -> tuple[str, str, int]:
        return self.source, self.target, self.id


@dataclass(frozen=True)
class Down:
    """A wait. With `by` its id is `id + (by + shift) % turns`."""

    source: Pipe
    target: Pipe
    id: int = 0
    by: str = ""
    turns: int = 1
    shift: int = 0

    @property
    def key(self) -> tuple[str, str, int]:
        return self.source, self.target, self.id


@dataclass(frozen=True)
class Bar:
    """A barrier."""

    pipe: Pipe


@dataclass(frozen=True)
class Loop:
    """`trips` iterations; None: any number from `least` up."""

    index: str
    trips: int | None
    body: tuple[Item, ...]
    least: int = 0


@dataclass(frozen=True)
class Cond:
    """A branch."""

    then: tuple[Item, ...]
    other: tuple[Item, ...] = ()


Item = Do | Up | Down | Bar | Loop | Cond

Edit = Callable[[int, Item], Sequence[Item]]

DEFN = OpDef(
    name="op", family="toys", doc="", fields=(), role="elementwise", pipe="v", infer=lambda i: None, dtypes=(FP32,),
    torch=lambda t, i, a: None, recipe=lambda r: (), scratch=lambda r: (), spaces={}, dtype_of="",
)  # fmt: skip
SOURCE = Source("toy.yaml", "")
CHIP = Value("chip", TileType(FP32, (1, 8), Memory.VEC), BufferRef("ub"))


class Maker:
    """Makes IR; each statement gets a line of its own, in textual order."""

    def __init__(self) -> None:
        self.line = 0
        self.effects: dict[str, Effect] = {}
        self.tensors: dict[str, Value] = {}

    def loc(self) -> Loc:
        self.line += 1
        return Loc(Span(SOURCE, self.line, 1, self.line, 2))

    def body(self, items: Sequence[Item], env: Mapping[str, Sym]) -> tuple[Stmt, ...]:
        return tuple(self.item(item, env) for item in items)

    def item(self, item: Item, env: Mapping[str, Sym]) -> Stmt:
        loc = self.loc()
        if isinstance(item, Up):
            return SetFlag(source=item.source, target=item.target, id=event(item, env), loc=loc)
        if isinstance(item, Down):
            return WaitFlag(source=item.source, target=item.target, id=event(item, env), loc=loc)
        if isinstance(item, Bar):
            return Barrier(pipe=item.pipe, loc=loc)
        if isinstance(item, Cond):
            condition = Condition("==", 0, 0)
            return If(
                condition=condition, then=self.body(item.then, env), other=self.body(item.other, env), loc=loc
            )  # fmt: skip
        if isinstance(item, Loop):
            stop: Index
            if item.trips is None:
                stop, index = sym(Sym("n", "dim", item.least, None)), Sym(item.index, "loop", 0, None)
            else:
                stop, index = item.trips, Sym(item.index, "loop", 0, max(item.trips - 1, 0))
            body = self.body(item.body, {**env, item.index: index})
            return For(index=index, start=0, stop=stop, step=1, body=body, loc=loc)
        return self.op(item, env, loc)

    def op(self, do: Do, env: Mapping[str, Sym], loc: Loc) -> Op:
        call = f"call{loc.span.line}"
        operands: dict[str, Value] = {}
        regions: list[Bytes] = []
        for write, places in ((True, do.writes), (False, do.reads)):
            for at in places:
                operands[at.space] = self.operand(at.space)
                regions.append(Bytes(at.space, place(at, env), at.width, at.steps, write))
        self.effects[call] = Effect(do.pipe, tuple(regions), do.atomic)
        defn = replace(DEFN, name=do.name)
        return Op(defn=defn, operands=operands, attrs={}, results=(), loc=loc, instrs=(Instr(call, ()),))

    def operand(self, space: str) -> Value:
        if space == "vec":
            return CHIP
        made = Value(space, TensorType(FP32, (4096,), Access.INOUT))
        return self.tensors.setdefault(space, made)

    def effect(self, steps: Sequence[Step], dtype_of: object, memory_of: object) -> Iterator[Effect | None]:
        for step in steps:
            yield None if isinstance(step, InnerBarrier) else self.effects[step.call]

    def program(self, items: Sequence[Item]) -> Program:
        region = Region(name="r", body=self.body(items, {}), loc=self.loc(), core="aiv")
        ub = Buffer(name="ub", memory=Memory.VEC, loc=region.loc, bytes=1 << 16, address=0)
        return Program(
            name="p", about="", target=TargetOptions(sync="manual"), tensors=tuple(self.tensors.values()), scalars=(),
            body=(region,), loc=region.loc, buffers=(ub,),
        )  # fmt: skip


def event(flag: Up | Down, env: Mapping[str, Sym]) -> Index:
    """The id of a flag in IR."""
    return add(flag.id, mod(add(sym(env[flag.by]), flag.shift), flag.turns)) if flag.by else flag.id


def place(at: At, env: Mapping[str, Sym]) -> Index:
    """The base of an access in IR."""
    total: Index = at.base
    for name, factor in at.by:
        index: Index = sym(env[name])
        total = add(total, mul(mod(index, at.slots) if at.slots else index, factor))
    return total


def check(items: Sequence[Item]) -> list[Diagnostic]:
    """What the checker says of a program."""
    maker, sink = Maker(), Sink()
    program = maker.program(items)
    check_program(program, A2A3, sink, maker.effect)
    return sink.found


def codes(items: Sequence[Item]) -> set[str]:
    """The codes of what the checker says."""
    return {d.rule.code for d in check(items)}


def hazards(items: Sequence[Item]) -> set[tuple[int, int, str]]:
    """Reported races as (earlier line, later line, hazard)."""
    found: set[tuple[int, int, str]] = set()
    for d in check(items):
        if d.rule.code == "PS5101":
            first = d.secondary[0].span.line if d.secondary else d.primary.span.line
            found.add((first, d.primary.span.line, str(dict(d.figures)["hazard"])))
    return found


def all_races(items: Sequence[Item]) -> set[tuple[int, int]]:
    """All races as (earlier line, later line), with those that are not reported because they follow from others."""
    maker, out = Maker(), Reporter(Sink())
    program = maker.program(items)
    (region,) = program.body
    assert isinstance(region, Region)
    Walker(Builder(region, program.buffers, 6, maker.effect, out).flow(region), out).run()
    return {(a.loc.span.line, b.loc.span.line) for a, b in out.races}


def edited(items: Sequence[Item], edit: Edit) -> list[Item]:
    """The program with each statement replaced by what `edit` makes of its line and itself (before its body)."""
    line = 0

    def block(body: Sequence[Item]) -> Iterator[Item]:
        nonlocal line
        for item in body:
            line += 1
            new = edit(line, item)
            if isinstance(item, Loop):
                inner = replace(item, body=tuple(block(item.body)))
                yield from (inner if n is item else n for n in new)
            elif isinstance(item, Cond):
                arms = Cond(tuple(block(item.then)), tuple(block(item.other)))
                yield from (arms if n is item else n for n in new)
            else:
                yield from new

    return list(block(items))


def repaired(items: Sequence[Item], rounds: int = 20) -> list[Item]:
    """The program with an order put in where the checker finds races and flags taken out where it finds them wrong."""
    for number in range(rounds):
        found = check(items)
        if not found:
            break
        figures, line = dict(found[0].figures), found[0].primary.span.line
        if "hazard" in figures:
            items = edited(items, _before(line, _order(figures["from"], figures["to"], number)))
        else:
            items = edited(items, _without((figures["from"], figures["to"], figures["id"])))
    return list(items)


def _order(source: Any, target: Any, number: int) -> list[Item]:
    if source == target != "s":
        return [Bar(source)]
    return [Bar("all")] if number > 10 else [Up(source, target, number % 6), Down(source, target, number % 6)]


def _before(line: int, more: list[Item]) -> Edit:
    return lambda n, item: [*more, item] if n == line else [item]


def _without(key: tuple[object, object, object]) -> Edit:
    return lambda n, item: [] if isinstance(item, Up | Down) and item.key == key else [item]


def unrolled(items: Sequence[Item], trips: Mapping[str, int], arms: Iterator[bool]) -> Iterator[Item]:
    """A path through a program as straight-line code; `trips` for loops without a number, `arms` for branches."""
    for item in items:
        if isinstance(item, Loop):
            for i in range(trips[item.index] if item.trips is None else item.trips):
                yield from unrolled([_fixed(b, item.index, i) for b in item.body], trips, arms)
        elif isinstance(item, Cond):
            yield from unrolled(item.then if next(arms) else item.other, trips, arms)
        else:
            yield item


def _fixed(item: Item, index: str, value: int) -> Item:
    if isinstance(item, Loop):
        return replace(item, body=tuple(_fixed(b, index, value) for b in item.body))
    if isinstance(item, Cond):
        return Cond(*(tuple(_fixed(b, index, value) for b in arm) for arm in (item.then, item.other)))
    if isinstance(item, Do):
        reads, writes = (tuple(_moved(a, index, value) for a in places) for places in (item.reads, item.writes))
        return replace(item, reads=reads, writes=writes)
    if isinstance(item, Up | Down) and item.by == index:
        return replace(item, id=item.id + (value + item.shift) % item.turns, by="", turns=1, shift=0)
    return item


def _moved(at: At, index: str, value: int) -> At:
    here = sum(f * (value % at.slots if at.slots else value) for name, f in at.by if name == index)
    return replace(at, base=at.base + here, by=tuple(b for b in at.by if b[0] != index))
