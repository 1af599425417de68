"""LowerPipelineLoops: the body of a `pipeline` with F stages stands F times in it, so that copies can run side by side.

Copy `k` of an iteration works on index `i + k * step`, the loop goes on by `F * step`. What is left of the trips comes
behind it: straight-line where their number is known, else one arm of an `if` for each remainder. Carried values and
numbers go from copy to copy. Every statement of a copy says which one it is (its group and stage): the buffers of
copies are kept apart by MemoryReuse as far as memory allows. Inner pipelines are lowered first, and their copies carry
the tags of both. A condition that cannot hold in a later copy (the accumulator starts from zero) is left out there.

A loop whose step is known at run time only cannot be divided and stays as it is; a hint says so. So does one whose
copies would make more than 1,000 statements of its region: inner pipelines keep their stages first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from pypto_spec.diagnostics.model import CompileError, Label, Repair, diagnose
from pypto_spec.diagnostics.rules.sync import PINNED_IN_PIPELINE, PIPELINE_KEPT
from pypto_spec.ir.condition import decide
from pypto_spec.ir.expr import Index, Sym, add, floordiv, mod, mul, sym, symbols
from pypto_spec.ir.loops import known_trips, loop_symbol, trip_count
from pypto_spec.ir.naming import Names
from pypto_spec.ir.nodes import (
    Attr,
    Buffer,
    Carry,
    Condition,
    For,
    If,
    NumberCarry,
    NumberPhi,
    Op,
    Phi,
    Program,
    Region,
    Stage,
    Stmt,
    Value,
)
from pypto_spec.ir.rewrite import Rewriter, Substitution, ops, regions, statements, with_parts
from pypto_spec.passes.base import Context, Pass, Property
from pypto_spec.passes.copying import Copy
from pypto_spec.passes.stages.copies import MOST_STATEMENTS, made_of, most_stages, size_of

State = tuple[tuple[Value, ...], tuple[Index, ...]]
"""The values and numbers that a loop carries, at one point."""


class _Stage(Copy):
    """One copy of a pipeline's body."""

    def __init__(self, loop: For, index: Index, state: State, names: Names, stage: Stage) -> None:
        values, numbers = state
        symbols = {loop.index: index, **{n.arg: i for n, i in zip(loop.numbers, numbers, strict=True)}}
        super().__init__(symbols, loop.body, names, versions=True)
        self.values.update({c.arg: v for c, v in zip(loop.carries, values, strict=True)})
        self.stage = stage

    def op(self, op: Op) -> Sequence[Stmt]:
        (made,) = super().op(op)
        assert isinstance(made, Op)
        return (with_parts(made, attrs=_settled(made.attrs), stages=(*made.stages, self.stage)),)

    def state(self, loop: For) -> State:
        """What the loop carries behind this copy."""
        return tuple(self.use(c.yielded) for c in loop.carries), tuple(self.index(n.yielded) for n in loop.numbers)


def _settled(attrs: Mapping[str, Attr]) -> Mapping[str, Attr]:
    """The fields of an op without conditions that cannot hold, and with the phase that a `final` which holds gives."""
    known = {name: decide(attr) for name, attr in attrs.items() if isinstance(attr, Condition)}
    if all(answer is None for answer in known.values()):
        return attrs
    made = {name: attr for name, attr in attrs.items() if known.get(name) is not False}
    if known.get("final"):
        del made["final"]
        made["phase"] = "final"
    return made


class _Lowering(Substitution):
    """Lowers the pipelines of one region; numbers that a loop gave are put in place behind it."""

    def __init__(self, region: Region, context: Context, pinned: Mapping[str, Buffer], first_group: int) -> None:
        super().__init__({})
        self.region_allow = region.allow
        self.context = context
        self.pinned = pinned
        self.names = Names.of(region)
        self.groups = first_group
        self.size = size_of(region.body)
        """Statements of the region so far."""

    def index(self, index: Index) -> Index:
        return super().index(index) if self.symbols else index

    def loop(self, loop: For) -> Sequence[Stmt]:
        (made,) = super().loop(loop)
        assert isinstance(made, For)
        if made.kind != "pipeline" or made.stages == 1:
            return (made,)
        if not isinstance(made.step, int):
            self._keep(made)
            return (replace(made, stages=1),)
        around = self.size - 1 - size_of(made.body)
        size = around + made_of(made, made.stages)
        if size > MOST_STATEMENTS:
            self._bound(made, size, around)
            return (replace(made, stages=1),)
        self.size = size
        self._pinned(made)
        group, self.groups = self.groups, self.groups + 1
        return self._static(made, group) if _is_static(made) else self._dynamic(made, group)

    # -- the parts ------------------------------------------------------------------------------------------------

    def _copies(self, loop: For, count: int, base: Index, state: State, group: int) -> tuple[list[Stmt], State]:
        """`count` copies of the body from index `base` on, and what is carried behind them."""
        made: list[Stmt] = []
        for stage in range(count):
            copy = _Stage(loop, add(base, mul(loop.step, stage)), state, self.names, (group, stage))
            made += copy.block(loop.body)
            state = copy.state(loop)
        return made, state

    def _main(self, loop: For, stop: Index, group: int, last: bool) -> tuple[For, State]:
        """The loop over whole rounds of copies; `last`: nothing comes behind it, so it gives the results."""
        step = cast(int, loop.step) * loop.stages
        index = loop_symbol(loop.index.name, loop.start, stop, step)
        args = tuple(self._version(c.arg) for c in loop.carries)
        numbers = tuple(self._symbol(n.arg) for n in loop.numbers)
        state: State = args, tuple(map(sym, numbers))
        body, ends = self._copies(loop, loop.stages, sym(index), state, group)
        results = tuple(c.result if last else self._version(c.result) for c in loop.carries)
        given = tuple(n.result if last else self._symbol(n.result) for n in loop.numbers)
        carries = tuple(
            Carry(arg, c.init, end, result)
            for c, arg, end, result in zip(loop.carries, args, ends[0], results, strict=True)
        )
        carried = tuple(
            NumberCarry(arg, n.init, end, result)
            for n, arg, end, result in zip(loop.numbers, numbers, ends[1], given, strict=True)
        )
        made = replace(
            loop, index=index, stop=stop, step=step, body=tuple(body), carries=carries, numbers=carried, stages=1
        )
        return made, (results, tuple(map(sym, given)))

    def _static(self, loop: For, group: int) -> Sequence[Stmt]:
        start, step = cast(int, loop.start), cast(int, loop.step)
        trips = cast(int, known_trips(start, loop.stop, step))
        if 0 < trips < loop.stages:
            loop = replace(loop, stages=trips)  # one round, so that a loop is left of which findings can speak
        rounds, left = divmod(trips, loop.stages)
        end = start + rounds * loop.stages * step
        made: list[Stmt] = []
        state: State = tuple(c.init for c in loop.carries), tuple(n.init for n in loop.numbers)
        if rounds:
            main, state = self._main(loop, end, group, last=not left)
            made.append(main)
        if left:
            tail, state = self._copies(loop, left, end, state, group)
            made += tail
            self._settle(loop, state)
        return made

    def _settle(self, loop: For, state: State) -> None:
        """Let the values and numbers at hand be the results of a loop."""
        for carry, value in zip(loop.carries, state[0], strict=True):
            self.bind(carry.result, value)
        found = {n.result: index for n, index in zip(loop.numbers, state[1], strict=True)}
        self.symbols = {**self.symbols, **found}

    def _dynamic(self, loop: For, group: int) -> Sequence[Stmt]:
        step = cast(int, loop.step)
        count = trip_count(loop.start, loop.stop, step)
        end = add(loop.start, mul(floordiv(count, loop.stages), loop.stages * step))
        main, state = self._main(loop, end, group, last=False)
        return (main, *self._cascade(loop, mod(count, loop.stages), 1, end, state, group))

    def _cascade(self, loop: For, left: Index, case: int, base: Index, state: State, group: int) -> tuple[Stmt, ...]:
        """`if` as many as `case` trips are left: so many copies; else the next case."""
        then, ends = self._copies(loop, case, base, state, group)
        first = case == 1
        values = tuple(c.result if first else self._version(c.result) for c in loop.carries)
        numbers = tuple(n.result if first else self._symbol(n.result) for n in loop.numbers)
        other: tuple[Stmt, ...] = ()
        otherwise = state
        if case + 1 < loop.stages:
            other = self._cascade(loop, left, case + 1, base, state, group)
            (inner,) = other
            assert isinstance(inner, If)
            otherwise = tuple(p.result for p in inner.phis), tuple(sym(n.result) for n in inner.numbers)
        phis = tuple(Phi(r, a, b) for r, a, b in zip(values, ends[0], otherwise[0], strict=True))
        picked = tuple(NumberPhi(r, a, b) for r, a, b in zip(numbers, ends[1], otherwise[1], strict=True))
        condition = Condition("==", left, case)
        return (If(condition=condition, then=tuple(then), other=other, loc=loop.loc, phis=phis, numbers=picked),)

    def _version(self, value: Value) -> Value:
        return Value(self.names.fresh(value.name), value.type, value.buffer)

    def _symbol(self, symbol: Sym) -> Sym:
        return Sym(self.names.fresh(symbol.name), symbol.kind, symbol.low, symbol.high, symbol.multiple)

    # -- findings -------------------------------------------------------------------------------------------------

    def _keep(self, loop: For) -> None:
        self.context.sink.report(
            PIPELINE_KEPT,
            loop.loc.field("stages"),
            f"the pipeline asks for {loop.stages} stages and runs at depth 1: its step is known at run time only, so "
            "the index of a later copy is not",
            label="one iteration after the other",
            helps=[
                "count the iterations (`count: ...`) with a constant step, and multiply the index where it is used",
                "over cores: a `parallel` around the region with the pipeline over the rows of one index, or `spmd` "
                "with a constant number of `blocks` as the step",
            ],
            figures=[("requested", loop.stages), ("achieved", 1)],
            allow=loop.allow | self.region_allow,
        )

    def _bound(self, loop: For, size: int, around: int) -> None:
        within = most_stages(loop, MOST_STATEMENTS - around)
        way = (
            "write `for`" if within == 1 else f"write `stages: {within}`, which makes {around + made_of(loop, within)}"
        )
        self.context.sink.report(
            PIPELINE_KEPT,
            loop.loc.field("stages"),
            f"the pipeline asks for {loop.stages} stages and runs at depth 1: its copies would make {size} statements "
            f"of this region, and {MOST_STATEMENTS} are the most",
            label="one iteration after the other",
            helps=[f"{way}, or give the pipelines in it fewer stages"],
            figures=[
                ("requested", loop.stages),
                ("achieved", 1),
                ("statements", size),
                ("most_statements", MOST_STATEMENTS),
                ("stages_within", within),
            ],
            allow=loop.allow | self.region_allow,
        )

    def _pinned(self, loop: For) -> None:
        """Refuse tiles in an author's buffer that every copy would write at once."""
        inner = {loop.index} | {s.index for s in statements(loop.body) if isinstance(s, For)}
        for op in ops(loop.body):
            for value in op.results:
                ref = value.buffer
                buffer = self.pinned.get(ref.buffer) if ref is not None else None
                if ref is None or buffer is None or op.defn.role == "view":
                    continue
                if ref.slot is None or not symbols(ref.slot) & inner:
                    raise _pinned_in_pipeline(loop, op, value, buffer)


def _is_static(loop: For) -> bool:
    return isinstance(loop.start, int) and isinstance(loop.stop, int)


def _pinned_in_pipeline(loop: For, op: Op, value: Value, buffer: Buffer) -> CompileError:
    name, depth = value.name.split(".")[0], loop.stages
    return CompileError(
        [
            diagnose(
                PINNED_IN_PIPELINE,
                op.loc.field("buffer"),
                f"`{name}` is put in one place of the buffer `{buffer.name}`, but the pipeline has {depth} iterations "
                "in flight, which would all write there",
                label="the same place in every iteration",
                secondary=[
                    Label(loop.loc.field("stages"), f"{depth} iterations in flight"),
                    Label(buffer.loc.span, f"`{buffer.name}`: {buffer.slots} slot{'s' * (buffer.slots != 1)}"),
                ],
                helps=[
                    "leave `buffer` out: the compiler gives each stage a buffer of its own",
                    f"or write `for` in place of `pipeline`, `slots: {depth}` at the buffer and "
                    f"`slot: {loop.index.name} % {depth}` here",
                ],
                fixes=[Repair("remove", op.loc.field("buffer"), ("buffer",), ("slot",), title="leave `buffer` out")],
            )
        ]
    )


class _Regions(Rewriter):
    def __init__(self, program: Program, context: Context) -> None:
        super().__init__()
        self.context = context
        self.pinned = {b.name: b for b in program.buffers if b.owner == "author"}
        tags = (group for r in regions(program.body) for op in ops(r.body) for group, _ in op.stages)
        self.groups = max(tags, default=-1) + 1

    def region(self, region: Region) -> Region:
        if not any(isinstance(s, For) and s.kind == "pipeline" and s.stages > 1 for s in statements(region.body)):
            return region
        lowering = _Lowering(region, self.context, self.pinned, self.groups)
        body = lowering.block(region.body)
        self.groups = lowering.groups
        return replace(region, body=body)


def run(program: Program, context: Context) -> Program:
    """Lower the pipelines of every region."""
    return _Regions(program, context).program(program)


LOWER_PIPELINE_LOOPS = Pass(
    name="LowerPipelineLoops",
    run=run,
    requires=frozenset({Property.SSA_FORM, Property.TILE_MEMORY_INFERRED}),
    produces=frozenset({Property.PIPELINES_REPLICATED}),
    doc=__doc__,
)
