"""`if` inside a region, with what its arms bind and hand on."""

from __future__ import annotations

from pypto_spec.convert.carried import Block, CarryReader
from pypto_spec.convert.context import Reading
from pypto_spec.convert.numbers import local, union
from pypto_spec.convert.op_stmt import OpReader
from pypto_spec.convert.scope import Name
from pypto_spec.diagnostics.rules.flow import CARRIED_BY_HAND
from pypto_spec.diagnostics.rules.syntax import CONFLICTING_KEYS, MISSING_KEY
from pypto_spec.diagnostics.span import Loc
from pypto_spec.ir.expr import Index, sym
from pypto_spec.ir.jumps import jumps
from pypto_spec.ir.nodes import If, NumberPhi, Phi, Stmt, Value
from pypto_spec.spec.models.statement import Statement
from pypto_spec.spec.tree import MappingNode, Node, SequenceNode


class BranchReader:
    """Reads ifs; `block` reads what stands in them."""

    def __init__(self, reading: Reading, ops: OpReader, block: Block) -> None:
        self.reading = reading
        self.ops = ops
        self.block = block
        self.carried = CarryReader(reading, ops)

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
                if jumps(then) or jumps(other):
                    reading.fail(
                        CARRIED_BY_HAND,
                        node,
                        f"an `if` with `break` or `continue` in it cannot give the tile `{text}` by hand",
                        label="given by hand",
                        helps=[f"leave `results` and `yield` out and bind `{text}` before the `if` and in its arms"],
                    )
                result = self.carried.like(text, one, node)
                self.ops.bind(result, node)
                phis.append(Phi(result, one, two))
            elif isinstance(one, Value) or isinstance(two, Value):
                reading.fail(CONFLICTING_KEYS, node, f"`{text}` is a tile in one arm and a number in the other")
            else:
                symbol = local(self.carried.number_name(text), self.carried.range_of(node, union((one, two))))
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
        items, yields = self.carried.split_yield((item.then, item.orelse)[number], beside)
        body = self.block(items)
        values: dict[str, Value | Index] = {}
        for name, node in yields.items():
            own = node.items[number] if isinstance(node, SequenceNode) and len(node.items) == 2 else node
            values[name] = self.carried.given(own)
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
