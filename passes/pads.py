"""Pads that would change a reduction: what `fillpad` put behind the valid part must be the reduction's identity.

A pad is followed through copies, views and `set_validshape`. Any other operator makes something new of it, about which
nothing is said: `row_sum(exp(t))` of a tile that was filled with -inf is right.
"""

from __future__ import annotations

from collections.abc import Iterator

from pypto_spec.diagnostics.model import CompileError, Diagnostic, Label, Repair, diagnose
from pypto_spec.diagnostics.rules.shapes import WRONG_PAD
from pypto_spec.ir.naming import split
from pypto_spec.ir.nodes import Op, Region, Value
from pypto_spec.ir.opdef import REDUCED_AXIS
from pypto_spec.ir.rewrite import ops
from pypto_spec.ir.types import TileType
from pypto_spec.ops.pad import identity

_SAME = frozenset({"move", "reshape", "slice", "extract", "set_validshape"})


def check_pads(region: Region) -> None:
    """Refuse every reduction over lanes that `fillpad` filled with something else than its identity."""
    filled: dict[Value, Op] = {}
    found: list[Diagnostic] = []
    for op in ops(region.body):
        if op.name.startswith("fillpad"):
            filled[op.result] = op
        elif op.name in _SAME:
            source = next(iter(op.operands.values()))
            if source in filled:
                filled[op.result] = filled[source]
        elif op.defn.role in REDUCED_AXIS and op.operands["x"] in filled:
            found += _check(op, filled[op.operands["x"]])
    if found:
        raise CompileError(found)


def _check(op: Op, fill: Op) -> Iterator[Diagnostic]:
    wanted, found = identity(op.name), fill.attrs["pad"]
    before, after = fill.operands["x"].type, fill.result.type
    assert isinstance(before, TileType) and isinstance(after, TileType)
    along = REDUCED_AXIS[op.defn.role]
    if wanted == found or (before.valid or before.shape)[along] == after.shape[along]:
        return
    name = split(op.operands["x"].name)[0]
    yield diagnose(
        WRONG_PAD,
        op.loc.field("x"),
        f"`{op.name}` takes in lanes that `{fill.name}` filled with `{found}`, which changes its result",
        label=f"`{name}` is padded with `{found}`",
        secondary=[Label(fill.loc.field("pad"), f"`{wanted}` would change nothing")],
        helps=[f"fill it with `pad: {wanted}`", "or leave `fillpad` out: a reduction takes the valid part alone"],
        fixes=[Repair("set", fill.loc.field("pad"), ("pad",), wanted, title=f"write `pad: {wanted}`")],
    )
