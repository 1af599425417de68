"""FlattenTileNdTo2D: every tile gets two dimensions, [d0, ..., dk] becoming [d0 * ... * dk-1, dk].

Loads and stores keep their window of as many dimensions as the tensor has; creations, reshapes and slices get two. What
runs over the dimension before the last (column reductions and spreads) needs the dimensions before that to be 1.
`batch_matmul` becomes a `matmul` of each pair of matrices, where the result is stored (`stacks`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from pypto_spec.diagnostics.model import CompileError, diagnose
from pypto_spec.diagnostics.rules.shapes import CANNOT_FLATTEN
from pypto_spec.diagnostics.span import Loc
from pypto_spec.ir.expr import Index, add, mul, to_text
from pypto_spec.ir.naming import split
from pypto_spec.ir.nodes import Attr, For, Op, Phi, Program, Region, Stmt, Value
from pypto_spec.ir.rewrite import Rewriter, definitions
from pypto_spec.ir.types import TensorType, TileType
from pypto_spec.ops.window import place_window
from pypto_spec.passes.base import Context, Pass, Property
from pypto_spec.passes.stacks import Stacks
from pypto_spec.targets.model import Target


class _Flattener(Rewriter):
    def __init__(self, target: Target) -> None:
        super().__init__()
        self.target = target
        self.stacks: Stacks | None = None
        self.shapes: dict[Value, tuple[int, ...]] = {}  # of flat values, what they were

    def region(self, region: Region) -> Region:
        if all(not isinstance(v.type, TileType) or len(v.type.shape) == 2 for v in definitions(region.body)):
            return region
        self.stacks = Stacks(region, self.target)
        return super().region(region)

    def op(self, op: Op) -> Sequence[Stmt]:
        assert self.stacks is not None
        if any(v in self.stacks.made for v in op.results):
            return ()
        if op.name == "store" and op.operands["from"] in self.stacks.made:
            return tuple(self.stacks.stores(op, self.values))
        before = {f: self.shapes[v] for f, v in op.operands.items() if v in self.shapes}
        if op.name == "store":
            return (self.store(op, before["from"]) if "from" in before else op,)
        if not before and not any(_is_nd(r) for r in op.results):
            return (op,)
        if op.defn.role == "col_reduce" or op.name == "col_expand":
            _check_outer(op, before["x"])
        return (replace(op, attrs=self.attrs(op, before), results=tuple(self.flat(r, op.loc) for r in op.results)),)

    def attrs(self, op: Op, before: dict[str, tuple[int, ...]]) -> dict[str, Attr]:
        """The fields that speak of the tile's dimensions, in two."""
        attrs = dict(op.attrs)
        shape = attrs.get("shape")
        if op.defn.effects == "pure" and isinstance(shape, tuple):
            attrs["shape"] = _rows(shape)
            valid = attrs.get("valid")
            if isinstance(valid, tuple):
                kind = op.result.type
                assert isinstance(kind, TileType)
                attrs["valid"] = _valid(valid, kind.shape, op.loc, split(op.result.name)[0])
            at = attrs.get("at")
            if isinstance(at, tuple) and "x" in before:
                row: Index = 0
                for extent, index in zip(before["x"][:-1], at[:-1], strict=True):
                    row = add(mul(row, extent), index)
                attrs["at"] = (row, at[-1])
        return attrs

    def store(self, op: Op, shape: tuple[int, ...]) -> Op:
        """A store whose window is written out where the flat tile no longer tells it."""
        tensor = op.operands["to"].type
        assert isinstance(tensor, TensorType)
        window = place_window(shape, len(tensor.shape))
        if "shape" in op.attrs or window is None or window == place_window(_rows(shape), len(tensor.shape)):
            return op
        return replace(op, attrs={**op.attrs, "shape": window})

    def flat(self, value: Value, loc: Loc) -> Value:
        """The value with a tile of two dimensions."""
        kind = value.type
        if not isinstance(kind, TileType) or len(kind.shape) == 2:
            return value
        valid = None if kind.valid is None else _valid(kind.valid, kind.shape, loc, split(value.name)[0])
        made = Value(value.name, replace(kind, shape=_rows(kind.shape), valid=valid), value.buffer)
        self.shapes[made] = kind.shape
        return self.bind(value, made)

    def loop(self, loop: For) -> Sequence[Stmt]:
        for carry in loop.carries:
            self.flat(carry.arg, loop.loc)
            self.flat(carry.result, loop.loc)
        return super().loop(loop)

    def phi(self, phi: Phi) -> Phi:
        then = self.use(phi.then)
        if _is_nd(phi.result):
            made = Value(phi.result.name, then.type, phi.result.buffer)
            self.shapes[made] = self.shapes[then]
            self.bind(phi.result, made)
        return super().phi(phi)


def _is_nd(value: Value) -> bool:
    return isinstance(value.type, TileType) and len(value.type.shape) != 2


def _rows(shape: tuple[Index, ...]) -> tuple[int, int]:
    extents = [extent for extent in shape if isinstance(extent, int)]
    assert len(extents) == len(shape), "the shape of a tile is static"
    return prod(extents[:-1]), extents[-1]


def _check_outer(op: Op, shape: tuple[int, ...]) -> None:
    if prod(shape[:-2]) == 1:
        return
    x = split(op.operands["x"].name)[0]
    raise CompileError(
        [
            diagnose(
                CANNOT_FLATTEN,
                op.loc.field("x"),
                f"`{op.name}` works on the rows of one matrix, and `{x}` is {prod(shape[:-2])} of them, {list(shape)}",
                label="more than one matrix",
                helps=["do it in a `for` loop over the outer dimensions, with extent 1 there"],
            )
        ]
    )


def _valid(valid: tuple[Index, ...], shape: tuple[int, ...], loc: Loc, name: str) -> tuple[Index, Index]:
    """The valid extent in two dimensions: of those that are not 1, only the first may be partial."""
    rows: Index = 1
    first = True
    for extent, full in zip(valid[:-1], shape[:-1], strict=True):
        if full == 1:
            rows = mul(rows, extent)  # it may be there or not
            continue
        if not first and extent != full:
            text = ", ".join(map(to_text, valid))
            raise CompileError(
                [
                    diagnose(
                        CANNOT_FLATTEN,
                        loc.field("valid"),
                        f"the valid extent [{text}] of `{name}`, {list(shape)}, is not one stretch of rows",
                        label="only the outermost dimension, and the last one, may be partial",
                        helps=["cut the tile so that its inner dimensions are full, or 1"],
                    )
                ]
            )
        rows = mul(rows, extent)
        first = False
    return rows, valid[-1]


def run(program: Program, context: Context) -> Program:
    """Flatten the tiles of every region that has others than two-dimensional ones."""
    return _Flattener(context.target).program(program)


FLATTEN_TILE_ND_TO_2D = Pass(
    name="FlattenTileNdTo2D",
    run=run,
    requires=frozenset({Property.SSA_FORM, Property.INCORE_TILE_OPS}),
    produces=frozenset({Property.TILE_OPS_2D}),
    doc=__doc__,
)
