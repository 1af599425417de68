"""Simplify: what is known at compile time disappears before anything is decided about it.

It decides conditions whose bounds leave one answer, removes loops that never run, puts the body of a loop that runs
once in its place (unless a later pass has made the loop, as dumps show), drops what is exactly the identity (a reshape
to the same shape, `* 1`, `/ 1`, `- 0`, and `+ 0` of integers) and removes values that nothing uses, with one warning
for each. All other statements stay as the author wrote them, and a program with `sync: manual` stays as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence, Set
from dataclasses import replace
from math import copysign

from pypto_spec.diagnostics.model import Repair
from pypto_spec.diagnostics.rules.names import UNUSED_VALUE
from pypto_spec.ir.arguments import compared, indices_of
from pypto_spec.ir.condition import decide
from pypto_spec.ir.expr import Index, Sym, sym, symbols
from pypto_spec.ir.loops import known_trips
from pypto_spec.ir.naming import split
from pypto_spec.ir.nodes import Branch as ControlBranch
from pypto_spec.ir.nodes import Carry, Control, For, If, Loop, Op, Program, Region, Stmt, Value
from pypto_spec.ir.rewrite import Rewriter, Substitution, ops, regions, statements
from pypto_spec.ir.types import ArrayType, TileType
from pypto_spec.ir.verifier import same_type
from pypto_spec.passes.base import Context, Pass, Property
from pypto_spec.passes.pads import check_pads

_IDENTITY = {"muls": 1, "divs": 1, "subs": 0, "adds": 0}


def _same_place(x: Value, result: Value) -> bool:
    """Whether a result may be its operand: they have one type, and nobody placed the result."""
    return result.buffer is None and same_type(x.type, result.type)


class _Folder(Substitution):
    """Conditions, trip counts and identities; numbers that are decided with them are put in place behind.

    `placed` are the buffers that the compiler made: what stands in them comes from a dump.
    """

    def __init__(self, placed: Collection[str]) -> None:
        super().__init__({})
        self.placed = placed

    def settle(self, symbol: Sym, index: Index) -> None:
        """Put an index in the place of a number from here on."""
        self.symbols = {**self.symbols, symbol: self.index(index)}

    def control(self, node: Control) -> Sequence[Control]:
        if isinstance(node, ControlBranch):
            answer = decide(node.condition)
            if answer is not None:
                return self.controls(node.then if answer else node.other)
        elif isinstance(node, Loop) and known_trips(node.start, node.stop, node.step) == 0:
            return ()
        return super().control(node)

    def op(self, op: Op) -> Sequence[Stmt]:
        if self.symbols:
            (made,) = super().op(op)
            assert isinstance(made, Op)
            op = made
        if op.name == "reshape" and _same_place(op.operands["x"], op.result):
            self.bind(op.result, op.operands["x"])
            return ()
        neutral = _IDENTITY.get(op.name)
        if neutral is None or "scalar" not in op.attrs:
            return (op,)
        number, x, result = op.attrs["scalar"], op.operands["x"], op.result
        if isinstance(number, bool) or not isinstance(number, int | float) or number != neutral:
            return (op,)
        exact = isinstance(x.type, TileType | ArrayType)
        if isinstance(x.type, TileType | ArrayType) and x.type.dtype.is_float and neutral == 0:
            exact = (copysign(1, number) > 0) == (op.name == "subs")  # -0 + 0 is 0, and -0 + -0 is -0
        if not exact or not _same_place(x, result):
            return (op,)
        self.bind(result, x)
        return ()

    def branch(self, branch: If) -> Sequence[Stmt]:
        answer = decide(self.condition(branch.condition))
        if answer is None:
            return super().branch(branch)
        body = self.block(branch.then if answer else branch.other)
        for phi in branch.phis:
            self.bind(phi.result, self.use(phi.then if answer else phi.other))
        for number in branch.numbers:
            self.settle(number.result, number.then if answer else number.other)
        return body

    def loop(self, loop: For) -> Sequence[Stmt]:
        count = known_trips(*self.indices((loop.start, loop.stop, loop.step)))
        if count == 0 or self._never(loop):
            for carry in loop.carries:
                self.bind(carry.result, self.use(carry.init))
            for number in loop.numbers:
                self.settle(number.result, number.init)
            return ()
        if count == 1 and loop.condition is None and not self._made(loop):
            return self.once(loop)
        still = [n for n in loop.numbers if n.yielded == sym(n.arg)]
        for number in still:
            self.settle(number.arg, number.init)
            self.settle(number.result, number.init)
        if still:
            loop = replace(loop, numbers=tuple(n for n in loop.numbers if n not in still))
        constant = [c for c in loop.carries if c.yielded is c.arg]
        if constant:
            for carry in constant:
                self.bind(carry.arg, self.use(carry.init))
                self.bind(carry.result, self.use(carry.init))
            loop = replace(loop, carries=tuple(c for c in loop.carries if c.yielded is not c.arg))
        return super().loop(loop)

    def _never(self, loop: For) -> bool:
        """Whether the condition of a loop is false before its first iteration."""
        if loop.condition is None:
            return False
        first = Substitution({n.arg: self.index(n.init) for n in loop.numbers} | {loop.index: loop.start})
        return decide(first.condition(self.condition(loop.condition))) is False

    def _made(self, loop: For) -> bool:
        """Whether a later pass has made the loop: a pipeline with a copy for each trip is a loop that runs once."""
        return any(
            isinstance(s, Op)
            and (s.stages or any(r.buffer is not None and r.buffer.buffer in self.placed for r in s.results))
            for s in statements(loop.body)
        )

    def once(self, loop: For) -> Sequence[Stmt]:
        """The body of a loop that runs once, in place of the loop."""
        fixed = Substitution({loop.index: loop.start, **{n.arg: n.init for n in loop.numbers}})
        for carry in loop.carries:
            self.bind(carry.arg, self.use(carry.init))
        body = self.block(fixed.block(loop.body))
        for carry in loop.carries:
            self.bind(carry.result, self.use(fixed.use(carry.yielded)))
        for number in loop.numbers:
            self.settle(number.result, fixed.index(number.yielded))
        return body


class _Sweeper(Rewriter):
    """Removes what nothing uses from one region."""

    def __init__(self, live: set[Value], numbers: Set[Sym]) -> None:
        super().__init__()
        self.live = live
        self.numbers = numbers

    def op(self, op: Op) -> Sequence[Stmt]:
        return () if is_dead(op, self.live) else (op,)

    def loop(self, loop: For) -> Sequence[Stmt]:
        kept = tuple(c for c in loop.carries if c.arg in self.live or c.result in self.live)
        numbers = tuple(n for n in loop.numbers if n.arg in self.numbers or n.result in self.numbers)
        if len(kept) < len(loop.carries) or len(numbers) < len(loop.numbers):
            loop = replace(loop, carries=kept, numbers=numbers)
        (made,) = super().loop(loop)
        assert isinstance(made, For)
        idle = not made.body and not made.carries and not any(n.result in self.numbers for n in made.numbers)
        return () if idle else (made,)

    def branch(self, branch: If) -> Sequence[Stmt]:
        kept = tuple(p for p in branch.phis if p.result in self.live)
        numbers = tuple(n for n in branch.numbers if n.result in self.numbers)
        if len(kept) < len(branch.phis) or len(numbers) < len(branch.numbers):
            branch = replace(branch, phis=kept, numbers=numbers)
        (made,) = super().branch(branch)
        assert isinstance(made, If)
        return (made,) if made.then or made.other or made.phis or made.numbers else ()


def is_dead(op: Op, live: set[Value]) -> bool:
    """Whether an op has no effect and none of its results is used."""
    return op.defn.effects not in ("writes_gm", "shows") and not any(r in live for r in op.results)


def live_values(body: Sequence[Stmt]) -> set[Value]:
    """The values of a region that reach GM, or are shown."""
    sources: dict[Value, Iterator[Value] | Sequence[Value]] = {}
    work: list[Value] = []
    for node in statements(body):
        if isinstance(node, Op):
            if node.defn.effects in ("writes_gm", "shows"):
                work.extend(node.operands.values())
            for result in node.results:
                sources[result] = tuple(node.operands.values())
        elif isinstance(node, For):
            for carry in node.carries:
                sources[carry.arg] = sources[carry.result] = (carry.init, carry.yielded)
        elif isinstance(node, If):
            for phi in node.phis:
                sources[phi.result] = (phi.then, phi.other)
    live: set[Value] = set()
    while work:
        value = work.pop()
        if value not in live:
            live.add(value)
            work.extend(sources.get(value, ()))
    return live


def live_numbers(body: Sequence[Stmt]) -> set[Sym]:
    """The numbers that a statement of a region, a condition or a loop's bounds depend on."""
    sources: dict[Sym, list[Index]] = {}
    work: list[Index] = []
    for node in statements(body):
        if isinstance(node, For):
            work += (node.start, node.stop, node.step)
            if node.condition is not None:
                work += compared(node.condition)
            for number in node.numbers:
                sources[number.arg] = sources[number.result] = [number.init, number.yielded]
        elif isinstance(node, If):
            work += compared(node.condition)
            for picked in node.numbers:
                sources[picked.result] = [picked.then, picked.other]
        else:
            work += indices_of(node)
    if not sources:
        return set()
    live: set[Sym] = set()
    while work:
        for symbol in symbols(work.pop()) - live:
            live.add(symbol)
            work += sources.get(symbol, ())
    return live


def _warn(region: Region, live: set[Value], context: Context) -> None:
    """One warning for each dead value that no op reads and no loop starts from (what only feeds it goes with it)."""
    read = {v for op in ops(region.body) for v in op.operands.values()}
    read.update(c.init for node in statements(region.body) if isinstance(node, For) for c in node.carries)
    seen: set[tuple[str, tuple[int, int]]] = set()
    for op in ops(region.body):
        if not is_dead(op, live) or any(r in read for r in op.results):
            continue
        name = split(op.results[0].name)[0] if op.results else op.name
        key = name, op.loc.span.start
        if key in seen:
            continue
        seen.add(key)
        context.sink.report(
            UNUSED_VALUE,
            op.loc.span,
            f"`{name}` is {'loaded' if op.defn.effects == 'reads_gm' else 'computed'} and never used",
            label="nothing uses this; it is left out of the kernel",
            helps=[f"store `{name}` to a tensor, or remove the statement"],
            allow=op.allow | region.allow,
            fixes=[Repair("remove", op.loc.span, safe=True, title=f"remove the statement that binds `{name}`")],
        )


class _Cleaner(Rewriter):
    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context

    def region(self, region: Region) -> Region:
        live = live_values(region.body)
        if all(_needed(node, live) for node in statements(region.body)):
            return region
        _warn(region, live, self.context)
        return replace(region, body=_Sweeper(live, live_numbers(region.body)).block(region.body))


def _needed(node: Stmt, live: set[Value]) -> bool:
    """Whether nothing can go of a statement; with numbers that is for the sweeper to say."""
    if isinstance(node, Op):
        return not is_dead(node, live)
    if isinstance(node, For | If) and node.numbers:
        return False
    if isinstance(node, For):
        return bool(node.body or node.carries) and all(_used(c, live) for c in node.carries)
    return not isinstance(node, If) or (bool(node.then or node.other) and all(p.result in live for p in node.phis))


def _used(carry: Carry, live: set[Value]) -> bool:
    return carry.arg in live or carry.result in live


def run(program: Program, context: Context) -> Program:
    """Fold, then remove what is dead."""
    if program.target.sync == "manual":
        return program
    for region in regions(program.body):
        check_pads(region)
    placed = {b.name for b in program.buffers if b.owner == "compiler"}
    return _Cleaner(context).program(_Folder(placed).program(program))


SIMPLIFY = Pass(
    name="Simplify",
    run=run,
    requires=frozenset({Property.SSA_FORM}),
    doc=__doc__,
)
