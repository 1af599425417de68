"""ChunkTensorOps: statements on whole arrays become loops over chunks that fit on chip.

A region whose arrays all fit as they are, on one block, is left as it is. Otherwise consecutive tensor-level statements
are fused into one loop over row chunks, shared out over the region's `blocks`. Column reductions carry an accumulator
over the chunks; what uses their result starts a second loop. A row that does not fit is divided into columns: for
elementwise work outside the row loop, for row reductions inside it, with accumulators over the columns. The size of a
chunk is the largest that the memory passes can place. Where chunks form a grid of rows and columns, blocks walk it in
the region's `order`. What cannot be divided is an error with the bytes of a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from pypto_spec.diagnostics.model import CompileError, Repair, diagnose
from pypto_spec.diagnostics.rules.cores import BLOCKS
from pypto_spec.diagnostics.rules.memory import ROW_TOO_WIDE
from pypto_spec.ir.expr import Index, Sym, ceil_div, sym
from pypto_spec.ir.naming import Names
from pypto_spec.ir.nodes import Control, For, Grid, Op, Program, Region, Stmt, Value
from pypto_spec.ir.rewrite import Rewriter, statements, used_values
from pypto_spec.ir.types import ArrayType, Memory, TensorType
from pypto_spec.passes.base import Context, Pass, Property
from pypto_spec.passes.chunk.component import (
    AXES,
    Axis,
    Component,
    describe,
    dims,
    extent,
    forwarded,
    is_array_op,
    is_store,
    split,
)
from pypto_spec.passes.chunk.fit import even, largest, needed
from pypto_spec.passes.chunk.write import Scope, Share, Window, Writer, only_first
from pypto_spec.passes.memory.ledger import size
from pypto_spec.targets.too_large import TooLargeError

Plan = tuple[Axis | None, Axis, int, int]
"""The axis of the outer loop (None: none), the axis of the leveled loops, and the chunk along each."""


class _Chunker(Rewriter):
    def __init__(self, program: Program, context: Context) -> None:
        super().__init__()
        self.program_ = program
        self.context = context
        self.capacity = context.target.capacity[Memory.VEC]
        values = (*program.tensors, *program.created, *program.scalars)
        self.indices = {v.name for v in values} | {d.name for d in program.dims}

    def control(self, node: Control) -> Sequence[Control]:
        if not isinstance(node, Region):
            return super().control(node)
        return (_Chunked(node, self).result,)


class _Chunked:
    """One region."""

    def __init__(self, region: Region, chunker: _Chunker) -> None:
        self.region = region
        self.chunker = chunker
        self.program = chunker.program_
        self.context = chunker.context
        self.names = Names.of(region)
        self.share: Share | None = None
        self.chunks = 1
        blocks = region.blocks
        arrays = any(is_array_op(s) for s in region.body)
        if blocks == 1:
            blocks = None
        if blocks is not None and not arrays:
            raise self._blocks("has no statement on whole arrays to share out")
        if blocks is None and (not arrays or self.fits(region.body)):
            self.result: Control = region if region.blocks is None else replace(region, blocks=None)
            return
        if blocks is not None:
            taken = chunker.indices | {s.index.name for s in statements(region.body) if isinstance(s, For)}
            high = blocks - 1 if isinstance(blocks, int) else None
            name = "block" if "block" not in taken else self.names.fresh("block").replace(".", "")
            self.share = Share(Sym(name, "block", 0, high), Sym("num_blocks()", "blocks", 1, None))
        body = self.body()
        made = replace(region, body=body, blocks=None, order=None if self.share is not None else region.order)
        self.result = made
        if self.share is not None:
            count: Index | Literal["auto"] = "auto" if blocks == "auto" else min(int(str(blocks)), self.chunks)
            self.result = Grid(
                kind="spmd", index=self.share.block, count=count,
                blocks_symbol=self.share.blocks, body=(made,), loc=region.loc,
            )  # fmt: skip

    def fits(self, body: tuple[Stmt, ...]) -> bool:
        """Whether the region can stay as it is."""
        try:
            return needed(self.program, self.region, body, self.context) <= self.chunker.capacity
        except CompileError:
            return True  # what is wrong with it is said by the pass that finds it

    def _blocks(self, why: str) -> CompileError:
        region = self.region
        return CompileError([
            diagnose(
                BLOCKS, region.loc.field("blocks"), f"`blocks: {region.blocks}`, but region `{region.name}` {why}",
                label="more than one block is asked for here",
                helps=["leave `blocks` out, or put an `spmd` around the region and share the work out by hand"],
                fixes=[Repair("remove", region.loc.field("blocks"), ("blocks",), title="leave `blocks` out")],
            )
        ])  # fmt: skip

    # -- the parts of a region ------------------------------------------------------------------------------------

    def body(self) -> tuple[Stmt, ...]:
        """The region's statements with its runs of tensor-level statements chunked."""
        region = self.region
        made: list[Stmt] = []
        run: list[Op] = []
        kept: set[Value] = used_values([s for s in region.body if not is_array_op(s)])
        if self.share is not None and any(not is_array_op(s) for s in region.body):
            raise self._blocks("also has statements on tiles, which every block would repeat")
        for stmt in (*region.body, None):
            if stmt is not None and is_array_op(stmt):
                assert isinstance(stmt, Op)
                run.append(stmt)
                continue
            parts = split(forwarded(run))
            for part in parts:
                made += self.part(part, kept)
            run = []
            if stmt is not None:
                made.append(stmt)
        return tuple(made)

    def part(self, ops: list[Op], kept: set[Value]) -> list[Stmt]:
        """One component: as it is where it fits or a tile statement needs it, else in chunks."""
        if self.share is None and self.fits(tuple(ops)):
            return list(ops)
        if any(v in kept for op in ops for v in op.results):
            return list(ops)
        component = describe(ops)
        if isinstance(component, str):
            raise self._undivided(ops, component)
        if self.share is not None and component.has("col_reduce"):
            raise self._blocks("reduces columns, which needs all rows on one block")
        plan = self.plan(component)
        count = chunks(component, plan)
        self.chunks = max(self.chunks, count)
        if self.share is None or count > 1:
            self.check_shared(component, plan[0] or plan[1])
            order = self.region.order
            return _Written(component, plan, self.names, self.chunker.indices, self.share, order=order).body
        body = _Written(component, plan, self.names, self.chunker.indices, None).body
        return only_first(body, self.share, component.ops[0].loc)

    def check_shared(self, component: Component, axis: Axis) -> None:
        """Refuse a tensor that every block would read while one block writes it."""
        if self.share is None or component.batch:
            return
        for op in component.ops:
            if is_store(op) and not component.varies(op.operands["to"], axis) and component.reads(op.operands["to"]):
                name, shape = op.operands["to"].name, list(dims(op.operands["to"]))
                raise self._blocks(f"reads and writes `{name}` {shape}, which cannot be divided among blocks")

    def _undivided(self, ops: Sequence[Op], why: str) -> CompileError:
        widest = max(
            (
                v
                for op in ops
                for v in (*op.operands.values(), *op.results)
                if isinstance(v.type, ArrayType | TensorType)
            ),
            key=lambda v: extent(v, "cols") * v.type.dtype.bytes,
        )
        row = extent(widest, "cols") * widest.type.dtype.bytes
        return CompileError([
            diagnose(
                ROW_TOO_WIDE, ops[0].loc.span,
                f"the arrays of region `{self.region.name}` do not fit on chip and cannot be divided: {why}",
                label=f"a row of `{widest.name.split('.')[0]}` takes {size(row)}",
                notes=[f"{size(self.chunker.capacity)} of `vec` memory are available"],
                helps=["write the loops over tiles yourself, with `for`, `load` and `store`"],
                figures=[("row_bytes", row), ("available_bytes", self.chunker.capacity)],
            )
        ])  # fmt: skip

    # -- choosing chunks ------------------------------------------------------------------------------------------

    def plan(self, component: Component) -> Plan:
        """How the component is divided."""
        rows = component.rows
        limit = self.limit(rows)
        chunk = largest(limit, 8, self.chunker.capacity, lambda n, t: self.cost(component, (None, "rows", 0, n), t))
        if chunk is not None:
            best = even(rows, chunk) if self.share is None or chunk < limit else chunk
            if self.share is None or rows > 1 or component.cols in (None, 1):
                return None, "rows", 0, best
        across = component.has("row_reduce") or component.has("row_expand") or component.cols is None
        down = component.has("col_reduce")
        if (across and down) or component.cols is None:
            raise self._undivided(component.ops, "rows do not fit, and both rows and columns are reduced")
        cols = component.cols
        unit = 128
        if across:
            part = largest(
                cols, unit, self.chunker.capacity, lambda n, t: self.cost(component, ("rows", "cols", 1, n), t)
            )
            if part is None:
                raise self._undivided(component.ops, "not even one column of one row fits")
            return "rows", "cols", 1, part
        wide = cols if self.share is None or rows > 1 else self.limit(cols)
        part = largest(wide, unit, self.chunker.capacity, lambda n, t: self.cost(component, ("cols", "rows", n, 1), t))
        if part is None:
            raise self._undivided(component.ops, "not even one column of one row fits")
        return "cols", "rows", part, 1

    def limit(self, extent: int) -> int:
        """The largest chunk that leaves something for every block."""
        if self.share is None:
            return extent
        blocks = self.region.blocks
        count = blocks if isinstance(blocks, int) else self.context.target.cores(self.region.core)
        chunk = ceil_div(extent, min(count, extent))
        assert isinstance(chunk, int)
        return chunk

    def cost(self, component: Component, plan: Plan, tails: bool) -> int:
        """Bytes on chip with that plan; without `tails`, of the full chunks alone."""
        try:
            writer = _Trial(component, plan, tails)
        except TooLargeError as error:
            return error.bytes
        return needed(self.program, self.region, tuple(writer.body), self.context)


def chunks(component: Component, plan: Plan) -> int:
    """How many full chunks blocks can share out."""
    outer, inner, wide, chunk = plan
    if is_grid(component, plan):
        return component.rows // chunk * (component.extent("cols") // wide)
    if component.batch:
        return next(extent_ for extent_ in component.batch if extent_ > 1)
    return component.extent(outer or inner) // (wide if outer else chunk)


def is_grid(component: Component, plan: Plan) -> bool:
    """Whether the chunks form a grid of rows and columns, each of which is a piece of work of its own."""
    stored = [op.operands["from"] for op in component.ops if is_store(op)]
    whole = all(component.varies(value, axis) for value in stored for axis in AXES)
    return plan[0] == "cols" and whole and not component.batch and not component.has("col_reduce")


class _Written:
    """The statements of a component under a plan."""

    def __init__(
        self, component: Component, plan: Plan, names: Names, indices: set[str], share: Share | None,
        tails: bool = True, order: str | None = None,
    ) -> None:  # fmt: skip
        self.plan = plan
        self.order = order
        self.component = component
        self.writer = Writer(component, names, indices, tails)
        windows: dict[Axis, Window] = {
            "rows": Window(0, component.rows), "cols": Window(0, component.cols or 0)
        }  # fmt: skip
        self.body: list[Stmt] = []
        self._batch(component.batch, (), share, windows, self.body)

    def _batch(
        self, left: tuple[int, ...], at: tuple[Index, ...], share: Share | None, windows: dict[Axis, Window],
        body: list[Stmt],
    ) -> None:  # fmt: skip
        """Loops over the leading dimensions, the first one shared out; then the rest."""
        if not left:
            scope = Scope(windows, at)
            self._inside(scope, share)
            body += scope.body
            return
        if left[0] == 1:
            self._batch(left[1:], (*at, 0), share, windows, body)
            return
        index = Sym(self.writer.fresh_index("batch"), "loop", 0, left[0] - 1)
        inner: list[Stmt] = []
        self._batch(left[1:], (*at, sym(index)), None, windows, inner)
        body.append(self.writer.loop(index, left[0], inner, (), share))

    def _inside(self, scope: Scope, share: Share | None) -> None:
        outer, axis, wide, chunk = self.plan
        if share is not None and is_grid(self.component, self.plan):
            self.writer.grid(scope, (chunk, wide), share, self.order)
        elif outer is None:
            self.writer.leveled(scope, axis, chunk, share)
        else:
            self.writer.plain(scope, outer, wide, share, lambda s: self.writer.leveled(s, axis, chunk, None))


class _Trial(_Written):
    """The same for measuring: names and indices do not matter."""

    def __init__(self, component: Component, plan: Plan, tails: bool) -> None:
        super().__init__(component, plan, Names(()), set(), None, tails)


def run(program: Program, context: Context) -> Program:
    """Chunk every region that needs it."""
    return _Chunker(program, context).program(program)


CHUNK_TENSOR_OPS = Pass(
    name="ChunkTensorOps",
    run=run,
    requires=frozenset({Property.SSA_FORM, Property.SPLIT_INCORE_ORCH}),
    produces=frozenset({Property.SSA_FORM}),
    doc=__doc__,
)
