"""A product in blocks: tiles of the output one after the other, each summed over chunks of K.

    for each tile of the output, in the order asked for:
        pipeline over chunks of K, two of them in L1 at once:
            pipeline over blocks of the chunk, two of them in L0A and L0B at once:
                accumulator = accumulator + block of A * block of B
        store the tile

The last tiles of M and N are the same tiles of which less is valid; the rest of K behind the last whole chunk, or whole
block, stands behind its loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pypto_spec.ir.expr import Index, add, minimum, mul, sub, sym
from pypto_spec.ir.loops import loop_symbol
from pypto_spec.ir.nodes import Condition, For, Op, Value
from pypto_spec.ir.types import Memory, TileType
from pypto_spec.ops.cube.mmad import ACCUMULATOR
from pypto_spec.passes.products.plan import STAGES, Plan
from pypto_spec.passes.products.product import Product, Window
from pypto_spec.passes.products.writer import Extent, Writer, full

Fresh = Callable[[str], str]
"""A name for a loop index that nothing has yet."""


class Tile:
    """Writes one tile of the output: `at` is its first row and column, `batch` its leading indices."""

    def __init__(
        self, product: Product, plan: Plan, fresh: Fresh, batch: tuple[Index, ...], at: tuple[Index, Index]
    ) -> None:
        assert isinstance(product.lhs, Window) and isinstance(product.rhs, Window)
        self.product, self.plan, self.fresh, self.batch, self.at = product, plan, fresh, batch, at
        m, n, self.k = product.extents
        self.rows = _extent(m, plan.m, at[0])
        self.cols = _extent(n, plan.n, at[1])
        self.name = product.op.result.name.split(".")[0]
        self.acc = ACCUMULATOR[product.operand_dtype]

    def write(self, writer: Writer) -> None:
        """All statements of the tile."""
        first: Value | None = None
        chunk = self.plan.chunk
        start = 0
        if self.product.bias is not None:
            first = self.chunk(writer, first, 0, min(chunk, self.k))
            start = min(chunk, self.k)
        whole = (self.k - start) // chunk
        if whole > 1:
            first = self.chunks(writer, first, start, whole)
            start += whole * chunk
        while start < self.k:
            depth = min(chunk, self.k - start)
            first = self.chunk(writer, first, start, depth)
            start += depth
        assert first is not None
        writer.store(self.product, first, self.batch, *self.at)

    def empty(self, writer: Writer) -> Value:
        """The accumulator before the first product."""
        made = writer.accumulator(self.name, (self.rows[0], self.cols[0]), self.acc)
        kind = made.type
        assert isinstance(kind, TileType)
        valid = (self.rows[1], self.cols[1])
        if valid == (self.rows[0], self.cols[0]):
            return made
        op = writer.body.pop()
        assert isinstance(op, Op)
        value = Value(made.name, replace(kind, valid=valid))
        writer.body.append(replace(op, results=(value,)))
        return value

    def chunks(self, writer: Writer, acc: Value | None, start: int, count: int) -> Value:
        """The pipeline over whole chunks of K."""
        chunk = self.plan.chunk
        stop = start + count * chunk
        begin = self.empty(writer) if acc is None else acc
        index = loop_symbol(self.fresh("k"), start, stop, chunk)
        inside = writer.inner()
        arg = Value(writer.names.fresh(self.name), begin.type)
        made = self.pieces(inside, arg, sym(index), chunk, starts=acc is None)
        loop = For(
            index=index, start=start, stop=stop, step=chunk, body=tuple(inside.body), loc=writer.loc, kind="pipeline",
            stages=STAGES,
        )  # fmt: skip
        return writer.summed(loop, begin, arg, made, self.name)

    def chunk(self, writer: Writer, acc: Value | None, start: int, depth: int) -> Value:
        """One chunk, with all its products."""
        return self.pieces(writer, acc, start, depth, starts=acc is None)

    def pieces(self, writer: Writer, acc: Value | None, start: Index, depth: int, *, starts: bool) -> Value:
        """The products of one chunk that begins at `start` of K."""
        lhs, rhs, bias = self.loads(writer, start, depth)
        block = self.plan.block
        done = 0
        if bias is not None and start == 0:
            block = min(block, depth)
            parts = self.parts(writer, lhs, rhs, 0, block)
            acc = writer.op("matmul_bias", {"lhs": parts[0], "rhs": parts[1], "bias": bias}, {}, self.name)
            done, starts = block, False
        whole = (depth - done) // block
        if whole > 1:
            acc = self.blocks(writer, acc, lhs, rhs, start, done, whole, starts)
            done += whole * block
            starts = False
        while done < depth:
            size = min(block, depth - done)
            parts = self.parts(writer, lhs, rhs, done, size)
            acc = self.added(writer, acc, parts, add(start, done) if starts else None)
            done, starts = done + size, False
        assert acc is not None
        return acc

    def added(self, writer: Writer, acc: Value | None, parts: Sequence[Value], place: Index | None) -> Value:
        """One more product; at place 0 of K the accumulator starts from zero."""
        if acc is None:
            return writer.op("matmul", {"lhs": parts[0], "rhs": parts[1]}, {}, self.name)
        init = None if place is None else Condition("==", place, 0)
        return writer.add_product(self.name, acc, parts[0], parts[1], init)

    def blocks(
        self,
        writer: Writer,
        acc: Value | None,
        lhs: Value,
        rhs: Value,
        start: Index,
        first: int,
        count: int,
        starts: bool,
    ) -> Value:
        """The pipeline over whole blocks of a chunk."""
        block = self.plan.block
        stop = first + count * block
        begin = self.empty(writer) if acc is None else acc
        index = loop_symbol(self.fresh("kb"), first, stop, block)
        inside = writer.inner()
        arg = Value(writer.names.fresh(self.name), begin.type)
        parts = self.parts(inside, lhs, rhs, sym(index), block)
        made = self.added(inside, arg, parts, add(start, sym(index)) if starts else None)
        loop = For(
            index=index, start=first, stop=stop, step=block, body=tuple(inside.body), loc=writer.loc, kind="pipeline",
            stages=STAGES,
        )  # fmt: skip
        return writer.summed(loop, begin, arg, made, self.name)

    def loads(self, writer: Writer, start: Index, depth: int) -> tuple[Value, Value, Value | None]:
        """The chunk of both operands in L1, and before the first one the bias."""
        product = self.product
        a, b = product.turned
        assert isinstance(product.lhs, Window) and isinstance(product.rhs, Window)
        rows, cols, along = (self.at[0], self.rows), (self.at[1], self.cols), (start, full(depth))
        lhs = writer.load(product.lhs, self.batch, *((along, rows) if a else (rows, along)), turned=a)
        squares = product.operand_dtype.bytes == 1  # which go to L0B by squares of fractals, a row of K as well
        rhs = writer.load(product.rhs, self.batch, *((cols, along) if b else (along, cols)), turned=b, fractals=squares)
        bias = None
        if product.bias is not None and start == 0:
            bias = writer.load(product.bias, self.batch, (0, full(1)), cols)
        return lhs, rhs, bias

    def parts(self, writer: Writer, lhs: Value, rhs: Value, at: Index, depth: int) -> tuple[Value, Value]:
        """A block of K of both operands in L0A and L0B."""
        return (
            writer.part(lhs, (0, at), self.rows, full(depth), Memory.LEFT),
            writer.part(rhs, (at, 0), full(depth), self.cols, Memory.RIGHT),
        )


def _extent(whole: int, tile: int, at: Index) -> Extent:
    """Elements of a tile along an axis; of the last tile less is there."""
    size = min(whole, tile)
    return (size, size) if whole % size == 0 else (size, minimum(size, sub(whole, at)))


def tiles(product: Product, plan: Plan) -> tuple[int, ...]:
    """How many tiles there are along each leading dimension, M and N."""
    m, n, _ = product.extents
    return (*product.result[:-2], -(-m // plan.m), -(-n // plan.n))


def place(plan: Plan, cell: Sequence[Index]) -> tuple[tuple[Index, ...], tuple[Index, Index]]:
    """The leading indices of a cell, and its first row and column."""
    *batch, row, col = cell
    return tuple(batch), (mul(row, plan.m), mul(col, plan.n))


def least_read(plan: Plan, rows: int, columns: int, cores: int) -> str:
    """The order of a grid in which as many cells in a row as there are cores have the fewest rows and columns.

    Cores that run at once read each row of A and each column of B from GM once, so their number is what GM has to give.
    Groups that leave no rest are taken where they are as good within a tenth.
    """

    def read(group: int) -> int:
        across = min(-(-cores // group), columns)
        down = min(group * -(-cores // (group * across)), rows)
        return down * plan.m + across * plan.n

    best = min(range(1, min(rows, cores) + 1), key=read)
    whole = min((g for g in range(1, min(rows, cores) + 1) if rows % g == 0), key=read)
    group = whole if 10 * read(whole) <= 11 * read(best) else best
    return "row" if group == 1 else f"swizzle:{group}"
