"""Loops inside a region, with what they carry, and the jumps out of them.

Values keep their names until ConvertToSSA; integers are in SSA form from here on (`numbers.py`), since types and
windows are made of them.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import field
from typing import Literal, TypeAlias, cast

from pypto_spec.convert.carried import Block, CarryReader, Start
from pypto_spec.convert.context import PoisonedError, Reading
from pypto_spec.convert.numbers import assigned, carried_bounds, local, union
from pypto_spec.convert.op_stmt import OpReader
from pypto_spec.convert.options import read_insisted
from pypto_spec.convert.ranges import read_range
from pypto_spec.convert.scope import Name
from pypto_spec.diagnostics.model import Fix, Label, Repair
from pypto_spec.diagnostics.rules.flow import CARRIED_BY_HAND, ENDLESS_LOOP, JUMP_OUTSIDE, UNROLL_COUNT
from pypto_spec.diagnostics.rules.names import UNDEFINED_NAME
from pypto_spec.diagnostics.rules.sync import BAD_STAGES
from pypto_spec.diagnostics.rules.syntax import MISSING_KEY
from pypto_spec.diagnostics.span import Loc, Span
from pypto_spec.ir.condition import condition_symbols
from pypto_spec.ir.expr import Expr, Index, Sym, sym, symbols
from pypto_spec.ir.loops import known_trips, loop_symbol
from pypto_spec.ir.nodes import For, Jump, NumberCarry, Value
from pypto_spec.ir.rewrite import ops
from pypto_spec.records import dataclass
from pypto_spec.spec.formula import names
from pypto_spec.spec.models.statement import Statement
from pypto_spec.spec.tree import MappingNode, Node, ScalarNode

MOST_STAGES = 16
"""Stages of one pipeline, as PyPTO has them."""
MOST_UNROLLED = 1024
"""Iterations that one `unroll` writes out."""

UNLEAVABLE = {"unroll": "its iterations are written out", "pipeline": "its iterations overlap"}
"""The loops that `break` and `continue` cannot leave, and why."""

LoopKind: TypeAlias = Literal["for", "pipeline", "unroll", "while"]


@dataclass(slots=True)
class _Frame:
    """A loop being read: the numbers it carries by their names, and the jumps in it."""

    kind: LoopKind
    by_hand: Node | None
    """A tile it carries by hand."""
    loc: Loc
    written: tuple[str, ...] = ()
    """Numbers it carries by hand."""
    names: list[str] = field(default_factory=list)
    jumps: list[Jump] = field(default_factory=list)


def _is_true(node: Node | None) -> bool:
    """A flag as the model has checked it, false where it is not written."""
    return isinstance(node, ScalarNode) and node.value is True


class LoopReader:
    """Reads loops and jumps; `block` reads what stands in them."""

    def __init__(self, reading: Reading, ops: OpReader, block: Block) -> None:
        self.reading = reading
        self.ops = ops
        self.block = block
        self.carried = CarryReader(reading, ops)
        self.frames: list[_Frame] = []

    def apart(self) -> Iterator[None]:
        """While it lasts no loop is around: the body of a function, which no jump leaves."""
        outside, self.frames = self.frames, []
        try:
            yield
        finally:
            self.frames = outside

    def loop(self, item: Statement, loc: Loc) -> For:
        """`for`, `pipeline`, `unroll` and `while`."""
        reading, scope, statement = self.reading, self.reading.scope, item.node
        kind = cast(LoopKind, item.keyword)
        fields = item.value if isinstance(item.value, MappingNode) else None
        allow = self.ops.allow(statement)
        starts = self.carried.starts(statement)
        mark = scope.mark()
        start: Index = 0
        stop: Index
        step: Index = 1
        depth = 1
        if kind == "while":
            symbol, stop = Sym("while", "loop", 0), sym(Sym("rounds", "local", 0))
        else:
            fields = reading.mapping(fields, statement, kind)
            start, stop, step = read_range(reading, fields)
            depth = self._depth(fields)
            if kind == "unroll":
                self._unrollable(starts, fields, (start, stop, step), loc)
            index = fields.get("index")
            if index is None:
                reading.fail(MISSING_KEY, loc.span, f"`{kind}` needs `index`: the name of the loop index")
            symbol = loop_symbol(reading.text(index), start, stop, step)
            scope.declare(Name(symbol.name, "index", index, index=sym(symbol)))
            if kind == "unroll":
                reading.unrolled.add(symbol)
        items, yields = self.carried.split_yield(item.body, statement.get("yield"))
        tiles = [s.key for s in starts if isinstance(s.init, Value)]
        written = tuple(s.name for s in starts if not isinstance(s.init, Value))
        frame = _Frame(kind, tiles[0] if tiles else None, loc, written)
        outside = {s.name: scope.get(s.name) for s in starts}
        args = self.carried.arguments(starts, yields, items)
        carried = self._carried(items, frame, args)
        at = item.value if kind == "while" else fields.get("while") if fields is not None else None
        condition = reading.condition(at) if at is not None else None
        self.frames.append(frame)
        with reading.walking(symbol, start, None if condition is not None else stop, step):
            body = self.block(items)
        self.frames.pop()
        ends = {name: self.carried.given(node) for name, node in yields.items()}
        lasts = [cast(Name, scope.get(name)).index for name in frame.names]
        scope.leave(mark)
        for known in outside.values():
            if known is not None:  # what was carried under its name has another behind the loop
                scope.set(known)
        if any(last is None for last in lasts):
            raise PoisonedError
        carries, numbers = self.carried.carries(statement, starts, args, ends, frame.jumps)
        for place, name in enumerate(frame.names):
            arg, init, known = carried[name]
            last = cast(Index, lasts[place])
            behind = [init, last, *(j.numbers[len(written) + place] for j in frame.jumps)]
            made = NumberCarry(arg, init, last, local(reading.fresh.name(name), union(behind)))
            numbers.append(made)
            scope.set(Name(name, "number", known.place, index=sym(made.result)))
        made_loop = For(
            index=symbol, start=start, stop=stop, step=step, body=body, loc=loc, carries=carries,
            numbers=tuple(numbers), condition=condition, kind=kind, stages=depth, allow=allow,
            insist=read_insisted(reading, statement, stages=kind == "pipeline" or any(op.stages for op in ops(body))),
            l0c_double_buffer=fields is not None and _is_true(fields.get("l0c_double_buffer")),
        )  # fmt: skip
        self._ends(made_loop, frame, at)
        return made_loop

    def _depth(self, fields: MappingNode) -> int:
        """The `stages` of a pipeline."""
        reading = self.reading
        stages = fields.get("stages")
        depth = reading.static(stages, "`stages`") if stages is not None else 1
        if stages is not None and not 1 <= depth <= MOST_STAGES:
            reading.fail(
                BAD_STAGES,
                stages,
                f"`stages` is 1 to {MOST_STAGES}, found {depth}",
                label="iterations in flight",
                helps=["2 lets the copies of one iteration run beside the compute of another; more helps only where "
                       "their times vary"],
                fixes=[_value(stages, 2 if depth < 1 else MOST_STAGES)],
            )  # fmt: skip
        return depth

    def _unrollable(
        self, starts: Sequence[Start], fields: MappingNode, span: tuple[Index, Index, Index], loc: Loc
    ) -> None:
        """Refuse an `unroll` that cannot be written out."""
        tiles = [s.key for s in starts if isinstance(s.init, Value)]
        if tiles:
            self.reading.fail(
                UNROLL_COUNT,
                tiles[0],
                "an `unroll` carries no tile by hand: its iterations stand one after the other",
                label="not in `unroll`",
                helps=["bind the names again in its body, or write `for`"],
                fixes=[_as_for("unroll", loc.span)],
            )
        start, stop, step = span
        place = fields.get("count") or fields.get("range") or loc.span
        if not (isinstance(start, int) and isinstance(stop, int) and isinstance(step, int)):
            read = {s for part in span if isinstance(part, Expr) for s in symbols(part)}
            if read <= self.reading.unrolled:
                return  # a constant in each iteration of the `unroll` around it
            self.reading.fail(
                UNROLL_COUNT,
                place,
                "the iterations of an `unroll` are counted at compile time",
                label="depends on run-time values",
                helps=["use constants, or write `for`"],
                fixes=[_as_for("unroll", loc.span)],
            )
        times = cast(int, known_trips(start, stop, step))
        if times > MOST_UNROLLED:
            self.reading.fail(
                UNROLL_COUNT,
                place,
                f"an `unroll` writes out {MOST_UNROLLED} iterations at most, found {times}",
                label=f"{times} iterations",
                helps=["write `for`, with an `unroll` of some iterations inside"],
            )

    def _ends(self, loop: For, frame: _Frame, at: Node | None) -> None:
        """Refuse a `while` whose condition nothing in its body can change."""
        if loop.kind != "while" or at is None or any(j.kind == "break" for j in frame.jumps):
            return
        assert loop.condition is not None
        moving = {n.arg for n in loop.numbers if n.yielded != sym(n.arg)}
        if condition_symbols(loop.condition) & moving:
            return
        read = [self.reading.scope.get(n.id) for n in names(self.reading.expression(at))]
        name = next((n.text for n in read if n is not None and n.kind == "number"), "k")
        self.reading.fail(
            ENDLESS_LOOP,
            at,
            "this condition is the same in every iteration: the loop never runs or never ends",
            label="nothing in the body changes it",
            helps=[
                f"bind a number before the loop and change it inside, as in `- let: {name} = {name} + 1`",
                "or leave the loop with `break`",
            ],
        )

    def _carried(
        self, items: Sequence[Statement], frame: _Frame, by_hand: Container[str]
    ) -> dict[str, tuple[Sym, Index, Name]]:
        """Make a symbol for each number that the body binds again; the initial value and the old meaning with it."""
        scope, fresh = self.reading.scope, self.reading.fresh
        updates = {name: found for name, found in assigned(items, scope).items() if name not in by_hand}
        known = {name: cast(Name, scope.get(name)) for name in updates}
        starts = {name: cast(Index, found.index) for name, found in known.items()}
        limits = carried_bounds(starts, updates, self.reading.exprs) if starts else {}
        made: dict[str, tuple[Sym, Index, Name]] = {}
        for name, found in known.items():
            symbol = local(fresh.name(name), limits[name])
            made[name] = symbol, starts[name], found
            scope.set(Name(name, "number", found.place, index=sym(symbol)))
            frame.names.append(name)
        return made

    def jump(self, item: Statement, loc: Loc) -> Jump:
        """`break` and `continue`."""
        reading, word = self.reading, cast(Literal["break", "continue"], item.keyword)
        if not self.frames:
            reading.fail(
                JUMP_OUTSIDE,
                item.key,
                f"`{word}` stands in no loop of this region",
                label="no loop around it",
                helps=["put it into the body of a `for` or `while`"],
            )
        frame = self.frames[-1]
        why = UNLEAVABLE.get(frame.kind)
        if why is not None:
            reading.fail(
                JUMP_OUTSIDE,
                item.key,
                f"`{word}` cannot leave an iteration of `{frame.kind}`: {why}",
                label="not in this loop",
                secondary=[Label(frame.loc.span, "the innermost loop")],
                helps=["make it a `for`, or put what it skips under an `if`"],
                fixes=[_as_for(frame.kind, frame.loc.span)] if frame.kind == "unroll" else [],
            )
        if frame.by_hand is not None:
            reading.fail(
                CARRIED_BY_HAND,
                item.key,
                f"`{word}` in a loop with `carry`: what it hands on is not written",
                label="no `yield` here",
                secondary=[Label(frame.by_hand.span, "carried by hand")],
                helps=["leave `carry` and `yield` out and bind the names again: the loop then carries them by itself"],
            )
        given = item.value.get("yield") if isinstance(item.value, MappingNode) else None
        handed = {key.text: node for key, node in given.items} if isinstance(given, MappingNode) else {}
        for name in (n for n in frame.written if n not in handed):
            reading.fail(
                MISSING_KEY,
                item.key,
                f"`{word}` does not say what `{name}` is then",
                label="the loop carries it by hand",
                helps=[f"write `{word}: {{yield: {{{name}: VALUE}}}}`, or leave `carry` out and bind `{name}` again"],
            )
        written = [reading.index(handed.pop(name)) for name in frame.written]
        for name, node in handed.items():
            reading.fail(UNDEFINED_NAME, node, f"the loop carries no `{name}`", label="not carried by hand")
        implied = [cast(Index, cast(Name, reading.scope.get(name)).index) for name in frame.names]
        reading.jumps += 1
        made = Jump(kind=word, loc=loc, numbers=(*written, *implied))
        frame.jumps.append(made)
        return made


def _as_for(keyword: str, span: Span) -> Repair:
    """The same loop, counted at run time."""
    return Repair("rename", span, (keyword,), "for", title=f"write `for` in place of `{keyword}`")


def _value(node: Node, value: int) -> Fix:
    return Fix(node.span, str(value))
