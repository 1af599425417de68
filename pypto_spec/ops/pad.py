"""The valid extent of a tile: fillpad, fillpad_inplace, fillpad_expand fill what is not valid, set_validshape says it.

A fill writes the value everywhere and then the valid lanes over it, bit by bit, with `Or(dst, x, x)` on 16-bit lanes:
the only instruction that copies a part of a block whose length may be known at run time only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.dtype import BF16, FP16, FP32, INT16, INT32, UINT16, UINT32, DType
from pypto_spec.ir.expr import Index, bounds, maximum, minimum, mul, sub, to_text
from pypto_spec.ir.instr import Instr, Ref
from pypto_spec.ir.opdef import Field, Inference, OpDef, Recipe
from pypto_spec.ir.types import Layout, TileType, ValueType
from pypto_spec.ops.build import (
    ANY,
    INTO,
    X,
    check_dtype,
    geometry,
    in_vec,
    no_scratch,
    no_steps,
    on_chip,
    shape_text,
    two_axes,
)
from pypto_spec.ops.build import static_shape as static
from pypto_spec.ops.decoding import MAX_REPEAT
from pypto_spec.ops.instructions import MAX_STRIDE
from pypto_spec.ops.numbers import fill_number, int_range
from pypto_spec.ops.reduce_steps import Draft, Grid, areas_of, combine, combine_run, shares, steps_of
from pypto_spec.ops.registry import define
from pypto_spec.ops.shuffle import copy_blocks, moved
from pypto_spec.ops.window import check_rank

PADS = ("zero", "min", "max", "one")
FILLED: tuple[DType, ...] = (FP32, FP16, BF16, INT32, INT16, UINT16, UINT32)
"""Dtypes of Duplicate on dav-2201."""


_IDENTITY = {"sum": "zero", "max": "min", "argmax": "min", "min": "max", "argmin": "max", "prod": "one"}


def identity(reduction: str) -> str:
    """The pad that does not change a reduction, by the operator's name: `zero` for `row_sum`."""
    return _IDENTITY[reduction.partition("_")[2]]


def pad_value(pad: str, dtype: DType) -> float:
    """What a pad stands for: 0, 1, or the number that no element is below or above."""
    if pad in ("zero", "one"):
        return int(pad == "one")
    if dtype.is_float:
        return -math.inf if pad == "min" else math.inf
    return int_range(dtype)[pad == "max"]


# --- fillpad --------------------------------------------------------------------------------------------------------


def _infer_fill(inference: Inference) -> ValueType:
    (x,) = on_chip(inference, "x")
    check_dtype(inference, x.dtype, "x")
    return TileType(x.dtype, x.shape, x.memory)


def _infer_expand(inference: Inference) -> ValueType:
    (x,) = two_axes(inference, "x")
    check_dtype(inference, x.dtype, "x")
    shape = static(inference, "shape")
    check_rank(inference, x.shape, shape=shape)
    if any(new < old for new, old in zip(shape, x.shape, strict=True)):
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"`fillpad_expand` of {shape_text(x.shape)} to {shape_text(shape)}, which is smaller",
            "shape",
            helps=("to cut a tile use `slice` or `extract`",),
        )
    if x.cols == 1 and x.rows > 1 and shape[1] > 1:
        raise inference.fail(
            rules.COLUMN_WINDOW,
            f"a column {shape_text(x.shape)} is dense, so it does not become {shape_text(shape)} by filling",
            "shape",
            helps=("put columns behind it with `concat`, or spread it with `row_expand`",),
        )
    return TileType(x.dtype, shape, x.memory)


def _extent(tile: TileType) -> tuple[Index, Index]:
    """Valid rows and columns as they are stored; a dense column is one row."""
    valid = tile.valid or tile.shape
    rows: Index = 1
    for extent in valid[:-1]:
        rows = mul(rows, extent)
    return (1, mul(rows, valid[-1])) if tile.order is Layout.DN else (rows, valid[-1])


def _inside(extent: Index, most: int) -> Index:
    return extent if isinstance(extent, int) else maximum(minimum(extent, most), 0)


def _halves(ref: Ref, tile: TileType) -> Grid:
    """A tile as rows of 16-bit lanes."""
    rows, cols, pitch = geometry(tile)
    times = tile.dtype.bytes // 2
    return Grid(replace(ref, dtype=INT16), INT16, rows, cols * times, pitch * times)


def _value(of: Recipe, dtype: DType) -> tuple[DType, Any]:
    carrier, number = fill_number(pad_value(of.attr("pad"), dtype), dtype)
    return carrier or dtype, number


def _fill(of: Recipe) -> Draft:
    draft = Draft()
    into, x = of.tile("into"), of.tile("x")
    _filled(draft, of, Ref("into"), into, x)
    return draft


def _filled(draft: Draft, of: Recipe, dst: Ref, into: TileType, x: TileType) -> None:
    """Append what fills `dst`, of the type `into`, and puts the valid part of `x` there."""
    rows, cols = _extent(x)
    carrier, number = _value(of, into.dtype)
    target, source = _halves(dst, into), _halves(Ref("x"), x)
    times = into.dtype.bytes // 2
    draft.add(Instr("Duplicate", (replace(dst, dtype=carrier), number, into.span_elements)))
    count = rows if isinstance(rows, int) else source.rows
    if isinstance(cols, int):
        _lanes(draft, target, source, count, cols * times)
    else:
        length = mul(_inside(cols, source.cols // times), times)
        for row in range(count):
            here, there = moved(target.ref, row * target.pitch), moved(source.ref, row * source.pitch)
            draft.add(Instr("Or", (here, there, there, length)))
    if not isinstance(rows, int):
        _rows_below(draft, of, dst, into, _inside(rows, source.rows), source.rows)


def _lanes(draft: Draft, target: Grid, source: Grid, rows: int, lanes: int) -> None:
    """Copy the first `lanes` 16-bit lanes of each row."""
    step = source.pitch // INT16.block
    strides = (target.pitch // INT16.block, step, step)
    chunks = range(0, lanes, INT16.lanes)
    if rows == 1 or max(strides) > MAX_STRIDE or rows < len(chunks):
        for row in range(rows):
            here, there = moved(target.ref, row * target.pitch), moved(source.ref, row * source.pitch)
            draft.add(combine_run("Or", here, there, there, lanes))
        return
    for first, count in shares(rows, MAX_REPEAT):
        for lane in chunks:
            here = moved(target.ref, first * target.pitch + lane)
            there = moved(source.ref, first * source.pitch + lane)
            draft.add(combine("Or", here, there, there, min(INT16.lanes, lanes - lane), count, strides))


def _rows_below(draft: Draft, of: Recipe, dst: Ref, tile: TileType, row: Index, rows: int) -> None:
    """Fill the rows of a tile from `row` to `rows`."""
    carrier, number = _value(of, tile.dtype)
    pitch = geometry(tile)[2]
    start = moved(replace(dst, dtype=carrier), mul(row, pitch))
    count = mul(sub(rows, row), pitch)
    if count != 0:
        draft.add(Instr("Duplicate", (start, number, count)))


def _fill_in_place(of: Recipe) -> Draft:
    draft = Draft()
    tile, x = of.tile("into"), of.tile("x")
    if x.valid is None:
        return draft
    rows, cols = _extent(x)
    if cols == geometry(tile)[1]:
        _rows_below(draft, of, Ref("into"), tile, _inside(rows, geometry(tile)[0]), geometry(tile)[0])
        return draft
    area = draft.area(tile.bytes // tile.dtype.bytes, tile.dtype)
    _filled(draft, of, area, tile, x)
    whole = _halves(Ref("into"), tile)
    copy_blocks(draft, whole, replace(whole, ref=replace(area, dtype=INT16)))
    return draft


def _fill_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    x = inputs["x"]
    value: Any = int(attrs["pad"] == "one")
    if attrs["pad"] in ("min", "max"):
        sign = -1 if attrs["pad"] == "min" else 1
        floating = x.dtype.is_floating_point
        value = sign * float("inf") if floating else getattr(torch.iinfo(x.dtype), attrs["pad"])
    made = torch.full(tuple(attrs.get("shape") or x.shape), value, dtype=x.dtype)
    part = tuple(slice(0, n) for n in attrs.get("valid") or x.shape)
    made[part] = x[part]
    return made


PAD = Field(
    name="pad",
    kind="word",
    doc="`zero` for sums, `min` (-inf, or the lowest integer) for a maximum, `max` for a minimum, `one` for a product",
    words=PADS,
    meanings={
        "zero": "0, which a sum does not see",
        "min": "minus infinity, or the lowest integer: a maximum does not see it",
        "max": "plus infinity, or the largest integer: a minimum does not see it",
        "one": "1, which a product does not see",
    },
)

for _name, _doc, _more in (
    ("fillpad", "a tile whose lanes beyond the valid extent hold a pad; all of it is valid", False),
    ("fillpad_inplace", "fill the lanes of a tile beyond its valid extent, in place", False),
    ("fillpad_expand", "a larger tile with the valid part of another in its corner, and a pad elsewhere", True),
):
    _place = _name == "fillpad_inplace"
    define(
        OpDef(
            name=_name,
            family="pad",
            doc=_doc,
            fields=(
                INTO,
                X,
                *((Field(name="shape", kind="ints", doc="the new extents", examples=([64, 128],)),) if _more else ()),
                replace(PAD, examples=("zero",)),
            ),
            role="rearrange",
            pipe="v",
            infer=_infer_expand if _more else _infer_fill,
            dtypes=FILLED,
            dtype_of="x",
            torch=_fill_meaning,
            recipe=steps_of(_fill_in_place if _place else _fill),
            scratch=areas_of(_fill_in_place if _place else _fill),
            spaces=in_vec("into", "x"),
            no_alias=frozenset() if _place else frozenset({"x"}),
            reuses="x" if _place else None,
            function=_name,
            example=f"- {_name}: {{into: y, x: t, {'shape: [64, 128], ' if _more else ''}pad: zero}}",
        )
    )


# --- set_validshape -------------------------------------------------------------------------------------------------


def _infer_valid(inference: Inference) -> ValueType:
    (x,) = two_axes(inference, "x")
    valid = inference.attr("valid")
    check_rank(inference, x.shape, valid=valid)
    for axis, (part, whole) in enumerate(zip(valid, x.valid or x.shape, strict=True)):
        high = bounds(part)[1]
        beyond = bounds(sub(part, whole))[0]
        if (beyond is not None and beyond > 0) or (high is not None and high < 0) or (part == 0):
            raise inference.fail(
                rules.OUT_OF_BOUNDS,
                f"axis {axis} of `{inference.operands['x'].name}` has {to_text(whole)} valid elements, of which "
                f"{to_text(part)} are to stay valid",
                "valid",
                helps=(f"`valid` holds 1 to {to_text(whole)} there; `fillpad` makes more of a tile valid",),
            )
    return replace(x, valid=None if tuple(valid) == x.shape else tuple(valid))


def _same(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    return inputs["x"]


define(
    OpDef(
        name="set_validshape",
        family="pad",
        doc="the same tile of which only a part is valid: stores write that part, reductions take it alone",
        fields=(
            INTO,
            X,
            Field(
                name="valid",
                kind="exprs",
                doc="rows and columns that are valid, counted from the first",
                examples=(["min(64, M - i * 64)", 128],),
            ),
        ),
        role="view",
        pipe="v",
        infer=_infer_valid,
        dtypes=ANY,
        dtype_of="x",
        torch=_same,
        recipe=no_steps,
        scratch=no_scratch,
        spaces=in_vec("into", "x"),
        function="set_validshape",
        example="- set_validshape: {into: y, x: t, valid: [40, 128]}",
    )
)
