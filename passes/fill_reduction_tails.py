"""FillReductionTails: a reduction over a part of an axis that is known at run time takes in its identity for the rest.

What lies beyond the valid part of a tile is undefined. Where its extent is known at compile time, recipes leave it out;
else it is filled first, with what changes nothing: 0 for a sum, the lowest number for a maximum. Of no element at all
the reduction gives that identity.
"""

from __future__ import annotations

from collections.abc import Sequence

from pypto_spec.ir.naming import Names, split
from pypto_spec.ir.nodes import Op, Program, Region, Stmt, Value
from pypto_spec.ir.opdef import REDUCED_AXIS
from pypto_spec.ir.rewrite import Rewriter, ops, with_parts
from pypto_spec.ir.types import TileType
from pypto_spec.ops.pad import identity
from pypto_spec.passes.base import Context, Pass, Property
from pypto_spec.passes.making import make


def has_tail(op: Op) -> bool:
    """Whether an op joins an axis of which a run-time part is valid."""
    along = REDUCED_AXIS.get(op.defn.role)
    if along is None:
        return False
    kind = op.operands["x"].type
    return isinstance(kind, TileType) and kind.valid is not None and not isinstance(kind.valid[along], int)


class _Filler(Rewriter):
    def __init__(self) -> None:
        super().__init__()
        self.names = Names(())

    def region(self, region: Region) -> Region:
        if not any(map(has_tail, ops(region.body))):
            return region
        self.names = Names.of(region)
        return super().region(region)

    def op(self, op: Op) -> Sequence[Stmt]:
        if not has_tail(op):
            return (op,)
        x = op.operands["x"]
        fill = make(
            "fillpad", {"x": x}, {"pad": identity(op.name)}, op.loc, into=self.names.fresh(split(x.name)[0]), like=x
        )
        filled: Value = fill.result
        return (fill, with_parts(op, operands={**op.operands, "x": filled}))


def run(program: Program, context: Context) -> Program:
    """Fill what reductions of every region would read undefined."""
    return _Filler().program(program)


FILL_REDUCTION_TAILS = Pass(
    name="FillReductionTails",
    run=run,
    requires=frozenset({Property.TILE_OPS_2D}),
    produces=frozenset({Property.REDUCTIONS_DEFINED}),
    doc=__doc__,
)
