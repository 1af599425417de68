"""concat: the columns of a tile are put behind those of another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.expr import Index, add, minimum, to_text
from pypto_spec.ir.opdef import Field, Inference, OpDef, Recipe
from pypto_spec.ir.types import TileType, ValueType, round_up
from pypto_spec.ops.build import (
    ANY,
    INTO,
    LHS,
    in_vec,
    same_dtype,
    shape_text,
    two_axes,
)
from pypto_spec.ops.rearrange.common import beside, check_column, unaligned
from pypto_spec.ops.reduce_steps import Draft, areas_of, steps_of
from pypto_spec.ops.registry import define
from pypto_spec.ops.shuffle import GATHERED, copy_blocks, grid_of, moved, shuffle


def _infer_concat(inference: Inference) -> ValueType:
    lhs, rhs = two_axes(inference, "lhs", "rhs")
    same_dtype(inference, "lhs", "rhs")
    if lhs.rows != rhs.rows:
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"`concat` of {shape_text(lhs.shape)} and {shape_text(rhs.shape)}: columns are put behind columns, so both "
            "have as many rows",
            "rhs",
            label=f"{rhs.rows} rows here, {lhs.rows} in `lhs`",
            helps=("to put rows below rows, `assemble` both into a tile from `create_tile`",),
        )
    valid = _concat_valid(inference, lhs, rhs)
    if lhs.cols % lhs.dtype.block and lhs.dtype.bytes not in GATHERED:
        raise unaligned(inference, "rhs", lhs, lhs.cols)
    shape = (lhs.rows, lhs.cols + rhs.cols)
    result = TileType(lhs.dtype, shape, lhs.memory, valid=valid)
    for field, tile in (("lhs", lhs), ("rhs", rhs)):
        check_column(inference, field, tile, result)
    return result


def _concat_valid(inference: Inference, lhs: TileType, rhs: TileType) -> tuple[Index, ...] | None:
    if lhs.valid is None and rhs.valid is None:
        return None
    left, right = (t.valid or t.shape for t in (lhs, rhs))
    if left[1] != lhs.cols:
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"`concat` behind a tile of which {to_text(left[1])} of {lhs.cols} columns are valid would leave a hole",
            "lhs",
            helps=("fill the rest first with `fillpad`, or `extract` the valid columns",),
        )
    return minimum(left[0], right[0]), add(lhs.cols, right[1])


def _concat(of: Recipe) -> Draft:
    draft = Draft()
    into = grid_of(of, "into", draft)
    lhs, rhs = (grid_of(of, field, draft, as_rows=True) for field in ("lhs", "rhs"))
    if lhs.cols % into.dtype.block == 0:
        copy_blocks(draft, replace(into, cols=lhs.cols), lhs)
        copy_blocks(draft, replace(into, ref=moved(into.ref, lhs.cols), cols=rhs.cols), rhs)
        return draft
    both = beside(draft, lhs, rhs)
    shuffle(draft, into, both, ((lhs.cols, round_up(lhs.cols, into.dtype.block) - lhs.cols),))
    return draft


def _concat_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    return torch.cat((inputs["lhs"], inputs["rhs"]), dim=-1)


define(
    OpDef(
        name="concat",
        family="rearrange",
        doc="put the columns of a tile behind those of another: [M, A] and [M, B] become [M, A + B]",
        fields=(
            INTO,
            LHS,
            Field(name="rhs", kind="tile", doc="right operand, of as many rows and the same dtype", examples=("b",)),
        ),
        role="rearrange",
        pipe="v",
        infer=_infer_concat,
        dtypes=ANY,
        dtype_of="lhs",
        torch=_concat_meaning,
        recipe=steps_of(_concat),
        scratch=areas_of(_concat),
        spaces=in_vec("into", "lhs", "rhs"),
        no_alias=frozenset({"lhs", "rhs"}),
        function="concat",
        example="- concat: {into: y, lhs: a, rhs: b}",
    )
)
