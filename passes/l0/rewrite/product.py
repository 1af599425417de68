"""One tile of the output: the sum over blocks of K, two of which are in L0 at once.

    pipeline over full blocks of K, stages 2:
        accumulator = accumulator + block of A * block of B     (from zero at the first block)
    the rest of K

A bias is where the sum begins, so its block stands before the loop; an accumulator of the caller's is added to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pypto_spec.ir.expr import Expr, Index
from pypto_spec.ir.nodes import Attr, Condition, Value
from pypto_spec.ir.types import Memory, TileType
from pypto_spec.ops.cube.mmad import ACCUMULATOR
from pypto_spec.passes.l0.rewrite.windows import Part, Window
from pypto_spec.passes.l0.rewrite.writer import STAGES, Span, Values, Writer
from pypto_spec.records import dataclass


@dataclass(frozen=True, slots=True)
class Product:
    """A [M, K] times B [K, N], in windows of L1, with what they are added to.

    `acc` is the caller's accumulator, and `init` when it counts as zero. `name` is that of the result.
    """

    name: str
    lhs: Window
    rhs: Window
    bias: Window | None = None
    acc: Value | None = None
    init: Condition | None = None

    @property
    def depth(self) -> Index:
        """Elements of K that are there."""
        return self.lhs.valid[1]

    @property
    def shape(self) -> tuple[int, int, int]:
        """(m, n, k) of the tiles."""
        return self.lhs.shape[0], self.rhs.shape[1], self.lhs.shape[1]

    def of(self, rows: Part, cols: Part) -> Product:
        """The product of a tile of the output."""
        m, n, k = self.shape
        if (rows, cols) == (Part(0, m), Part(0, n)):
            return self
        assert self.acc is None, "an accumulator is one tile"
        return replace(
            self,
            lhs=self.lhs.part(rows, Part(0, k)),
            rhs=self.rhs.part(Part(0, k), cols),
            bias=None if self.bias is None else self.bias.part(Part(0, 1), cols),
        )

    def renewed(self, use: Callable[[Value], Value]) -> Product:
        """The same product of what now stands for its tiles."""
        return replace(
            self,
            lhs=self.lhs.moved(use(self.lhs.tile)),
            rhs=self.rhs.moved(use(self.rhs.tile)),
            bias=None if self.bias is None else self.bias.moved(use(self.bias.tile)),
            acc=None if self.acc is None else use(self.acc),
        )

    def along_k(self, block: Part) -> tuple[Window, Window]:
        """A block of K of both operands."""
        m, n, _ = self.shape
        return self.lhs.part(Part(0, m), block), self.rhs.part(block, Part(0, n))


def multiply(writer: Writer, product: Product, lhs: Value, rhs: Value) -> Value:
    """The product of operands in L0 that have all of K."""
    return _first(writer, product, lhs, rhs)


def accumulate(writer: Writer, product: Product, k: int) -> Value:
    """The sum over blocks of `k` elements of K."""
    depth = product.depth
    if isinstance(depth, int) and depth <= k:
        return _first(writer, product, *_block(writer, product, Part(0, depth)))
    done = 0
    acc = product.acc
    if product.bias is not None:
        acc = _first(writer, product, *_block(writer.round((writer.fresh.group(), 0)), product, Part(0, k)))
        done = k
    elif acc is None and not (isinstance(depth, int) and depth < 2 * k):
        acc = _empty(writer, product)

    def step(inside: Writer, block: Part, carried: Values) -> Values:
        lhs, rhs = _block(inside, product, block)
        if not carried or (block.start == 0 and not done):
            return (_first(inside, product, lhs, rhs),)
        init = _init(product, block.start) if not done else None
        return (_added(inside, product, carried[0], lhs, rhs, init),)

    (made,) = writer.along(Span("kb", depth, k, done), () if acc is None else (acc,), step, stages=STAGES)
    return made


def _block(writer: Writer, product: Product, block: Part) -> tuple[Value, Value]:
    lhs, rhs = product.along_k(block)
    return writer.copy(lhs, Memory.LEFT), writer.copy(rhs, Memory.RIGHT)


def _first(writer: Writer, product: Product, lhs: Value, rhs: Value) -> Value:
    """The first block, with what the sum begins with."""
    operands = {"lhs": lhs, "rhs": rhs}
    if product.acc is not None:
        return _added(writer, product, product.acc, lhs, rhs, product.init)
    bias = bias_of(writer, product)
    if bias is None:
        return writer.op("matmul", operands, {}, product.name)
    return writer.op("matmul_bias", {**operands, "bias": bias.tile}, {}, product.name)


def bias_of(writer: Writer, product: Product) -> Window | None:
    """The bias of a product in the bias table, None without one."""
    bias = product.bias
    if bias is None:
        return None
    kind = bias.tile.type
    assert isinstance(kind, TileType)
    if kind.memory is Memory.BIAS:
        return bias
    return Window(writer.copy(bias, Memory.BIAS), 0, 0, bias.shape, bias.valid)


def _added(writer: Writer, product: Product, acc: Value, lhs: Value, rhs: Value, init: Condition | None) -> Value:
    attrs: dict[str, Attr] = {} if init is None else {"init": init}
    return writer.op("matmul_acc", {"acc": acc, "lhs": lhs, "rhs": rhs}, attrs, product.name)


def _init(product: Product, start: Index) -> Condition | None:
    """When the block that begins at `start` of K starts from zero."""
    if product.acc is not None and product.init is None:
        return None
    if isinstance(start, Expr):
        first = Condition("==", start, 0)
        return first if product.init is None else Condition("and", first, product.init)
    return None


def _empty(writer: Writer, product: Product) -> Value:
    m, n, _ = product.shape
    kind = product.lhs.kind
    valid = (product.lhs.valid[0], product.rhs.valid[1])
    return writer.tile(product.name, (m, n), ACCUMULATOR[kind.dtype], Memory.ACC, valid)
