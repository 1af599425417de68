"""What is carried and handed on as it is written: `carry`, `yield` and `results`, of values and of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, cast

from pypto_spec.convert.context import Reading
from pypto_spec.convert.numbers import Update, carried_bounds, handed_on, local, union, unless_bound
from pypto_spec.convert.op_stmt import OpReader
from pypto_spec.convert.scope import Name
from pypto_spec.diagnostics.model import Repair
from pypto_spec.diagnostics.rules.flow import NOT_IN_RANGE
from pypto_spec.diagnostics.rules.names import UNDEFINED_NAME
from pypto_spec.diagnostics.rules.syntax import CONFLICTING_KEYS, MISSING_KEY
from pypto_spec.ir.expr import Bounds, Index, Sym, bounds, sym
from pypto_spec.ir.nodes import Carry, Jump, NumberCarry, Stmt, Value
from pypto_spec.records import dataclass
from pypto_spec.spec.formula import Name as NameExpr
from pypto_spec.spec.models.statement import Statement
from pypto_spec.spec.tree import MappingNode, Node, ScalarNode

Block: TypeAlias = Callable[[Sequence[Statement]], tuple[Stmt, ...]]
"""What reads the statements of a block."""


@dataclass(frozen=True, slots=True)
class Start:
    """A written carry: its name inside, what it starts from, and where that is written."""

    name: str
    init: Value | Index
    node: Node
    """What is written for it."""
    key: Node


class CarryReader:
    """Reads what stands beside loops and ifs."""

    def __init__(self, reading: Reading, ops: OpReader) -> None:
        self.reading = reading
        self.ops = ops

    def starts(self, statement: MappingNode) -> list[Start]:
        """The written carries of a loop."""
        node = statement.get("carry")
        if node is None:
            return []
        found: list[Start] = []
        for key, item in self.reading.mapping(node, statement, "carry").items:
            init = item.get("init") if isinstance(item, MappingNode) else item
            found.append(Start(key.text, self.given(init if init is not None else item), item, key))
        return found

    def arguments(
        self, starts: Sequence[Start], yields: dict[str, Node], items: Sequence[Statement]
    ) -> dict[str, Value | Sym]:
        """Bind the written carries inside the loop, whose body is `items`."""
        reading = self.reading
        free = {s.name: s.init for s in starts if not isinstance(s.init, Value) and self.limits(s.node) is None}
        updates: dict[str, list[Update]] = {}
        if free:
            for name, node in (*yields.items(), *handed_on(items)):
                if name in free and isinstance(node, ScalarNode):
                    updates.setdefault(name, []).append(unless_bound(reading.expression(node), items))
        limits = carried_bounds(free, updates, reading.exprs) if free else {}
        made: dict[str, Value | Sym] = {}
        for start in starts:
            if isinstance(start.init, Value):
                value = self.like(start.name, start.init, start.node)
                self.ops.bind(value, start.key)
                made[start.name] = value
            else:
                symbol = local(
                    self.number_name(start.name), self.range_of(start.node, limits.get(start.name, (None, None)))
                )
                reading.scope.set(Name(start.name, "number", start.key, index=sym(symbol)))
                made[start.name] = symbol
        return made

    def limits(self, node: Node) -> Bounds | None:
        """The written bounds of a number."""
        if not isinstance(node, MappingNode) or ("min" not in node and "max" not in node):
            return None
        low, high = node.get("min"), node.get("max")
        return (
            self.reading.static(low, "`min`") if low is not None else None,
            self.reading.static(high, "`max`") if high is not None else None,
        )

    def number_name(self, name: str) -> str:
        """What a number written under this name is called: a version of it where the name is taken, or may be.

        A dump is read back by these names, and one that is bound again is carried by the loops around.
        """
        reading = self.reading
        if reading.dump is not None or (reading.scope.get(name) is None and not reading.scope.in_function):
            return name
        return reading.fresh.name(name)

    def range_of(self, node: Node, derived: Bounds) -> Bounds:
        """The bounds of a number: those that are written, else the derived ones; a dump writes all that it knows."""
        written = self.limits(node)
        if written is not None:
            return written
        return derived if self.reading.dump is None else (None, None)

    def like(self, name: str, model: Value, node: Node) -> Value:
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

    def carries(
        self,
        statement: MappingNode,
        starts: Sequence[Start],
        args: dict[str, Value | Sym],
        ends: dict[str, Value | Index],
        jumps: Sequence[Jump],
    ) -> tuple[tuple[Carry, ...], list[NumberCarry]]:
        """The written carries, their results bound after the loop: to names of their own, or to the argument's.

        `jumps` are those out of an iteration; they hand on the written numbers first.
        """
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
                result = self.like(name, argument, item)
                self.ops.bind(result, item)
                values.append(Carry(argument, cast(Value, start.init), cast(Value, end), result))
            else:
                init, last = cast(Index, start.init), cast(Index, end)
                others = [j.numbers[len(numbers)] for j in jumps]
                for jump, other in zip(jumps, others, strict=True):
                    if jump.kind == "continue":
                        self._check_limits(start, argument, other)
                self._check_limits(start, argument, last)
                symbol = local(self.number_name(name), self.range_of(item, union((init, last, *others))))
                self.reading.scope.set(Name(name, "number", item, index=sym(symbol)))
                numbers.append(NumberCarry(argument, init, last, symbol))
        for text, (_, item) in names.items():
            self.reading.fail(UNDEFINED_NAME, item, f"the loop carries no `{text}`", label="not carried")
        return tuple(values), numbers

    def _end(self, start: Start, ends: dict[str, Value | Index]) -> Value | Index:
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

    def _check_limits(self, start: Start, argument: Sym, last: Index) -> None:
        """Refuse written bounds that the loop does not keep."""
        if self.reading.dump is not None or self.limits(start.node) is None:
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
                    fixes=[Repair("remove", start.key.span, (key,), title=f"leave `{key}` out")],
                )
