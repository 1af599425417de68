"""Checks of control flow: no `unroll`, no jump, no pipeline, and numbers that are used only where they are defined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pypto_spec.diagnostics.span import Loc
from pypto_spec.ir.arguments import compared, indices_of
from pypto_spec.ir.broken import Broken
from pypto_spec.ir.expr import Expr, Index, Sym, symbols
from pypto_spec.ir.nodes import Call, For, If, Jump, Program, Region, Stmt
from pypto_spec.ir.rewrite import local_symbols, regions, statements


def inlined(program: Program) -> Iterator[Broken]:
    """InlineFunctionsEliminated: no call is left."""
    for region in regions(program.body):
        for node in statements(region.body):
            if isinstance(node, Call):
                yield Broken(f"a call of `{node.function}` is still there", node.loc)


def unrolled(program: Program) -> Iterator[Broken]:
    """UnrollResolved: no `unroll` is left."""
    for region in regions(program.body):
        for node in statements(region.body):
            if isinstance(node, For) and node.kind == "unroll":
                yield Broken("an `unroll` is still there", node.loc)


def _pipelines(program: Program) -> Iterator[For]:
    for region in regions(program.body):
        yield from (s for s in statements(region.body) if isinstance(s, For) and s.kind == "pipeline")


def replicated(program: Program) -> Iterator[Broken]:
    """PipelinesReplicated: the body of each pipeline holds its stages; none is asked for any more."""
    for loop in _pipelines(program):
        if loop.stages > 1:
            yield Broken(f"a `pipeline` still asks for {loop.stages} stages", loop.loc)


def pipelines_resolved(program: Program) -> Iterator[Broken]:
    """PipelineResolved: every pipeline is an ordinary loop."""
    for loop in _pipelines(program):
        yield Broken("a `pipeline` is still there", loop.loc)


def structured(program: Program) -> Iterator[Broken]:
    """StructuredCtrlFlow: no jump is left, and numbers are used inside the loop or arm that defines them, or behind."""
    for region in regions(program.body):
        for node in statements(region.body):
            if isinstance(node, Jump):
                yield Broken(f"a `{node.kind}` is still there", node.loc)
        yield from _Numbers(region).found


class _Numbers:
    """Walks one region with the numbers that are defined so far."""

    def __init__(self, region: Region) -> None:
        self.numbers = {s for s in local_symbols(region.body) if s.kind == "local"}
        self.visible: set[Sym] = set()
        self.found: list[Broken] = []
        if self.numbers:
            self.block(region.body, (), region.loc)

    def use(self, items: Iterable[Index], loc: Loc) -> None:
        for item in items:
            if isinstance(item, Expr):
                for symbol in symbols(item) & self.numbers - self.visible:
                    self.found.append(Broken(f"the number `{symbol.name}` is used where it is not defined", loc))

    def block(self, body: Iterable[Stmt], ends: Iterable[Index], loc: Loc) -> None:
        """A block that hands on `ends`; what it defines ends with it."""
        before = set(self.visible)
        for node in body:
            if isinstance(node, For):
                self.use((node.start, node.stop, node.step, *(n.init for n in node.numbers)), node.loc)
                self.visible.update(n.arg for n in node.numbers)
                if node.condition is not None:
                    self.use(compared(node.condition), node.loc)
                self.block(node.body, [n.yielded for n in node.numbers], node.loc)
                self.visible.difference_update(n.arg for n in node.numbers)
                self.visible.update(n.result for n in node.numbers)
            elif isinstance(node, If):
                self.use(compared(node.condition), node.loc)
                self.block(node.then, [n.then for n in node.numbers], node.loc)
                self.block(node.other, [n.other for n in node.numbers], node.loc)
                self.visible.update(n.result for n in node.numbers)
            else:
                self.use(indices_of(node), node.loc)
        self.use(ends, loc)
        self.visible = before
