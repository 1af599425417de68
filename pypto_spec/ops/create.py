"""Operators that make a tile from nothing: create_tile, full, arange and tri."""

from __future__ import annotations

import math
from collections.abc import Mapping
from math import prod
from typing import Any

from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.dtype import BF16, FP16, FP32, INT16, INT32, UINT16, UINT32, DType
from pypto_spec.ir.instr import Instr, Number, Ref, ScalarRef, Step
from pypto_spec.ir.opdef import Field, Inference, OpDef, Recipe
from pypto_spec.ir.types import ArrayType, Memory, TileType, ValueType
from pypto_spec.ops.build import (
    ANY,
    INTO,
    VEC,
    check_dtype,
    geometry,
    no_scratch,
    no_steps,
    poison,
    static_shape,
    torch_dtype,
)
from pypto_spec.ops.numbers import check_scalar, fill_number, int_range, torch_number
from pypto_spec.ops.ramp import LIMIT, carrier, constant, double, ramp
from pypto_spec.ops.reduce_steps import Draft
from pypto_spec.ops.registry import define
from pypto_spec.ops.window import check_valid

SHAPE = Field(name="shape", kind="ints", doc="rows and columns, compile-time", examples=([64, 128],))
DTYPE = Field(name="dtype", kind="dtype", doc="dtype of the elements", examples=("fp32",))
FILLABLE: tuple[DType, ...] = (FP32, FP16, BF16, INT32, INT16, UINT16, UINT32)
"""Dtypes of Duplicate on dav-2201."""


def _infer_create(inference: Inference) -> ValueType:
    shape, valid = static_shape(inference, "shape"), inference.attr("valid")
    if valid is not None and len(valid) != len(shape):
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"`valid` has {len(valid)} extents, `shape` has {len(shape)}",
            "valid",
            label=f"{len(valid)} for {len(shape)}",
            helps=("write one for each dimension, or leave `valid` out where all will be defined",),
        )
    check_valid(inference, shape, valid)
    extent = None if valid is None or tuple(valid) == shape else tuple(valid)
    return TileType(inference.attr("dtype"), shape, inference.attr("memory"), valid=extent)


def _create_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    return poison(torch, tuple(attrs["shape"]), torch_dtype(torch, attrs["dtype"]))


def _infer_full(inference: Inference) -> ValueType:
    shape = static_shape(inference, "shape")
    dtype = inference.attr("dtype")
    check_dtype(inference, dtype, "dtype")
    check_scalar(inference, "value", dtype)
    if dtype == BF16 and "value" in inference.operands:
        raise inference.fail(
            rules.DTYPE_UNSUPPORTED,
            f"`full` of bf16 takes a literal, found the run-time scalar `{inference.operands['value'].name}`",
            "value",
            helps=("make an fp32 tile with `full` and cast it to bf16",),
        )
    return ArrayType(dtype, shape) if inference.level == "array" else TileType(dtype, shape)


def _full_recipe(of: Recipe) -> tuple[Step, ...]:
    tile = of.tile("into")
    written = of.attr("value")
    carrier: DType | None = None
    value: Number | ScalarRef = ScalarRef(of.value("value"), tile.dtype) if written is None else Number(0, tile.dtype)
    if written is not None:
        carrier, value = fill_number(written, tile.dtype)
    assert tile.is_dense, "full makes a dense tile"
    return (Instr("Duplicate", (Ref("into", 0, carrier), value, tile.span_elements)),)


def _full_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    value = torch_number(torch, inputs, attrs, "value", torch_dtype(torch, attrs["dtype"]))
    return value.expand(tuple(attrs["shape"])).clone()


define(
    OpDef(
        name="create_tile",
        family="create",
        doc="a tile whose contents are undefined until something is written to it",
        fields=(
            INTO,
            SHAPE,
            DTYPE,
            Field(
                name="valid",
                kind="exprs",
                doc="extents that will be defined, where that is less: of sums over tiles that are partly valid",
                required=False,
                examples=(["min(64, M - i * 64)", 128],),
            ),
            Field(
                name="memory",
                kind="memory",
                doc="where it lives: `vec`, `mat` or `acc`; by default what its uses ask for",
                required=False,
            ),
        ),
        role="create",
        pipe="v",
        infer=_infer_create,
        dtypes=ANY,
        dtype_of="dtype",
        torch=_create_meaning,
        recipe=no_steps,
        scratch=no_scratch,
        spaces={"into": (Memory.VEC, Memory.MAT, Memory.ACC)},
        example="- create_tile: {into: t, shape: [64, 128], dtype: fp32}",
    )
)

define(
    OpDef(
        name="full",
        family="create",
        doc="a tile, or at tensor level an array, whose elements all hold one value",
        fields=(
            INTO,
            SHAPE,
            Field(
                name="value",
                kind="number",
                doc="a number, a constant or a run-time scalar; rounded to the dtype",
                examples=(0, -math.inf),
            ),
            DTYPE,
        ),
        role="create",
        pipe="v",
        infer=_infer_full,
        dtypes=FILLABLE,
        dtype_of="dtype",
        torch=_full_meaning,
        recipe=_full_recipe,
        scratch=no_scratch,
        spaces={"into": VEC},
        function="full",
        example="- full: {into: t, shape: [64, 128], value: 0, dtype: fp32}",
    )
)


# --- arange ---------------------------------------------------------------------------------------------------------


def _infer_arange(inference: Inference) -> ValueType:
    shape = static_shape(inference, "shape")
    dtype, step = inference.attr("dtype"), inference.attr("step")
    check_dtype(inference, dtype, "dtype")
    check_scalar(inference, "start", dtype)
    if inference.level == "array":
        raise inference.fail(
            rules.LEVEL_MIX,
            "`arange` makes a tile, and this region works on whole arrays",
            helps=("load tiles with `load` and compute with those",),
        )
    if not isinstance(step, int):
        raise inference.fail(
            rules.RUNTIME_EXTENT,
            "the step of `arange` is known at compile time",
            "step",
            helps=("count with step 1, and multiply the tile by the run-time number",),
        )
    if "start" in inference.operands:
        if dtype.is_float:
            raise inference.fail(
                rules.DTYPE_UNSUPPORTED,
                f"`arange` of {dtype} starts at a number known at compile time, found "
                f"`{inference.operands['start'].name}`",
                "start",
                helps=("start at 0, and add the run-time scalar to the tile",),
            )
        return TileType(dtype, shape)
    start = inference.attr("start")
    if start != int(start):
        raise inference.fail(
            rules.DTYPE_UNSUPPORTED,
            f"`arange` counts in whole numbers, found {start}",
            "start",
            helps=("count in whole numbers, and scale and shift the tile",),
        )
    low, high = (-LIMIT[dtype.name], LIMIT[dtype.name]) if dtype.is_float else int_range(dtype)
    reached = sorted((int(start), int(start) + (prod(shape) - 1) * step))
    if reached[0] < low or reached[1] > high:
        exact = "holds whole numbers exactly" if dtype.is_float else "goes"
        raise inference.fail(
            rules.DTYPE_UNSUPPORTED,
            f"`arange` from {reached[0]} to {reached[1]} in {dtype}, which {exact} from {low} to {high} only",
            "shape",
            helps=("count in int32, and cast the tile",),
        )
    return TileType(dtype, shape)


def _arange(of: Recipe) -> Draft:
    tile, step = of.tile("into"), of.attr("step")
    rows, cols, pitch = geometry(tile)
    dtype = carrier(tile.dtype)
    into = Ref("into", 0, None if dtype is tile.dtype else dtype)
    written = of.attr("start")
    start = ScalarRef(of.value("start"), dtype) if written is None else int(written)
    draft = Draft()
    ramp(draft, into, dtype, pitch if rows > 1 else cols, step, start)
    if rows > 1:  # the lanes behind a row count on, and are nobody's
        double(draft, into, dtype, pitch, rows * pitch, lambda done: done // pitch * cols * step)
    return draft


def _arange_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    shape = tuple(attrs["shape"])
    start = torch_number(torch, inputs, attrs, "start", torch.int64)
    made = start + torch.arange(prod(shape), dtype=torch.int64) * attrs["step"]
    return made.reshape(shape).to(torch_dtype(torch, attrs["dtype"]))


define(
    OpDef(
        name="arange",
        family="create",
        doc="a tile that counts: its elements are, row by row, start, start + step, start + 2 step and so on",
        fields=(
            INTO,
            SHAPE,
            Field(
                name="start",
                kind="number",
                doc="the first element, a whole number; for integers also a run-time scalar",
                examples=(0,),
            ),
            DTYPE,
            Field(
                name="step",
                kind="expr",
                doc="distance from element to element, a whole number, compile-time",
                required=False,
                default=1,
            ),
        ),
        role="create",
        pipe="v",
        infer=_infer_arange,
        dtypes=(INT32, FP32, FP16, INT16, UINT32, UINT16),
        dtype_of="dtype",
        torch=_arange_meaning,
        recipe=lambda of: tuple(_arange(of).steps),
        scratch=lambda of: tuple(_arange(of).areas),
        spaces={"into": VEC},
        function="arange",
        example="- arange: {into: t, shape: [1, 128], start: 0, dtype: int32}",
    )
)


# --- tri ------------------------------------------------------------------------------------------------------------


def _infer_tri(inference: Inference) -> ValueType:
    shape = static_shape(inference, "shape")
    check_dtype(inference, inference.attr("dtype"), "dtype")
    if inference.level == "array":
        raise inference.fail(
            rules.LEVEL_MIX,
            "`tri` makes a tile, and this region works on whole arrays",
            helps=("load tiles with `load` and compute with those",),
        )
    if len(shape) != 2 or max(shape) > LIMIT["fp16"] // 2:
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"`tri` makes rows and columns, at most {LIMIT['fp16'] // 2} of each, found {list(shape)}",
            "shape",
            helps=("make a part of the mask, with its own `diagonal`",),
        )
    if not isinstance(inference.attr("diagonal"), int):
        raise inference.fail(
            rules.RUNTIME_EXTENT,
            "the diagonal of `tri` is known at compile time",
            "diagonal",
            helps=("compare tiles from `arange` where the diagonal moves",),
        )
    return TileType(inference.attr("dtype"), shape)


def _tri(of: Recipe) -> Draft:
    """Counts column - row - diagonal, and clamps it to 0 and 1."""
    tile, lower = of.tile("into"), of.attr("part") == "lower"
    dtype, into = tile.dtype, Ref("into")
    far = max(tile.shape)
    start = -min(max(of.attr("diagonal"), -far), far) + (0 if lower else 1)
    draft = Draft()
    rows, cols, pitch = geometry(tile)
    down = tile.cols == 1 and tile.rows > 1  # a dense column counts down its rows
    ramp(draft, into, dtype, pitch if rows > 1 else cols, -1 if down else 1, start)
    if rows > 1:
        double(draft, into, dtype, pitch, rows * pitch, lambda done: -(done // pitch))
    span = tile.span_elements
    draft.add(
        Instr("Maxs", (into, into, constant(0, dtype), span)), Instr("Mins", (into, into, constant(1, dtype), span))
    )
    if lower:
        draft.add(
            Instr("Muls", (into, into, constant(-1, dtype), span)),
            Instr("Adds", (into, into, constant(1, dtype), span)),
        )
    return draft


def _tri_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    cut = torch.tril if attrs["part"] == "lower" else torch.triu
    ones = torch.ones(tuple(attrs["shape"]), dtype=torch.float32)
    return cut(ones, diagonal=attrs["diagonal"]).to(torch_dtype(torch, attrs["dtype"]))


define(
    OpDef(
        name="tri",
        family="create",
        doc="a triangular mask: 1 where column - row is at most `diagonal` (`lower`), or at least (`upper`), else 0",
        fields=(
            INTO,
            SHAPE,
            DTYPE,
            Field(
                name="diagonal",
                kind="expr",
                doc="the diagonal that the ones reach, compile-time; 0 is the main one, 1 the one above it",
                required=False,
                default=0,
            ),
            Field(
                name="part",
                kind="word",
                doc="which side holds the ones",
                required=False,
                default="lower",
                words=("lower", "upper"),
                meanings={"lower": "ones on and below the diagonal", "upper": "ones on and above the diagonal"},
            ),
        ),
        role="create",
        pipe="v",
        infer=_infer_tri,
        dtypes=(FP32, FP16, INT32, INT16),
        dtype_of="dtype",
        torch=_tri_meaning,
        recipe=lambda of: tuple(_tri(of).steps),
        scratch=lambda of: tuple(_tri(of).areas),
        spaces={"into": VEC},
        function="tri",
        example="- tri: {into: t, shape: [64, 128], dtype: fp32}",
    )
)
