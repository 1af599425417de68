"""The control plane: regions, host loops, grids and branches."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Literal

from pypto_spec.convert.body import BodyReader
from pypto_spec.convert.context import PoisonedError, Reading, end_of
from pypto_spec.convert.grids import BLOCKS_HELP, check_blocks, index_nodes, read_parallel, read_spmd
from pypto_spec.convert.launch_order import in_order
from pypto_spec.convert.options import read_insisted
from pypto_spec.convert.ranges import read_range
from pypto_spec.convert.scope import Name
from pypto_spec.convert.tensors import read_created
from pypto_spec.diagnostics.model import CompileError, Label, diagnose
from pypto_spec.diagnostics.rules.names import SHADOWED_NAME, UNDEFINED_NAME
from pypto_spec.diagnostics.rules.target import NOT_YET
from pypto_spec.diagnostics.span import Loc
from pypto_spec.diagnostics.suggest import did_you_mean
from pypto_spec.ir.arguments import kernel_name
from pypto_spec.ir.expr import Index, Sym, sym
from pypto_spec.ir.loops import loop_symbol
from pypto_spec.ir.nodes import Branch, Control, Grid, Loop, Region
from pypto_spec.spec.models.statement import Statement
from pypto_spec.spec.models.structure import CreateTensor
from pypto_spec.spec.models.structure import Region as RegionModel
from pypto_spec.spec.tree import MappingNode, Node, ScalarNode, SequenceNode


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
                else check_blocks(reading, written, reading.static(written, "`blocks`", BLOCKS_HELP))
            )
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
        (name,) = index_nodes(self.reading, fields)
        symbol = loop_symbol(self.reading.text(name), start, stop, step)
        read_insisted(self.reading, item.node, stages=False)
        body = self._inside([symbol], fields, item, [(start, stop, step)])
        return Loop(index=symbol, start=start, stop=stop, step=step, body=body, loc=self._loc(item))

    def grid(self, item: Statement) -> Grid:
        """`parallel` and `spmd`."""
        reading = self.reading
        fields = reading.mapping(item.value, item.node, item.keyword)
        head = read_spmd(reading, fields) if item.keyword == "spmd" else read_parallel(reading, fields)
        spans = [
            (0, (index.high or 0) + 1, 1) if isinstance(count, int) else None
            for index, count in zip(head.indices, head.counts, strict=True)
        ]
        blocks = head.blocks
        reading.exprs.blocks.append(blocks)
        body = self._inside(head.indices, fields, item, spans)
        reading.exprs.blocks.pop()
        return Grid(
            kind="spmd" if item.keyword == "spmd" else "parallel",
            index=head.indices[0],
            count=head.counts[0],
            blocks_symbol=blocks,
            body=body,
            loc=self._loc(item),
            start=head.start,
            step=head.step,
            order=getattr(item.model, "order", None),
            inner=head.inner,
            most=head.most,
        )

    def _inside(
        self,
        indices: Sequence[Sym],
        fields: MappingNode,
        item: Statement,
        spans: Sequence[tuple[Index, Index, Index] | None],
    ) -> tuple[Control, ...]:
        scope = self.reading.scope
        mark = scope.mark()
        self.around.append(item.keyword)
        with ExitStack() as stack:
            for symbol, node, span in zip(indices, index_nodes(self.reading, fields), spans, strict=True):
                scope.declare(Name(symbol.name, "index", node, index=sym(symbol)))
                stack.enter_context(self.reading.walking(symbol, *(span or ())))
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
