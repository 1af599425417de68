"""Operators that pick elements one by one: transpose, gather and gather_mask, by Gather with byte offsets.

A transpose of 16-bit elements goes by blocks of 16 x 16 instead, where their copies fit: strips of 16 columns are
copied one behind the other, so that a block stands in 512 B, `Transpose` turns each, and strips are copied back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.dtype import BF16, FP16, FP32, INT16, INT32, UINT16, UINT32, DType
from pypto_spec.ir.expr import Index, ceil_div, maximum, sub, to_text
from pypto_spec.ir.instr import Instr, Ref
from pypto_spec.ir.opdef import Field, Inference, OpDef, Recipe
from pypto_spec.ir.types import Layout, TileType, ValueType, round_up
from pypto_spec.ops.build import INTO, X, check_dtype, in_vec, shape_text, two_axes
from pypto_spec.ops.ramp import constant, double, ramp
from pypto_spec.ops.reduce_steps import Draft, Grid, areas_of, copy_run, shares, shift, steps_of
from pypto_spec.ops.registry import define
from pypto_spec.ops.shuffle import TABLE_BUDGET, copy_blocks, gather, grid_of, moved, shuffle

PICKED: tuple[DType, ...] = (FP32, FP16, BF16, INT32, INT16, UINT32, UINT16)
"""Dtypes of Gather on dav-2201."""

# --- transpose ------------------------------------------------------------------------------------------------------


def _infer_transpose(inference: Inference) -> ValueType:
    (x,) = two_axes(inference, "x")
    check_dtype(inference, x.dtype, "x")
    return TileType(x.dtype, x.shape[::-1], x.memory, valid=None if x.valid is None else x.valid[::-1])


def _transpose(of: Recipe) -> Draft:
    draft = Draft()
    x, into = of.tile("x"), of.tile("into")
    if x.rows == 1 or x.cols == 1:  # a row is stored like a dense column
        draft.add(copy_run(Ref("into"), Ref("x"), x.rows * x.cols, x.dtype))
        return draft
    if x.dtype.bytes == 2 and 2 * _padded(x) <= BLOCKS_BUDGET:
        _by_blocks(draft, x, into)
        return draft
    size, pitch, lanes = x.dtype.bytes, x.row_pitch, into.row_pitch
    group = min(into.rows, max(1, TABLE_BUDGET // (lanes * INT32.bytes)))
    offsets = draft.area(group * lanes, INT32)
    ramp(draft, offsets, INT32, lanes, pitch * size)
    if lanes > x.rows:  # the lanes behind a row read something that exists
        draft.add(Instr("Mins", (offsets, offsets, constant((x.rows - 1) * pitch * size, INT32), lanes)))
    double(draft, offsets, INT32, lanes, group * lanes, lambda done: done // lanes * size)
    for first, count in shares(into.rows, group, group):
        target = moved(Ref("into"), first * lanes)
        gather(draft, target, Ref("x"), offsets, first * size, count * lanes, x.rows * pitch)
    return draft


SIDE = 16
"""Rows and columns of the block that `Transpose` turns."""
BLOCKS_BUDGET = 65_536
"""Bytes of scratch for the two copies of a tile that goes by blocks."""


def _padded(x: TileType) -> int:
    """Bytes of a tile in whole blocks."""
    return round_up(x.rows, SIDE) * round_up(x.cols, SIDE) * x.dtype.bytes


def _by_blocks(draft: Draft, x: TileType, into: TileType) -> None:
    down, across = -(-x.rows // SIDE), -(-x.cols // SIDE)
    block = SIDE * SIDE
    strips, turned = (draft.area(down * across * block, UINT16) for _ in range(2))
    source, target = Ref("x", 0, UINT16), Ref("into", 0, UINT16)
    for col in range(across):
        strip = Grid(shift(strips, col * down * block), UINT16, x.rows, SIDE, SIDE)
        copy_blocks(draft, strip, Grid(shift(source, col * SIDE), UINT16, x.rows, SIDE, x.row_pitch))
    for row in range(down):
        for col in range(across):
            here, there = (row * across + col) * block, (col * down + row) * block
            draft.add(Instr("Transpose", (shift(turned, here), shift(strips, there))))
    for row in range(down):
        strip = Grid(shift(turned, row * across * block), UINT16, x.cols, SIDE, SIDE)
        copy_blocks(draft, Grid(shift(target, row * SIDE), UINT16, x.cols, SIDE, into.row_pitch), strip)


def _transpose_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    return inputs["x"].transpose(-1, -2).contiguous()


define(
    OpDef(
        name="transpose",
        family="pick",
        doc="rows become columns: [M, N] becomes [N, M]",
        fields=(INTO, X),
        role="rearrange",
        pipe="v",
        infer=_infer_transpose,
        dtypes=PICKED,
        dtype_of="x",
        torch=_transpose_meaning,
        recipe=steps_of(_transpose),
        scratch=areas_of(_transpose),
        spaces=in_vec("into", "x"),
        no_alias=frozenset({"x"}),
        function="transpose",
        example="- transpose: {into: y, x: t}",
    )
)


# --- gather ---------------------------------------------------------------------------------------------------------


def _infer_gather(inference: Inference) -> ValueType:
    x, index = two_axes(inference, "x", "index")
    check_dtype(inference, x.dtype, "x")
    name = inference.operands["index"].name
    if index.dtype != INT32:
        raise inference.fail(
            rules.DTYPE_MISMATCH,
            f"`gather` takes int32 indices, found {index.dtype}",
            "index",
            helps=(f"cast them first: `- cast: {{into: {name}_int32, x: {name}, dtype: int32}}`",),
        )
    if index.rows != x.rows or (x.order is Layout.DN and index.cols > 1):
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"`gather` of {shape_text(x.shape)} by indices {shape_text(index.shape)}: each row of indices picks from "
            "the row of `x` beside it",
            "index",
            label=f"{index.rows} rows here, {x.rows} in `x`" if index.rows != x.rows else "one column to pick from",
            helps=("give as many rows of indices as `x` has, and `x` two or more columns",),
        )
    if index.valid is not None and not all(isinstance(v, int) for v in index.valid):
        name = inference.operands["index"].name
        raise inference.fail(
            rules.RUNTIME_EXTENT,
            f"`gather` by indices of which {shape_text(index.valid)} are valid, which is known at run time only: the "
            "others would be addresses that hold nothing defined",
            "index",
            helps=(f"fill them first: `- fillpad: {{into: {name}_whole, x: {name}, pad: zero}}`",),
        )
    return TileType(x.dtype, index.shape, x.memory, valid=index.valid)


def _gather(of: Recipe) -> Draft:
    draft = Draft()
    x, index, into = of.tile("x"), of.tile("index"), of.tile("into")
    rows, cols = index.valid or index.shape
    assert isinstance(rows, int)
    assert isinstance(cols, int)
    size, pitch = x.dtype.bytes, x.row_pitch
    offsets = draft.area(index.span_elements, INT32)
    if index.order is Layout.DN:
        draft.add(Instr("Muls", (offsets, Ref("index"), constant(size, INT32), rows)))
        start = draft.area(rows, INT32)
        ramp(draft, start, INT32, rows, pitch * size)
        draft.add(Instr("Add", (offsets, offsets, start, rows)))
        gather(draft, Ref("into"), Ref("x"), offsets, 0, rows, (rows - 1) * pitch + x.cols)
        return draft
    step = index.row_pitch
    draft.add(Instr("Muls", (offsets, Ref("index"), constant(size, INT32), (rows - 1) * step + cols)))
    if 4 < rows and cols == step == into.row_pitch and rows * cols * INT32.bytes <= TABLE_BUDGET:
        start = draft.area(rows * cols, INT32)
        draft.add(Instr("Duplicate", (start, constant(0, INT32), cols)))
        double(draft, start, INT32, cols, rows * cols, lambda done: done // cols * pitch * size)
        draft.add(Instr("Add", (offsets, offsets, start, rows * cols)))
        gather(draft, Ref("into"), Ref("x"), offsets, 0, rows * cols, rows * pitch)
        return draft
    for row in range(rows):
        target, source = moved(Ref("into"), row * into.row_pitch), moved(Ref("x"), row * pitch)
        gather(draft, target, source, moved(offsets, row * step), 0, cols, pitch)
    return draft


def _gather_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    x, index = inputs["x"], inputs["index"].long()
    signed = {torch.uint16: torch.int16, torch.uint32: torch.int32}.get(x.dtype)
    picked = torch.gather(x if signed is None else x.view(signed), -1, index.clamp(0, x.shape[-1] - 1))
    nothing = torch.full_like(picked, float("nan") if picked.dtype.is_floating_point else 0)
    made = torch.where((index >= 0) & (index < x.shape[-1]), picked, nothing)
    return made if signed is None else made.view(x.dtype)


define(
    OpDef(
        name="gather",
        family="pick",
        doc="pick elements by number: row r of the result is row r of `x` at the indices of that row",
        fields=(
            INTO,
            X,
            Field(
                name="index", kind="tile", doc="int32 columns of `x`, from 0; one row for each of `x`", examples=("n",)
            ),
        ),
        role="rearrange",
        pipe="v",
        infer=_infer_gather,
        dtypes=PICKED,
        dtype_of="x",
        torch=_gather_meaning,
        recipe=steps_of(_gather),
        scratch=areas_of(_gather),
        spaces=in_vec("into", "x", "index"),
        no_alias=frozenset({"x", "index"}),
        function="gather",
        example="- gather: {into: y, x: t, index: n}",
    )
)


# --- gather_mask ----------------------------------------------------------------------------------------------------

PATTERNS = {
    "p0101": (2, 0),
    "p1010": (2, 1),
    "p0001": (4, 0),
    "p0010": (4, 1),
    "p0100": (4, 2),
    "p1000": (4, 3),
    "p1111": (1, 0),
}
"""Of how many columns one is taken, and which; a pattern is read from its right end, as bits are."""


def _infer_mask(inference: Inference) -> ValueType:
    (x,) = two_axes(inference, "x")
    check_dtype(inference, x.dtype, "x")
    of, which = PATTERNS[inference.attr("pattern")]
    if x.cols % of or (x.order is Layout.DN and of > 1):
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"`{inference.attr('pattern')}` takes one of {of} columns, {shape_text(x.shape)} has {x.cols}",
            "pattern",
            helps=(f"use a tile whose columns are a multiple of {of}",),
        )
    shape = (x.rows, x.cols // of)
    valid: tuple[Index, Index] | None = None
    if x.valid is not None:
        valid = (x.valid[0], maximum(0, ceil_div(sub(x.valid[1], which), of)))
        if valid[1] == 0:
            raise inference.fail(
                rules.SHAPE_MISMATCH,
                f"`{inference.attr('pattern')}` takes none of the {to_text(x.valid[1])} valid columns",
                "pattern",
                helps=("fill the tile first with `fillpad`",),
            )
    return TileType(x.dtype, shape, x.memory, valid=None if valid == shape else valid)


def _mask(of: Recipe) -> Draft:
    draft = Draft()
    step, which = PATTERNS[of.attr("pattern")]
    x, target = of.tile("x"), of.tile("into")
    into, src = grid_of(of, "into", draft), grid_of(of, "x", draft)
    if step == 1:
        draft.add(copy_run(Ref("into"), Ref("x"), x.span_elements, x.dtype))
    elif target.order is Layout.DN:
        offsets = draft.area(round_up(into.cols, 8), INT32)
        ramp(draft, offsets, INT32, into.cols, src.pitch * x.dtype.bytes)
        reach = (into.cols - 1) * src.pitch + x.cols
        gather(draft, into.ref, src.ref, offsets, which * x.dtype.bytes, into.cols, reach)
    else:
        shuffle(draft, into, src, (), column=which, stride=step)
    return draft


def _mask_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    step, which = PATTERNS[attrs["pattern"]]
    return inputs["x"][..., which::step].contiguous()


define(
    OpDef(
        name="gather_mask",
        family="pick",
        doc="take every second or fourth column; a pattern is read from its right end: `p0001` takes the first of four",
        fields=(
            INTO,
            X,
            Field(
                name="pattern",
                kind="word",
                doc="which columns of each two or four",
                words=tuple(PATTERNS),
                meanings={
                    word: "all columns" if of == 1 else f"column {which} of each {of}, counted from 0"
                    for word, (of, which) in PATTERNS.items()
                },
                examples=("p0101",),
            ),
        ),
        role="rearrange",
        pipe="v",
        infer=_infer_mask,
        dtypes=PICKED,
        dtype_of="x",
        torch=_mask_meaning,
        recipe=steps_of(_mask),
        scratch=areas_of(_mask),
        spaces=in_vec("into", "x"),
        no_alias=frozenset({"x"}),
        function="gather_mask",
        example="- gather_mask: {into: y, x: t, pattern: p0101}",
    )
)
