"""Control flow inside a region: loops with what they carry, branches with what their arms give, and jumps.

Values keep their names until ConvertToSSA; integers are in SSA form from here on (`numbers.py`), since types and windows
are made of them. What is written as `carry` and `yield` is taken as it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Literal, TypeAlias, cast

from pypto_spec.convert.context import Reading
from pypto_spec.convert.numbers import assigned, carried_bounds, local, union
from pypto_spec.convert.op_stmt import OpReader
from pypto_spec.convert.ranges import loop_symbol, read_range
from pypto_spec.convert.scope import Name
from pypto_spec.diagnostics.model import Label
from pypto_spec.diagnostics.rules.flow import CARRIED_BY_HAND, ENDLESS_LOOP, JUMP_OUTSIDE, NOT_IN_RANGE, UNROLL_COUNT
from pypto_spec.diagnostics.rules.names import UNDEFINED_NAME
from pypto_spec.diagnostics.rules.sync import STAGES_NOT_YET
from pypto_spec.diagnostics.rules.syntax import CONFLICTING_KEYS, MISSING_KEY
from pypto_spec.diagnostics.span import Loc
from pypto_spec.ir.condition import condition_symbols
from pypto_spec.ir.expr import Bounds, Index, Sym, bounds, sym
from pypto_spec.ir.nodes import Carry, Condition, For, If, Jump, NumberCarry, NumberPhi, Phi, Stmt, Value
from pypto_spec.records import dataclass
from pypto_spec.spec.formula import Expr
from pypto_spec.spec.formula import Name as NameExpr
from pypto_spec.spec.models.statement import Statement
from pypto_spec.spec.tree import MappingNode, Node, ScalarNode, SequenceNode

MOST_UNROLLED = 1024
"""Iterations that one `unroll` writes out."""

Block: TypeAlias = Callable[[Sequence[Statement]], tuple[Stmt, ...]]
LoopKind: TypeAlias = Literal["for", "pipeline", "unroll", "while"]


@dataclass(frozen=True, slots=True)
class _Start:
    """A written carry: its name inside, what it starts from, and where that is written."""

    name: str
    init: Value | Index
    node: Node
    """What is written for it."""
    key: Node


@dataclass(slots=True)
class _Frame:
    """A loop being read: the numbers it carries by their names, and the jumps in it."""

    kind: LoopKind
    by_hand: Node | None
    """Its `carry`."""
    loc: Loc
    names: list[str] = field(default_factory=list)
    jumps: list[Jump] = field(default_factory=list)


class FlowReader:
    """Reads loops, branches and jumps; `block` reads what stands in them."""

    def __init__(self, reading: Reading, ops: OpReader, block: Block) -> None:
        self.reading = reading
        self.ops = ops
        self.block = block
        self.frames: list[_Frame] = []

    # Loops

    def loop(self, item: Statement, loc: Loc) -> For:
        """`for`, `pipeline`, `unroll` and `while`."""
        reading, scope, statement = self.reading, self.reading.scope, item.node
        kind = cast(LoopKind, item.keyword)
        fields = item.value if isinstance(item.value, MappingNode) else None
        allow = self.ops.allow(statement)
        starts = self._starts(statement)
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
            depth = self._depth(fields, loc, allow)
            if kind == "unroll":
                self._unrollable(statement, fields, (start, stop, step), loc)
            index = fields.get("index")
            if index is None:
                reading.fail(MISSING_KEY, loc.span, f"`{kind}` needs `index`: the name of the loop index")
            symbol = loop_symbol(reading.text(index), start, stop, step)
            scope.declare(Name(symbol.name, "index", index, index=sym(symbol)))
        items, yields = self.split_yield(item.body, statement.get("yield"))
        frame = _Frame(kind, statement.get("carry") if starts else None, loc)
        args = self._arguments(starts, yields)
        carried = self._carried(items, frame)
        at = item.value if kind == "while" else fields.get("while") if fields is not None else None
        condition = reading.condition(at) if at is not None else None
        self.frames.append(frame)
        with reading.walking(symbol, start, None if condition is not None else stop, step):
            body = self.block(items)
        self.frames.pop()
        ends = {name: self.given(node) for name, node in yields.items()}
        lasts = [cast(Index, cast(Name, scope.get(name)).index) for name in frame.names]
        scope.leave(mark)
        carries, numbers = self._carries(statement, starts, args, ends, loc)
        for place, name in enumerate(frame.names):
            arg, init, known = carried[name]
            behind = [init, lasts[place], *(j.numbers[place] for j in frame.jumps)]
            made = NumberCarry(arg, init, lasts[place], local(reading.fresh.name(name), union(behind)))
            numbers.append(made)
            scope.set(Name(name, "number", known.place, index=sym(made.result)))
        made_loop = For(
            index=symbol, start=start, stop=stop, step=step, body=body, loc=loc, carries=carries,
            numbers=tuple(numbers), condition=condition, kind=kind, stages=depth, allow=allow,
        )  # fmt: skip
        self._ends(made_loop, frame, at)
        return made_loop

    def _depth(self, fields: MappingNode, loc: Loc, allow: frozenset[str]) -> int:
        """The `stages` of a pipeline."""
        reading = self.reading
        stages = fields.get("stages")
        depth = reading.static(stages, "`stages`") if stages is not None else 1
        if depth > 1 and reading.dump is None:
            reading.sink.report(
                STAGES_NOT_YET,
                loc.field("stages"),
                f"`stages: {depth}` is not used yet: the loop runs at depth 1",
                label="compiles as a `for`",
                allow=allow,
                notes=["results are the same; the copies of one iteration do not overlap the next one's"],
                helps=["leave `stages` out, or keep it for a later version and write `allow: [PS5001]` beside it"],
            )
        return depth

    def _unrollable(
        self, statement: MappingNode, fields: MappingNode, span: tuple[Index, Index, Index], loc: Loc
    ) -> None:
        """Refuse an `unroll` that cannot be written out."""
        carry = statement.get("carry")
        if carry is not None:
            self.reading.fail(
                UNROLL_COUNT,
                carry,
                "an `unroll` carries nothing by hand: its iterations stand one after the other",
                label="not in `unroll`",
                helps=["bind the names again in its body, or write `for`"],
            )
        start, stop, step = span
        place = fields.get("count") or fields.get("range") or loc.span
        if not (isinstance(start, int) and isinstance(stop, int) and isinstance(step, int)):
            self.reading.fail(
                UNROLL_COUNT,
                place,
                "the iterations of an `unroll` are counted at compile time",
                label="depends on run-time values",
                helps=["use constants, or write `for`"],
            )
        times = len(range(start, stop, step))
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
        read = sorted(s.name.partition(".")[0] for s in condition_symbols(loop.condition))
        name = read[0] if read else "k"
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

    # What a loop carries

    def _starts(self, statement: MappingNode) -> list[_Start]:
        node = statement.get("carry")
        if node is None:
            return []
        found: list[_Start] = []
        for key, item in self.reading.mapping(node, statement, "carry").items:
            init = item.get("init") if isinstance(item, MappingNode) else item
            found.append(_Start(key.text, self.given(init if init is not None else item), item, key))
        return found

    def _arguments(self, starts: Sequence[_Start], yields: dict[str, Node]) -> dict[str, Value | Sym]:
        """Bind the written carries inside the loop."""
        reading = self.reading
        free = {s.name: s.init for s in starts if not isinstance(s.init, Value) and self._limits(s.node) is None}
        updates: dict[str, list[Expr]] = {}
        for name in free:
            node = yields.get(name)
            if isinstance(node, ScalarNode):
                updates[name] = [reading.expression(node)]
        limits = carried_bounds(free, updates, reading.exprs) if free else {}
        made: dict[str, Value | Sym] = {}
        for start in starts:
            if isinstance(start.init, Value):
                value = self._like(start.name, start.init, start.node)
                self.ops.bind(value, start.key)
                made[start.name] = value
            else:
                symbol = local(start.name, self._limits(start.node) or limits.get(start.name, (None, None)))
                reading.scope.set(Name(start.name, "number", start.key, index=sym(symbol)))
                made[start.name] = symbol
        return made

    def _carried(self, items: Sequence[Statement], frame: _Frame) -> dict[str, tuple[Sym, Index, Name]]:
        """Make a symbol for each number that the body binds again; the initial value and the old meaning with it."""
        scope, fresh = self.reading.scope, self.reading.fresh
        updates = assigned(items, scope)
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

    def _limits(self, node: Node) -> Bounds | None:
        """The written bounds of a number."""
        if not isinstance(node, MappingNode) or ("min" not in node and "max" not in node):
            return None
        low, high = node.get("min"), node.get("max")
        return (
            self.reading.static(low, "`min`") if low is not None else None,
            self.reading.static(high, "`max`") if high is not None else None,
        )

    def _like(self, name: str, model: Value, node: Node) -> Value:
        """A value of the type and at the place of another, but for what its own mapping says."""
        if not isinstance(node, MappingNode):
            return Value(name, model.type, model.buffer)
        written = node.get("type")
        kind = self.ops.fields.written_type(written) if written is not None else model.type
        return Value(name, kind, self.reading.buffer_ref(node) if "buffer" in node else model.buffer)

    def split_yield(
        self, items: Sequence[Statement], beside: Node | None
    ) -> tuple[Sequence[Statement], dict[str, Node]]:
        """The statements of a block, and what its `yield` (its last statement, or the key beside it) hands on."""
        found = beside
        if items and items[-1].keyword == "yield":
            found = items[-1].value
            items = items[:-1]
        return items, {key.text: value for key, value in found.items} if isinstance(found, MappingNode) else {}

    def given(self, node: Node) -> Value | Index:
        """What is handed on: a value by its name, or an integer expression."""
        reading = self.reading
        if isinstance(node, ScalarNode) and isinstance(node.value, str):
            expr = reading.expression(node)
            if isinstance(expr, NameExpr):
                found = reading.scope.get(expr.id)
                if found is None:
                    raise reading.scope.undefined(expr.id, node.span, ("value", "number"))
                if found.index is None and found.kind != "constant":
                    return self.ops.use(found, node)
        return reading.index(node)

    def _carries(
        self,
        statement: MappingNode,
        starts: Sequence[_Start],
        args: dict[str, Value | Sym],
        ends: dict[str, Value | Index],
        loc: Loc,
    ) -> tuple[tuple[Carry, ...], list[NumberCarry]]:
        """The written carries, their results bound after the loop: to names of their own, or to the argument's."""
        if not starts:
            return (), []
        names: dict[str, tuple[str, Node]] = {}
        results = statement.get("results")
        if isinstance(results, MappingNode):
            for key, item in results.items:
                of = item.get("of") if isinstance(item, MappingNode) else item
                names[self.reading.text(of if of is not None else item)] = (key.text, item)
        values: list[Carry] = []
        numbers: list[NumberCarry] = []
        for start in starts:
            name, item = names.pop(start.name, (start.name, start.key))
            argument, end = args[start.name], self._end(start, ends)
            if isinstance(argument, Value):
                result = self._like(name, argument, item)
                self.ops.bind(result, item)
                values.append(Carry(argument, cast(Value, start.init), cast(Value, end), result))
            else:
                init, last = cast(Index, start.init), cast(Index, end)
                self._check_limits(start, argument, last)
                symbol = local(name, self._limits(item) or union((init, last)))
                self.reading.scope.set(Name(name, "number", item, index=sym(symbol)))
                numbers.append(NumberCarry(argument, init, last, symbol))
        for text, (_, item) in names.items():
            self.reading.fail(UNDEFINED_NAME, item, f"the loop carries no `{text}`", label="not carried")
        return tuple(values), numbers

    def _end(self, start: _Start, ends: dict[str, Value | Index]) -> Value | Index:
        """What an iteration hands on for a carry."""
        end = ends.get(start.name)
        if end is None:
            self.reading.fail(
                MISSING_KEY,
                start.key,
                f"the loop does not yield `{start.name}`",
                label="carried",
                helps=[f"end the body with `- yield: {{{start.name}: VALUE}}`"],
            )
        if isinstance(end, Value) is not isinstance(start.init, Value):
            first, then = ("a tile", "a number") if isinstance(start.init, Value) else ("a number", "a tile")
            self.reading.fail(
                CONFLICTING_KEYS,
                start.key,
                f"`{start.name}` starts as {first} and the loop yields {then} for it",
                label=f"starts as {first}",
            )
        return end

    def _check_limits(self, start: _Start, argument: Sym, last: Index) -> None:
        """Refuse written bounds that the loop does not keep."""
        if self.reading.dump is not None or self._limits(start.node) is None:
            return
        for what, value in (("starts from", cast(Index, start.init)), ("goes on with", last)):
            low, high = bounds(value)
            below = argument.low is not None and (low is None or low < argument.low)
            above = argument.high is not None and (high is None or high > argument.high)
            if below or above:
                key, limit = ("min", argument.low) if below else ("max", argument.high)
                self.reading.fail(
                    NOT_IN_RANGE,
                    start.node,
                    f"`{start.name}` {what} a value that cannot be shown to keep `{key}: {limit}`",
                    label=f"`{key}` is taken as a fact inside the loop",
                    helps=[f"leave `{key}` out, or bound the value: `{'max' if below else 'min'}(..., {limit})`"],
                )

    # Jumps

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
        if frame.kind in ("unroll", "pipeline"):
            why = "its iterations are written out" if frame.kind == "unroll" else "its iterations overlap"
            reading.fail(
                JUMP_OUTSIDE,
                item.key,
                f"`{word}` cannot leave an iteration of `{frame.kind}`: {why}",
                label="not in this loop",
                secondary=[Label(frame.loc.span, "the innermost loop")],
                helps=["make it a `for`, or put what it skips under an `if`"],
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
        numbers = tuple(cast(Index, cast(Name, reading.scope.get(name)).index) for name in frame.names)
        made = Jump(kind=word, loc=loc, numbers=numbers)
        frame.jumps.append(made)
        return made

    # Branches

    def branch(self, item: Statement, loc: Loc) -> If:
        """`if` with its arms."""
        reading, scope, statement = self.reading, self.reading.scope, item.node
        condition = reading.condition(item.value)
        mark = scope.mark()
        with reading.deciding():
            then, first, latest = self._arm(item, 0, mark)
            other, second, others = self._arm(item, 1, mark)
        numbers = self._meet(latest, others)
        phis: list[Phi] = []
        for text, node in self._result_names(statement):
            one, two = first.get(text), second.get(text)
            if one is None or two is None:
                reading.fail(
                    MISSING_KEY,
                    node,
                    f"both arms must yield `{text}`",
                    label="a result of the `if`",
                    helps=[f"end each arm with `- yield: {{{text}: VALUE}}`"],
                )
            if isinstance(one, Value) and isinstance(two, Value):
                result = self._like(text, one, node)
                self.ops.bind(result, node)
                phis.append(Phi(result, one, two))
            elif isinstance(one, Value) or isinstance(two, Value):
                reading.fail(CONFLICTING_KEYS, node, f"`{text}` is a tile in one arm and a number in the other")
            else:
                symbol = local(text, self._limits(node) or union((one, two)))
                scope.set(Name(text, "number", node, index=sym(symbol)))
                numbers.append(NumberPhi(symbol, one, two))
        return If(
            condition=condition, then=then, other=other, loc=loc, phis=tuple(phis), numbers=tuple(numbers),
            allow=self.ops.allow(statement),
        )  # fmt: skip

    def _meet(self, latest: dict[str, Name], others: dict[str, Name]) -> list[NumberPhi]:
        """Bind behind the `if` what its arms bound: numbers meet in a symbol, values in ConvertToSSA."""
        scope = self.reading.scope
        numbers: list[NumberPhi] = []
        for text, name in {**latest, **others}.items():
            before = scope.get(text)
            one, two = latest.get(text, before), others.get(text, before)
            if one is None or two is None or one.kind != two.kind:
                if before is None and name.kind in ("value", "number"):
                    scope.end(name)
            elif one.index is None or two.index is None:
                scope.set(others.get(text, name))
            elif one.index == two.index:
                scope.set(one)
            else:
                symbol = local(self.reading.fresh.name(text), union((one.index, two.index)))
                numbers.append(NumberPhi(symbol, one.index, two.index))
                scope.set(Name(text, "number", two.place, index=sym(symbol)))
        return numbers

    def _arm(
        self, item: Statement, number: int, mark: int
    ) -> tuple[tuple[Stmt, ...], dict[str, Value | Index], dict[str, Name]]:
        """The statements of an arm, what it yields, and what it bound; the scope is then what it was before."""
        beside = item.node.get("yield")
        items, yields = self.split_yield((item.then, item.orelse)[number], beside)
        body = self.block(items)
        values: dict[str, Value | Index] = {}
        for name, node in yields.items():
            own = node.items[number] if isinstance(node, SequenceNode) and len(node.items) == 2 else node
            values[name] = self.given(own)
        return body, values, self.reading.scope.rewind(mark)

    def _result_names(self, statement: MappingNode) -> list[tuple[str, Node]]:
        node = statement.get("results")
        if isinstance(node, MappingNode):
            return [(key.text, item) for key, item in node.items]
        found: list[tuple[str, Node]] = []
        for item in self.reading.items(node, statement, "results"):
            name = item.get("name") if isinstance(item, MappingNode) else item
            found.append((self.reading.text(name if name is not None else item), item))
        return found
