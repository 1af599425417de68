"""LegalizeTileCast: a conversion that is no single instruction becomes a chain of conversions that are.

It decides the dtypes on the way (`cast_steps` of the op's own table) and the rounding mode of each step; the value
keeps its name, the ones on the way are called after it and their dtype.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pypto_spec.ir.dtype import DType
from pypto_spec.ir.naming import Names, split
from pypto_spec.ir.nodes import Attr, Op, Program, Region, Stmt, Value
from pypto_spec.ir.rewrite import Rewriter, ops
from pypto_spec.ir.types import TileType
from pypto_spec.ops.cast import NATIVE, cast_steps
from pypto_spec.passes.base import Context, Pass, Property


def _pair(op: Op) -> tuple[DType, DType]:
    x, result = op.operands["x"].type, op.result.type
    assert isinstance(x, TileType) and isinstance(result, TileType)
    return x.dtype, result.dtype


def _needs_chain(op: Op) -> bool:
    if op.name != "cast":
        return False
    src, dst = _pair(op)
    return src is not dst and (src, dst) not in NATIVE


class _Legalizer(Rewriter):
    def __init__(self) -> None:
        super().__init__()
        self.names = Names(())

    def region(self, region: Region) -> Region:
        if not any(map(_needs_chain, ops(region.body))):
            return region
        self.names = Names.of(region)
        return super().region(region)

    def op(self, op: Op) -> Sequence[Stmt]:
        if not _needs_chain(op):
            return (op,)
        src, dst = _pair(op)
        mode = op.attrs.get("mode")
        steps = cast_steps(src, dst, mode if isinstance(mode, str) else None)
        kind = op.result.type
        assert isinstance(kind, TileType) and steps
        made: list[Op] = []
        x = op.operands["x"]
        for number, (dtype, rounding) in enumerate(steps, 1):
            last = number == len(steps)
            name = "" if last else self.names.fresh(f"{split(op.result.name)[0]}_{dtype}")
            result = op.result if last else Value(name, replace(kind, dtype=dtype, pitch=None))
            attrs: dict[str, Attr] = {"dtype": dtype, "mode": rounding}
            made.append(replace(op, operands={"x": x}, attrs=attrs, results=(result,)))
            x = result
        return made


def run(program: Program, context: Context) -> Program:
    """Split the conversions of every region."""
    return _Legalizer().program(program)


LEGALIZE_TILE_CAST = Pass(
    name="LegalizeTileCast",
    run=run,
    requires=frozenset({Property.SSA_FORM, Property.TILE_OPS_2D}),
    doc=__doc__,
)
