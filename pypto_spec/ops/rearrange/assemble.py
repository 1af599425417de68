"""assemble: a tile is written into a window of another one, within `vec`, or from `acc` into `mat`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.expr import Index, add, mod, mul
from pypto_spec.ir.naming import split
from pypto_spec.ir.opdef import Field, Inference, OpDef, Recipe
from pypto_spec.ir.types import Layout, Memory, TileType, ValueType
from pypto_spec.ops.build import (
    ANY,
    INTO,
    same_dtype,
    shape_text,
    two_axes,
)
from pypto_spec.ops.cube.copies import WITHIN, check_copy, check_start
from pypto_spec.ops.cube.fixpipe import to_mat
from pypto_spec.ops.cube.leaving import PHASE, RELU, left, way_to_mat
from pypto_spec.ops.rearrange.common import beside, check_column, column_of, slices, unaligned
from pypto_spec.ops.reduce_steps import Draft, areas_of, steps_of
from pypto_spec.ops.registry import define
from pypto_spec.ops.shuffle import GATHERED, copy_blocks, grid_of, moved, shuffle, units
from pypto_spec.ops.window import check_bounds, check_rank


def _infer_assemble(inference: Inference) -> ValueType:
    target, x = two_axes(inference, "target", "x")
    at = inference.attr("at")
    if x.memory is not Memory.ACC:
        same_dtype(inference, "target", "x")
    check_rank(inference, target.shape, "target", at=at)
    check_bounds(inference, target.shape, at, x.shape, "target")
    if x.memory is Memory.ACC:
        check_copy(inference, "x", x, target.memory or Memory.MAT, target.dtype)
        if target.memory is Memory.MAT:
            check_start(inference, target, at, "target")
        _check_fractals(inference, target, x, at)
        return replace(target, memory=target.memory)
    if x.valid is not None:
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"`assemble` of a tile of which {shape_text(x.valid)} of {shape_text(x.shape)} is valid: the rest would "
            "overwrite the target with nothing defined",
            "x",
            helps=("fill it first with `fillpad`, or `extract` the valid part where it is known at compile time",),
        )
    start = column_of(target, at)
    exact = mod(start, target.dtype.block) == 0 and _whole(target, x, start)
    if not exact and (target.dtype.bytes not in GATHERED or not isinstance(start, int)):
        raise unaligned(inference, "at", target, start)
    check_column(inference, "x", x, target)
    return TileType(target.dtype, target.shape, target.memory, valid=target.valid)


def _check_fractals(inference: Inference, target: TileType, x: TileType, at: tuple[Index, ...]) -> None:
    """Refuse accumulators behind which undefined ones would come along: fractals are written whole."""
    name, block = split(inference.operands["x"].name)[0], target.dtype.block
    if x.valid is not None:
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"`assemble` of accumulators of which {shape_text(x.valid)} of {shape_text(x.shape)} is valid: the rest "
            "would overwrite the target with nothing defined",
            "x",
            label=f"{shape_text(x.valid)} is valid",
            helps=(f"store `{name}` to a tensor, which takes the valid part, and load that",),
        )
    if x.cols % block and add(at[1], x.cols) != target.cols:
        raise inference.fail(
            rules.UNALIGNED_SLICE,
            f"`assemble` writes whole fractals of {block} columns, and `{name}` has {x.cols}: what stands behind them "
            "in the target would be overwritten",
            "x",
            label=f"{x.cols} columns",
            helps=(f"make it a multiple of {block} columns, or write it where the target ends",),
        )


def _whole(target: TileType, x: TileType, start: Index) -> bool:
    """Whether a window ends with a block, or with the row."""
    length, full = (x.rows, target.rows) if target.order is Layout.DN else (x.cols, target.cols)
    return length % target.dtype.block == 0 or add(start, length) == full


def _assemble(of: Recipe) -> Draft:
    draft = Draft()
    target, at = of.tile("target"), of.attr("at")
    if of.tile("x").memory is Memory.ACC:
        draft.steps.extend(to_mat(of.tile("x"), target, at[0], at[1], way_to_mat(of), "x"))
        return draft
    column = target.order is Layout.DN
    into, src = grid_of(of, "into", draft), grid_of(of, "x", draft, as_rows=not column)
    row, start = (0, at[-2]) if column else (at[-2], at[-1])
    start = mul(start, units(target.dtype)[1])
    into = replace(into, ref=moved(into.ref, mul(row, into.pitch)), rows=src.rows)
    if mod(start, into.dtype.block) == 0 and _whole(target, of.tile("x"), column_of(target, at)):
        copy_blocks(draft, replace(into, ref=moved(into.ref, start)), src)
        return draft
    assert isinstance(start, int)
    both = beside(draft, into, src)
    jump = into.pitch - start
    shuffle(draft, into, both, ((start, jump), (start + src.cols, -jump)))
    return draft


def _assemble_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    made, x = inputs["target"].clone(), inputs["x"]
    made[slices(attrs["at"], x.shape)] = left(torch, x, {}, attrs, made.dtype)
    return made


define(
    OpDef(
        name="assemble",
        family="rearrange",
        doc="write a tile into a window of another one; the result is the other one, changed in place",
        fields=(
            INTO,
            Field(name="target", kind="tile", doc="the tile to change", examples=("a",)),
            Field(name="x", kind="tile", doc="the tile to write into it", examples=("b",)),
            Field(name="at", kind="exprs", doc="first row and column of the window", examples=([0, 3],)),
            RELU,
            PHASE,
        ),
        role="rearrange",
        pipe="v",
        infer=_infer_assemble,
        dtypes=ANY,
        dtype_of="target",
        torch=_assemble_meaning,
        recipe=steps_of(_assemble),
        scratch=areas_of(_assemble),
        spaces={
            "into": (Memory.VEC, Memory.MAT),
            "target": (Memory.VEC, Memory.MAT),
            "x": (Memory.VEC, Memory.ACC),
        },
        pipes=WITHIN,
        no_alias=frozenset({"x"}),
        reuses="target",
        function="assemble",
        example="- assemble: {into: y, target: a, x: b, at: [0, 0]}",
    )
)
