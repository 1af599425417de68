"""The grids that buffers start on: their memory's own, or a coarser one that an op asks for (`OpDef.alignment`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pypto_spec.diagnostics.rules.memory import BAD_ADDRESS
from pypto_spec.ir.expr import mod, to_text
from pypto_spec.ir.nodes import BufferRef, Op, Program, Region
from pypto_spec.ir.opdef import no_alignment
from pypto_spec.ir.recipe import OpRecipe
from pypto_spec.ir.rewrite import ops, regions
from pypto_spec.passes.base import Context


def asked(op: Op) -> Iterator[tuple[str, BufferRef, int]]:
    """The fields of an op that start on a grid of their own: where they are, and bytes of the grid."""
    if op.defn.alignment is no_alignment:
        return
    view = OpRecipe(op, "exact")
    for field, unit in op.defn.alignment(view).items():
        if field == "scratch":
            yield from ((field, ref, unit) for ref in op.scratch)
            continue
        ref = view.value(field).buffer
        if ref is not None:
            yield field, ref, unit


def grids(program: Program) -> Mapping[str, int]:
    """The buffers for which some op asks for a grid, and bytes of the coarsest."""
    found: dict[str, int] = {}
    for region in regions(program.body):
        for name, unit in grids_of(region).items():
            found[name] = max(found.get(name, 1), unit)
    return found


def grids_of(region: Region) -> Mapping[str, int]:
    """The same of one region."""
    found: dict[str, int] = {}
    for op in ops(region.body):
        for _, ref, unit in asked(op):
            found[ref.buffer] = max(found.get(ref.buffer, 1), unit)
    return found


def check_views(program: Program, context: Context) -> None:
    """Report tiles that start off the grid that an op asks for wherever their buffer starts: windows of others."""
    for region in regions(program.body):
        for op in ops(region.body):
            for field, ref, unit in asked(op):
                if field == "scratch" or mod(ref.offset, unit) == 0:
                    continue
                name = OpRecipe(op, "exact").value(field).name.split(".")[0]
                context.sink.report(
                    BAD_ADDRESS,
                    op.loc.field(field),
                    f"`{op.name}` takes tiles that start at a multiple of {unit} B, and `{name}` starts "
                    f"{to_text(ref.offset)} B into its buffer",
                    label=f"{to_text(ref.offset)} B in",
                    helps=[
                        f"copy it first: `- move: {{into: {name}_whole, from: {name}}}`",
                        f"or cut it where its first element is a multiple of {unit} B from the start of the tile",
                    ],
                    figures=[("needed_bytes", unit)],
                )
