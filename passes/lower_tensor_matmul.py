"""LowerTensorMatmul: products of whole arrays become statements on tiles.

A product is read with all that the cube does on the way (`products.product`): a bias row, relu, rounding to fp16 or
bf16, and the store. Where its operands fit L1 they are loaded whole, and AutoTileMatmulL0 cuts the one product for L0;
products of products stay on chip. Otherwise the output is divided into tiles and K into chunks (`products.plan`), tiles
are walked in the order asked for, and shared out over the region's `blocks`. What is not of that form is left to the
passes behind this one, which say what it lacks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from pypto_spec.diagnostics.model import CompileError, diagnose
from pypto_spec.diagnostics.rules.cores import BLOCKS
from pypto_spec.diagnostics.rules.memory import ROW_TOO_WIDE
from pypto_spec.ir.expr import Index, Sym, sym
from pypto_spec.ir.loops import loop_symbol
from pypto_spec.ir.naming import Names, unused
from pypto_spec.ir.nodes import Condition, Control, For, Grid, If, NumberPhi, Op, Program, Region, Stmt, TargetOptions
from pypto_spec.ir.orders import cell, cells
from pypto_spec.ir.rewrite import Rewriter, statements, used_values
from pypto_spec.passes.base import Context, Pass, Property
from pypto_spec.passes.products import whole
from pypto_spec.passes.products.blocked import Tile, least_read, place, tiles
from pypto_spec.passes.products.plan import Division, Plan, divide
from pypto_spec.passes.products.product import Product, Reader, is_product
from pypto_spec.passes.products.writer import Writer
from pypto_spec.targets.model import Target


class _Lowerer(Rewriter):
    def __init__(self, program: Program, context: Context) -> None:
        super().__init__()
        self.context = context
        self.options = program.target
        self.taken = {v.name for v in (*program.tensors, *program.scalars)} | {d.name for d in program.dims}

    def control(self, node: Control) -> Sequence[Control]:
        if isinstance(node, Region):
            if any(is_product(s) for s in node.body):
                return (_Region(node, self).result,)
            return (node,)
        if isinstance(node, Grid):
            self.taken.add(node.index.name)
        return super().control(node)


class _Region:
    """One region with products."""

    def __init__(self, region: Region, lowerer: _Lowerer) -> None:
        self.region = region
        self.lowerer = lowerer
        self.names = Names.of(region)
        self.taken = lowerer.taken | {s.index.name for s in statements(region.body) if isinstance(s, For)}
        self.shared: Sym | None = None
        self.blocks = Sym("num_blocks()", "blocks", 1, None)
        self.count = 0
        found = list(Reader(region.body).products(region.body))
        read = {op for product in found for op in _all_ops(product)}
        if any(is_product(s) and s not in read for s in region.body):
            self.result: Control = region  # it needs the vector core as well, as OutlineIncoreScopes says
            return
        blocks = region.blocks if region.blocks != 1 else None
        if blocks is not None:
            others = len(found) != 1 or any(s not in found[0].stands_for for s in _used(region.body, found))
            if others:
                raise self.not_shared("one product alone can be shared out over the blocks of a region")
            high = blocks - 1 if isinstance(blocks, int) else None
            self.shared = Sym(self.fresh("block"), "block", 0, high)
        by_last = {product.stands_for[-1]: product for product in found}
        gone = _replaced(region.body, found)
        body: list[Stmt] = []
        for stmt in region.body:
            if isinstance(stmt, Op) and stmt in by_last:
                writer = Writer(self.names, by_last[stmt].op.loc, stmt.allow)
                self.product(by_last[stmt], writer)
                body += writer.body
            elif stmt not in gone:
                body.append(stmt)
        made = replace(region, body=_without_unused(body), blocks=None, order=None if found else region.order)
        self.result = made
        if self.shared is not None:
            count: Index | Literal["auto"] = "auto" if blocks == "auto" else min(int(str(blocks)), self.count)
            self.result = Grid(
                kind="spmd", index=self.shared, count=count, blocks_symbol=self.blocks,
                body=(made,), loc=region.loc,
            )  # fmt: skip

    def fresh(self, name: str) -> str:
        """A name for an index that nothing has."""
        return unused(name, self.taken)

    def not_shared(self, why: str) -> CompileError:
        region = self.region
        return CompileError([
            diagnose(
                BLOCKS, region.loc.field("blocks"), f"`blocks: {region.blocks}` of region `{region.name}`: {why}",
                label="more than one block is asked for here",
                helps=["make a region of its own for each product, through a tensor of `create_tensor` where needed"],
            )
        ])  # fmt: skip

    # -- one product ------------------------------------------------------------------------------------------------

    def product(self, product: Product, writer: Writer) -> None:
        """Write a product whole or in blocks."""
        division = division_of(product, self.region, self.lowerer.context.target, self.lowerer.options)
        if division is None:
            whole.write(product, writer)
            return
        for side in ("lhs", "rhs"):
            if isinstance(getattr(product, side), Product):
                raise self.not_on_chip(product, side)
        self.blocked(product, division.taken, writer)

    def blocked(self, product: Product, plan: Plan, writer: Writer) -> None:
        """The loop over the tiles of the output."""
        counts = tiles(product, plan)
        total = cells(counts)
        assert isinstance(total, int)
        self.count = max(self.count, total)
        if total == 1 and self.shared is None:
            self.tile(product, plan, writer, (0,) * len(counts))
            return
        if self.shared is not None and isinstance(self.region.blocks, int) and self.region.blocks >= total:
            self.shared = replace(self.shared, high=total - 1)  # a tile for each block, and no loop
            self.cell(product, plan, writer, counts, sym(self.shared))
            return
        start: Index = 0 if self.shared is None else sym(self.shared)
        step: Index = 1 if self.shared is None else self.stride(total)
        index = loop_symbol(self.fresh("tile"), start, total, step)
        inside = writer.inner()
        self.cell(product, plan, inside, counts, sym(index))
        writer.body.append(
            For(
                index=index, start=start, stop=total, step=step, body=tuple(inside.body), loc=writer.loc,
                kind="pipeline" if plan.double else "for", stages=2 if plan.double else 1,
                l0c_double_buffer=plan.double,
            )
        )  # fmt: skip

    def stride(self, total: int) -> Index:
        """From one tile of a block to its next: the number of blocks, which with `auto` is known at run time only."""
        blocks = self.region.blocks
        return min(blocks, total) if isinstance(blocks, int) else sym(self.blocks)

    def cell(self, product: Product, plan: Plan, writer: Writer, counts: tuple[int, ...], place: Index) -> None:
        """The tile at one place of the order asked for."""
        found = cell(self.region.order or self.order(plan, counts), counts, place)
        at = found.first
        if found.condition is not None:
            at = self.picked(writer, found.condition, counts, found.first, found.rest)
        self.tile(product, plan, writer, at)

    def order(self, plan: Plan, counts: tuple[int, ...]) -> str:
        """The order of a region that has none written: cores that run at once read the least together."""
        if self.shared is None:
            return "row"
        blocks, cores = self.region.blocks, self.lowerer.context.target.cube_cores
        return least_read(plan, counts[-2], counts[-1], min(blocks, cores) if isinstance(blocks, int) else cores)

    def picked(
        self,
        writer: Writer,
        condition: Condition,
        counts: Sequence[int],
        first: tuple[Index, ...],
        rest: tuple[Index, ...],
    ) -> tuple[Index, ...]:
        """The indices of a cell where the order goes on differently behind some place."""
        numbers = tuple(
            NumberPhi(Sym(self.fresh("cell"), "local", 0, count - 1), one, other)
            for count, one, other in zip(counts, first, rest, strict=True)
        )
        writer.body.append(If(condition=condition, then=(), other=(), loc=writer.loc, numbers=numbers))
        return tuple(sym(n.result) for n in numbers)

    def tile(self, product: Product, plan: Plan, writer: Writer, at: tuple[Index, ...]) -> None:
        Tile(product, plan, self.fresh, *place(plan, at)).write(writer)

    def not_on_chip(self, product: Product, side: str) -> CompileError:
        inner = getattr(product, side)
        rows, cols = inner.result[-2:]
        size = rows * cols * inner.dtype.bytes
        available = self.lowerer.context.target.capacity
        name = product.name(side)
        return CompileError([
            diagnose(
                ROW_TOO_WIDE, product.op.loc.span,
                f"`{name}` {list(inner.result)} is the result of a product and an operand of the next; with what else "
                "is needed it does not fit `mat`, or it does not come back there in its dtype",
                label=f"`{name}` takes {size:,} B as {inner.dtype}",
                notes=[f"`mat` has {max(b for m, b in available.items() if m.value == 'mat'):,} B"],
                helps=[
                    f"give `{name}` a dtype that goes back on chip, `dtype=fp16` or `dtype=bf16`",
                    f"or make two regions of it: `- create_tensor: {{into: {name}, dtype: {inner.dtype}, "
                    f"shape: {list(inner.result)}}}`, one that writes it and one that reads it",
                ],
            )
        ])  # fmt: skip


def division_of(
    product: Product, region: Region, target: Target, options: TargetOptions, *, every: bool = False
) -> Division | None:
    """How a product of a region is divided, with all that was considered (`every`); None where it is written whole."""
    blocks = region.blocks if region.blocks is not None else 1
    if blocks == 1 and whole.fits(product, target):
        return None
    return divide(
        product,
        target,
        blocks=blocks if isinstance(blocks, int) else target.cube_cores,
        planner=options.planner,
        l0c_double_buffer=options.l0c_double_buffer,
        turns=isinstance(blocks, int),
        every=every,
    )


def _replaced(body: Sequence[Stmt], products: Sequence[Product]) -> set[Op]:
    """The statements that products stand for, but for those whose results something else uses as well."""
    gone = {op for product in products for op in _all_ops(product)}
    while True:
        used = used_values([s for s in body if s not in gone])
        needed = {op for op in gone if op.results and op.result in used}
        if not needed:
            return gone
        gone -= needed


def _all_ops(product: Product) -> list[Op]:
    found = list(product.stands_for)
    for side in (product.lhs, product.rhs):
        if isinstance(side, Product):
            found += _all_ops(side)
    return found


def _used(body: Sequence[Stmt], products: Sequence[Product]) -> list[Stmt]:
    """The statements that do more than cut a window for a product."""
    return [s for s in body if not (isinstance(s, Op) and s.name == "slice")]


def _without_unused(body: Sequence[Stmt]) -> tuple[Stmt, ...]:
    """The statements without windows of tensors that nothing reads any more."""
    used = used_values(body)
    return tuple(
        s for s in body if not (isinstance(s, Op) and s.name == "slice" and s.results and s.result not in used)
    )


def run(program: Program, context: Context) -> Program:
    """Lower the products of every region that has some."""
    return _Lowerer(program, context).program(program)


LOWER_TENSOR_MATMUL = Pass(
    name="LowerTensorMatmul",
    run=run,
    requires=frozenset({Property.SSA_FORM}),
    produces=frozenset({Property.SSA_FORM}),
    doc=__doc__,
)
