"""The control plane: regions, host loops, grids and branches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pypto_spec.convert.body import BodyReader
from pypto_spec.convert.context import PoisonedError, Reading, end_of
from pypto_spec.convert.launch_order import in_order
from pypto_spec.convert.options import read_insisted
from pypto_spec.convert.ranges import as_found, constants_in, read_range
from pypto_spec.convert.scope import Name
from pypto_spec.convert.tensors import read_created
from pypto_spec.diagnostics.model import CompileError, Label, diagnose
from pypto_spec.diagnostics.rules.names import SHADOWED_NAME, UNDEFINED_NAME
from pypto_spec.diagnostics.rules.syntax import OUT_OF_RANGE
from pypto_spec.diagnostics.rules.target import NOT_YET
from pypto_spec.diagnostics.span import Loc
from pypto_spec.diagnostics.suggest import did_you_mean
from pypto_spec.ir.arguments import kernel_name
from pypto_spec.ir.expr import Index, Sym, add, bounds, ceil_div, mul, sub, sym
from pypto_spec.ir.loops import loop_symbol
from pypto_spec.ir.nodes import Branch, Control, Grid, Loop, Region
from pypto_spec.spec.models.statement import Statement
from pypto_spec.spec.models.structure import CreateTensor
from pypto_spec.spec.models.structure import Region as RegionModel
from pypto_spec.spec.tree import MappingNode, Node, ScalarNode, SequenceNode

MOST_BLOCKS = 65_535
"""Blocks of one launch (Ascend C guide, kernel launch: blockDim)."""

BLOCKS_HELP = ("write a number or `auto`, or put an `spmd` around the region and share the work out by hand",)


class ControlReader:
    """Reads `program`."""

    def __init__(self, reading: Reading, program: str) -> None:
        self.reading = reading
        self.program = program
        self.body = BodyReader(reading)
        self.names: dict[str, tuple[str, Node]] = {}
        """Names of regions and launches: the region, and where it gets this name."""
        self.waits: list[tuple[str, str, Node]] = []
        """What `after` says: a region, the name it waits for, and where that stands."""
        self.created: dict[str, Loc] = {}
        """Where tensors are created."""
        self.around: list[str] = []
        """The keywords around this point."""

    def read(self, items: Sequence[Statement]) -> tuple[Control, ...]:
        """All of `program`, in the order in which it is launched."""
        body = self.block(items)
        afters: dict[str, dict[str, Node]] = {}
        for region, name, node in self.waits:
            if name in self.names:
                afters.setdefault(region, {})[self.names[name][0]] = node
                continue
            self.reading.sink.report(
                UNDEFINED_NAME,
                node.span,
                f"`after` names `{name}`, which is no region of the program",
                label="no such region",
                secondary=node.alias_labels,
                helps=[did_you_mean(name, self.names) or self._known_names()],
            )
        if self.reading.sink.has_errors:
            return body
        try:
            return in_order(body, afters)
        except CompileError as error:
            for diagnostic in error.diagnostics:
                self.reading.sink.emit(diagnostic)
            return body

    def _known_names(self) -> str:
        return f"regions and launches are {', '.join(f'`{name}`' for name in self.names)}"

    def block(self, items: Sequence[Statement]) -> tuple[Control, ...]:
        """A list of control statements; errors are noted and the reading goes on."""
        made: list[Control] = []
        for item in items:
            try:
                if item.keyword == "create_tensor":
                    self.create(item)
                else:
                    made.append(self.statement(item))
            except PoisonedError:
                continue
            except CompileError as error:
                for diagnostic in error.diagnostics:
                    self.reading.sink.emit(diagnostic)
        return tuple(made)

    def statement(self, item: Statement) -> Control:
        """One control statement."""
        if item.keyword == "region":
            return self.region(item)
        if item.keyword == "for":
            return self.loop(item)
        if item.keyword in ("parallel", "spmd"):
            return self.grid(item)
        if item.keyword == "if":
            return self.branch(item)
        raise CompileError([diagnose(NOT_YET, item.span, f"`{item.keyword}` is not there yet outside regions")])

    def _loc(self, item: Statement) -> Loc:
        fields = item.value if isinstance(item.value, MappingNode) else item
        return self.reading.loc(item.node, item.key.start, end_of(item), fields)

    def region(self, item: Statement) -> Region:
        """A region with its options."""
        model = item.model
        assert isinstance(model, RegionModel)
        reading = self.reading
        reading.region = model.name
        self._declare(model.name, model.name, item.value)
        alias = item.node.get("as")
        if model.as_ is not None and alias is not None:
            self._declare(model.as_, model.name, alias)
        self.waits += [(model.name, name, node) for name, node in self._after(item)]
        blocks: Index | Literal["auto"] | None = None
        written = item.node.get("blocks")
        if written is not None:
            blocks = (
                "auto"
                if model.blocks == "auto"
                else self._blocks(written, reading.static(written, "`blocks`", BLOCKS_HELP))
            )
        self._order(model.order, item.node)
        kernel = model.kernel
        if kernel is None and reading.dump is not None and model.core is not None:
            kernel = kernel_name(self.program, model.name)  # dumps leave it out
        return Region(
            name=model.name,
            body=self.body.region(item.body),
            loc=self._loc(item),
            core=model.core,
            blocks=blocks,
            alias=model.as_,
            after=tuple(name for name, _ in self._after(item)),
            order=model.order,
            kernel=kernel,
            allow=self.body.ops.allow(item.node),
        )

    def create(self, item: Statement) -> None:
        """`create_tensor`: there is one of it for the whole program, whatever is around it."""
        reading, model = self.reading, item.model
        assert isinstance(model, CreateTensor)
        if self.around:
            word = self.around[-1]
            reading.fail(
                NOT_YET,
                item.key,
                f"`create_tensor` inside `{word}` is not there yet",
                label="not here",
                helps=[f"put it in front of the `{word}`: launches run one after the other, so that all of them can "
                       "use one tensor in turn"],
            )  # fmt: skip
        fields = reading.mapping(item.value, item.node, "create_tensor")
        loc = self._loc(item)
        made = read_created(reading, fields, model, self.body.ops.allow(item.node))
        self.created[made.name] = loc

    def _declare(self, name: str, region: str, node: Node) -> None:
        before = self.names.get(name)
        if before is not None:
            raise CompileError(
                [
                    diagnose(
                        SHADOWED_NAME,
                        node.span,
                        f"a region or launch is named `{name}` already",
                        label="this name is taken",
                        secondary=[Label(before[1].span, "the other one")],
                        helps=[f"choose another name, for example `{name}_2`"],
                    )
                ]
            )
        self.names[name] = region, node

    def _after(self, item: Statement) -> list[tuple[str, Node]]:
        node = item.node.get("after")
        items = node.items if isinstance(node, SequenceNode) else [node]
        return [(n.text, n) for n in items if isinstance(n, ScalarNode)]

    def loop(self, item: Statement) -> Loop:
        """A host loop."""
        fields = self.reading.mapping(item.value, item.node, "for")
        start, stop, step = read_range(self.reading, fields)
        until = fields.get("while")
        if until is not None:
            self.reading.fail(
                NOT_YET,
                until,
                "a loop on the host has no `while`: what is launched does not depend on what kernels compute",
                label="for loops inside a region",
                helps=["put the loop into the region, or give it a `count`"],
            )
        symbol = loop_symbol(self._index_name(fields)[0], start, stop, step)
        read_insisted(self.reading, item.node, stages=False)
        body = self._inside(symbol, fields, item, (start, stop, step))
        return Loop(index=symbol, start=start, stop=stop, step=step, body=body, loc=self._loc(item))

    def grid(self, item: Statement) -> Grid:
        """`parallel` and `spmd`."""
        reading = self.reading
        fields = reading.mapping(item.value, item.node, item.keyword)
        name, _ = self._index_name(fields)
        start: Index = 0
        step: Index = 1
        count: Index | Literal["auto"]
        if item.keyword == "spmd":
            node = fields.get("blocks")
            assert node is not None
            auto = isinstance(node, ScalarNode) and node.value == "auto"
            count = "auto" if auto else self._blocks(node, reading.index(node))
            high = None if isinstance(count, str) else bounds(count)[1]
            symbol = Sym(name, "block", 0, None if high is None else max(high - 1, 0))
        else:
            start, stop, step = read_range(reading, fields, least=1)
            if not isinstance(step, int):
                place = fields.get("range") or fields
                reading.fail(NOT_YET, place, "a run-time step of `parallel` is not there yet")
            count = ceil_div(sub(stop, start), step)
            start, stop, step = self._shifted(fields, start, stop, step)
            symbol = loop_symbol(name, start, stop, step)
            high = bounds(count)[1]
        blocks = Sym("num_blocks()", "blocks", 1, high)
        reading.exprs.blocks.append(blocks)
        body = self._inside(symbol, fields, item, (0, (symbol.high or 0) + 1, 1) if isinstance(count, int) else None)
        reading.exprs.blocks.pop()
        order = getattr(item.model, "order", None)
        return Grid(
            kind="spmd" if item.keyword == "spmd" else "parallel",
            index=symbol,
            count=count,
            blocks_symbol=blocks,
            body=body,
            loc=self._loc(item),
            start=start,
            step=step,
            order=order,
        )

    def _order(self, order: str | None, fields: MappingNode) -> None:
        """Refuse an order of the chunks that is not there yet."""
        node = fields.get("order")
        if node is not None and order not in (None, "row"):
            self.reading.fail(
                NOT_YET,
                node,
                f"`order: {order.partition(':')[0]}` is not there yet: chunks are walked row by row",
                label="not yet",
                helps=["leave `order` out, or write `order: row`"],
            )

    def _blocks(self, node: Node, count: Index) -> Index:
        """A number of blocks that a launch can have."""
        low, high = bounds(count)
        if (high is not None and high < 1) or (low is not None and low > MOST_BLOCKS):
            self.reading.fail(
                OUT_OF_RANGE,
                node,
                f"a launch has 1 to {MOST_BLOCKS} blocks, found {as_found(node, count)}",
                label="no number of blocks",
                secondary=constants_in(self.reading, [node]),
                helps=["write a number from 1 on, or `auto` for as many as the platform has cores"],
            )
        return count

    def _shifted(self, fields: MappingNode, start: Index, stop: Index, step: Index) -> tuple[Index, Index, Index]:
        """`start` and `step` of a dump, which go with `count`."""
        first, distance = fields.get("start"), fields.get("step")
        if first is not None:
            start = self.reading.index(first)
        if distance is not None:
            step = self.reading.index(distance)
        if first is None and distance is None:
            return start, stop, step
        return start, add(start, mul(stop, step)), step

    def _index_name(self, fields: MappingNode) -> tuple[str, Node]:
        node = fields.get("index")
        assert node is not None
        if isinstance(node, SequenceNode):
            if len(node.items) == 1:
                return self.reading.text(node.items[0]), node.items[0]
            self.reading.fail(
                NOT_YET,
                node,
                "several indices of one `parallel` are not there yet",
                label="several names",
                helps=["use one index and split it: `m = i // N`, `n = i % N`"],
            )
        return self.reading.text(node), node

    def _inside(
        self, symbol: Sym, fields: MappingNode, item: Statement, span: tuple[Index, Index, Index] | None
    ) -> tuple[Control, ...]:
        scope = self.reading.scope
        mark = scope.mark()
        scope.declare(Name(symbol.name, "index", self._index_name(fields)[1], index=sym(symbol)))
        self.around.append(item.keyword)
        with self.reading.walking(symbol, *(span or ())):
            body = self.block(item.body)
        self.around.pop()
        scope.close(mark)
        return body

    def branch(self, item: Statement) -> Branch:
        """A branch on the host."""
        condition = self.reading.condition(item.value)
        self.around.append(item.keyword)
        with self.reading.deciding():
            then, other = self.block(item.then), self.block(item.orelse)
        self.around.pop()
        return Branch(condition=condition, then=then, other=other, loc=self._loc(item))
