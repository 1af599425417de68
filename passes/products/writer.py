"""Single statements on tiles that stand for parts of a product, as the pass writes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from pypto_spec.diagnostics.span import Loc
from pypto_spec.ir.dtype import DType
from pypto_spec.ir.expr import Index, add
from pypto_spec.ir.naming import Names
from pypto_spec.ir.nodes import Attr, Carry, Condition, For, Op, Stmt, Value
from pypto_spec.ir.rewrite import with_parts
from pypto_spec.ir.types import Layout, Memory, TileType
from pypto_spec.ops.registry import OPS
from pypto_spec.passes.making import make
from pypto_spec.passes.products.product import Product, Window
from pypto_spec.records import dataclass

Extent = tuple[int, Index]
"""Elements of a tile along an axis, and how many of them are there."""


def full(extent: int) -> Extent:
    """An extent that is all there."""
    return extent, extent


@dataclass(slots=True)
class Writer:
    """Collects statements; `loc` is the product's, `allow` its suppressions."""

    names: Names
    loc: Loc
    allow: frozenset[str] = frozenset()
    body: list[Stmt] = field(default_factory=list)

    def inner(self) -> Writer:
        """A writer of a block inside this one."""
        return Writer(self.names, self.loc, self.allow)

    def op(self, name: str, operands: Mapping[str, Value], attrs: Mapping[str, Attr], into: str) -> Value:
        """One op whose result gets a fresh name."""
        made = make(name, operands, attrs, self.loc, into=self.names.fresh(into), allow=self.allow)
        self.body.append(made)
        return made.result

    def load(
        self,
        window: Window,
        batch: tuple[Index, ...],
        rows: tuple[Index, Extent],
        cols: tuple[Index, Extent],
        *,
        turned: bool = False,
        fractals: bool = False,
    ) -> Value:
        """A part of a window in `mat`: where it starts along rows and columns, how large it is, how much is there.

        A window that is read transposed comes as its transposed view. With `fractals` a single row is `nz` as well.
        """
        lead = len(window.shape) - 2
        mine = batch[len(batch) - lead :] if lead else ()
        outer = [add(a, 0 if n == 1 else b) for a, n, b in zip(window.at, window.shape[:lead], mine, strict=False)]
        at = (*outer, add(window.at[-2], rows[0]), add(window.at[-1], cols[0]))
        shape = (rows[1][0], cols[1][0])
        valid = (rows[1][1], cols[1][1])
        attrs: dict[str, Attr] = {"at": at, "shape": (1,) * lead + shape, "memory": Memory.MAT}
        if valid != shape:
            attrs["valid"] = (1,) * lead + valid
        if (turned or fractals) and shape[0] == 1:
            attrs["layout"] = Layout.NZ.value
        name = window.tensor.name
        kind = TileType(
            window.tensor.type.dtype,
            shape,
            Memory.MAT,
            Layout.NZ if "layout" in attrs else None,
            valid if valid != shape else None,
        )
        made = Value(self.names.fresh(f"{name}_l1"), kind)
        self.body.append(
            Op(
                defn=OPS["load"], operands={"from": window.tensor}, attrs=attrs, results=(made,), loc=self.loc,
                allow=self.allow,
            )
        )  # fmt: skip
        return self.op("transpose_view", {"x": made}, {}, f"{name}_t") if turned else made

    def part(self, tile: Value, at: tuple[Index, Index], rows: Extent, cols: Extent, memory: Memory) -> Value:
        """A part of a tile in L1, in L0A or L0B, of which as much is valid as `rows` and `cols` say."""
        made = self._part(tile, at, (rows[0], cols[0]), memory)
        kind = made.type
        valid = (rows[1], cols[1])
        assert isinstance(kind, TileType)
        if kind.valid == (None if valid == kind.shape else valid):
            return made
        op = self.body.pop()
        assert isinstance(op, Op)
        made = Value(made.name, replace(kind, valid=valid))
        self.body.append(with_parts(op, results=(made,)))
        return made

    def _part(self, tile: Value, at: tuple[Index, Index], shape: tuple[int, int], memory: Memory) -> Value:
        base = tile.name.split(".")[0].removesuffix("_l1").removesuffix("_t")
        suffix = "l0a" if memory is Memory.LEFT else "l0b"
        kind = tile.type
        assert isinstance(kind, TileType)
        if at == (0, 0) and shape == kind.shape:
            return self.op("move", {"from": tile}, {"memory": memory}, f"{base}_{suffix}")
        attrs: dict[str, Attr] = {"at": at, "shape": shape, "memory": memory}
        return self.op("extract", {"x": tile}, attrs, f"{base}_{suffix}")

    def accumulator(self, name: str, shape: tuple[int, int], dtype: DType) -> Value:
        """An accumulator with nothing in it."""
        return self.op("create_tile", {}, {"shape": shape, "dtype": dtype, "memory": Memory.ACC}, name)

    def add_product(self, name: str, acc: Value, lhs: Value, rhs: Value, init: Condition | None) -> Value:
        """The accumulator after one more product; it starts from zero where `init` holds."""
        attrs: dict[str, Attr] = {} if init is None else {"init": init}
        operands = {"acc": acc, "lhs": lhs, "rhs": rhs}
        return self.op("matmul_acc", operands, attrs, name)

    def store(self, product: Product, acc: Value, batch: tuple[Index, ...], row: Index, col: Index) -> None:
        """A tile of the result to its place."""
        out = product.out
        assert out is not None
        at = out.attrs["at"]
        assert isinstance(at, tuple)
        lead = len(at) - 2
        outer = [add(a, b) for a, b in zip(at[:lead], batch, strict=True)] if lead else []
        attrs: dict[str, Attr] = {**out.attrs, "at": (*outer, add(at[-2], row), add(at[-1], col))}
        if product.relu:
            attrs["relu"] = True
        self.body.append(
            Op(
                defn=OPS["store"], operands={"from": acc, "to": out.operands["to"]}, attrs=attrs, results=(),
                loc=out.loc, allow=out.allow,
            )
        )  # fmt: skip

    def summed(self, loop: For, acc: Value, arg: Value, yielded: Value, name: str) -> Value:
        """Append a loop that carries the accumulator, and give what it leaves."""
        result = Value(self.names.fresh(name), yielded.type)
        self.body.append(_with_carry(loop, Carry(arg, acc, yielded, result)))
        return result


def _with_carry(loop: For, carry: Carry) -> For:
    return For(
        index=loop.index, start=loop.start, stop=loop.stop, step=loop.step, body=loop.body, loc=loop.loc,
        carries=(carry,), kind=loop.kind, stages=loop.stages,
    )  # fmt: skip
