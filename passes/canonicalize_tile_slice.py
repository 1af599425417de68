"""CanonicalizeTileSlice: a slice that cannot be a view becomes a copy.

The vector unit reads blocks of 32 B, so a view starts on one. A slice that does not, or whose start is not known to, is
an `extract`: the window gathered into a tile of its own. A hint says so, since a view would have cost nothing. Windows
that are views keep their rows at the distance of the wider tile; what cannot read them so is given a dense copy later,
by ResolveBackendOpLayouts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pypto_spec.diagnostics.model import Repair
from pypto_spec.diagnostics.rules.hints import SLICE_COPIED
from pypto_spec.ir.expr import Index, to_text
from pypto_spec.ir.nodes import Op, Program, Region, Stmt
from pypto_spec.ir.rewrite import Rewriter
from pypto_spec.ir.types import Layout, TileType
from pypto_spec.ops.registry import OPS
from pypto_spec.ops.view import is_aligned
from pypto_spec.passes.base import Context, Pass, Property


class _Canonicalizer(Rewriter):
    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self.core: str | None = None

    def region(self, region: Region) -> Region:
        self.core = region.core
        return super().region(region)

    def op(self, op: Op) -> Sequence[Stmt]:
        if op.name != "slice":
            return (op,)
        x, at = op.operands["x"].type, op.attrs["at"]
        assert isinstance(x, TileType) and isinstance(at, tuple)
        if x.is_boxed or is_aligned(x, at):
            return (op,)  # of a tile of the cube it names a window, which is copied where it is used
        if self.core != "aic":  # windows of tiles in L1 are copied anyway, on the way to L0
            self._tell(op, x, at)
        return (replace(op, defn=OPS["extract"]),)

    def _tell(self, op: Op, x: TileType, at: tuple[Index, ...]) -> None:
        block = x.dtype.block
        what = "row" if x.order is Layout.DN else "column"
        start = at[-2] if x.order is Layout.DN else at[-1]
        self.context.sink.report(
            SLICE_COPIED,
            op.loc.field("at"),
            f"this slice of {x.dtype} starts at {what} {to_text(start)}, not known to be a multiple of {block} "
            f"({block * x.dtype.bytes} B): its elements are gathered into a tile of their own",
            label="a copy, not a view",
            allow=op.allow,
            helps=[
                f"start at a multiple of {block} {what}s, and the slice costs nothing",
                "or write `extract` in place of `slice`, if the copy is meant",
            ],
            fixes=[
                Repair("rename", op.loc.span, ("slice",), "extract", title="write `extract`, which is a copy by name")
            ],
        )


def run(program: Program, context: Context) -> Program:
    """Turn slices that are no views into copies, in every region."""
    return _Canonicalizer(context).program(program)


CANONICALIZE_TILE_SLICE = Pass(
    name="CanonicalizeTileSlice",
    run=run,
    requires=frozenset({Property.TILE_OPS_2D}),
    produces=frozenset({Property.TILE_SLICES_CANONICAL}),
    doc=__doc__,
)
