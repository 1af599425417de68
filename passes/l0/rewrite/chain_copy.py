"""The copy of a chain of products for one tile of the output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pypto_spec.ir.expr import add
from pypto_spec.ir.naming import split
from pypto_spec.ir.nodes import Attr, Op, Stmt, Value
from pypto_spec.ir.rewrite import with_parts
from pypto_spec.ir.types import Memory, TileType
from pypto_spec.passes.copying import Copy
from pypto_spec.passes.l0.rewrite.chain import Chain
from pypto_spec.passes.l0.rewrite.product import Product, accumulate
from pypto_spec.passes.l0.rewrite.windows import Part, Window
from pypto_spec.passes.l0.rewrite.writer import Writer
from pypto_spec.passes.making import make


class TileCopy(Copy):
    """Copies the statements of a chain, with `rows` and `cols` of the output; `blocks` is the block of K by product.

    `outside` is what stands for values made before the chain.
    """

    def __init__(
        self,
        chain: Chain,
        writer: Writer,
        rows: Part,
        cols: Part,
        blocks: Mapping[Op, int],
        outside: Mapping[Value, Value],
    ) -> None:
        super().__init__({}, chain.steps, writer.names, versions=True)
        self.values.update(outside)
        self.chain, self.writer, self.blocks = chain, writer, blocks
        self.rows, self.cols = rows, cols

    def write(self) -> Value:
        """Write the copy, and give the accumulator behind it."""
        last = self.chain.leaves.operands["from"]
        self.writer.body.extend(self.block(tuple(self.chain.steps)))
        return self.use(last)

    def stmt(self, node: Stmt) -> Sequence[Stmt]:
        if not isinstance(node, Op):
            return super().stmt(node)
        if node in self.chain.products:
            return self.product(node)
        if node in self.chain.loads:
            return (self.load(node, *self.chain.loads[node]),)
        if node in self.chain.turned:
            return (self.view(node),)
        if node.results and node.result in self.chain.values:
            return self.empty(node)
        return super().stmt(node)

    def define(self, value: Value) -> Value:
        """A tile of what the accumulator is."""
        if value not in self.chain.values:
            return super().define(value)
        kind = value.type
        assert isinstance(kind, TileType)
        made = replace(kind, shape=(self.rows.extent, self.cols.extent), valid=None)
        return self.bind(value, Value(self.names.fresh(value.name), made, value.buffer))

    # -- what is made for the tile ----------------------------------------------------------------------------------

    def inner(self, op: Op) -> Writer:
        writer = self.writer
        return Writer(writer.names, writer.fresh, op.loc, op.allow)

    def empty(self, op: Op) -> Sequence[Stmt]:
        kind = op.result.type
        assert isinstance(kind, TileType)
        inside = self.inner(op)
        name = split(op.result.name)[0]
        self.bind(op.result, inside.tile(name, (self.rows.extent, self.cols.extent), kind.dtype, Memory.ACC))
        return inside.body

    def product(self, op: Op) -> Sequence[Stmt]:
        product = self.chain.products[op]
        inside = self.inner(op)
        _, _, k = product.shape
        rows, cols, depth = self.rows, self.cols, Part(0, k)
        made = Product(
            product.name,
            self.window(op, "lhs", product.lhs, rows, depth),
            self.window(op, "rhs", product.rhs, depth, cols),
            None if product.bias is None else self.moved(product.bias).part(Part(0, 1), cols),
            None if product.acc is None else self.use(product.acc),
            None if product.init is None else self.condition(product.init),
        )
        self.bind(op.result, accumulate(inside, made, self.blocks[op]))
        return inside.body

    def window(self, op: Op, side: str, window: Window, rows: Part, cols: Part) -> Window:
        """The rows and columns that a tile needs of an operand: all of what was loaded for it."""
        now = self.moved(window)
        mine = any(found == (op, side) for found in self.chain.loads.values())
        if not mine:
            return now.part(rows, cols)
        valid = tuple(map(self.index, window.part(rows, cols).valid))
        return replace(now, shape=(rows.extent, cols.extent), valid=(valid[0], valid[1]))

    def moved(self, window: Window) -> Window:
        return Window(
            self.use(window.tile),
            self.index(window.row),
            self.index(window.col),
            window.shape,
            (self.index(window.valid[0]), self.index(window.valid[1])),
        )

    def load(self, op: Op, reader: Op, side: str) -> Op:
        """The load of what a tile needs of an operand."""
        turned = op in self.chain.turned.values()
        part, axis = (self.rows, -2) if side == "lhs" else (self.cols, -1)
        axis = -3 - axis if turned else axis  # -2 and -1 change places
        attrs: dict[str, Attr] = {name: self.attr(attr) for name, attr in op.attrs.items()}
        attrs["at"] = _with(attrs["at"], axis, lambda old: add(old, part.start))
        attrs["shape"] = _with(attrs["shape"], axis, lambda old: part.extent)
        if "valid" in attrs:
            attrs["valid"] = _with(attrs["valid"], axis, part.of)
        made = make("load", self.now(op), attrs, op.loc, into=self.names.fresh(op.result.name), allow=op.allow)
        kind = made.result.type
        assert isinstance(kind, TileType)
        if len(kind.shape) != 2:
            kind = _flat(kind)
            made = with_parts(made, results=(Value(made.result.name, kind),))
        self.bind(op.result, made.result)
        return made

    def view(self, op: Op) -> Op:
        """The transposed view of such a load."""
        made = make("transpose_view", self.now(op), {}, op.loc, into=self.names.fresh(op.result.name), allow=op.allow)
        self.bind(op.result, made.result)
        return made

    def now(self, op: Op) -> dict[str, Value]:
        return {name: self.use(value) for name, value in op.operands.items()}


def _with(attr: Attr, axis: int, change: object) -> Attr:
    assert isinstance(attr, tuple) and callable(change)
    items = list(attr)
    items[axis] = change(items[axis])
    return tuple(items)


def _flat(kind: TileType) -> TileType:
    valid = None if kind.valid is None else (kind.valid[-2], kind.valid[-1])
    return replace(kind, shape=(kind.shape[-2], kind.shape[-1]), valid=valid)
