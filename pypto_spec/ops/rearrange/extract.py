"""extract: a window of a tile becomes a new tile, within `vec` from any column on, or on its way to another memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any

from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.dtype import INT32, DType
from pypto_spec.ir.expr import Index, add, maximum, minimum, mod, mul, sub
from pypto_spec.ir.layouts import CUBE_MEMORIES
from pypto_spec.ir.opdef import Field, Inference, OpDef, Recipe
from pypto_spec.ir.types import Layout, Memory, TileType, ValueType
from pypto_spec.ops.build import (
    ANY,
    INTO,
    X,
    on_chip,
    static_shape,
    torch_dtype,
    two_axes,
)
from pypto_spec.ops.cube.copies import WITHIN, check_copy, cube_copy, stored_as
from pypto_spec.ops.ramp import ramp
from pypto_spec.ops.rearrange.common import column_of, slices, unaligned
from pypto_spec.ops.reduce_steps import Draft, Grid, areas_of, steps_of
from pypto_spec.ops.registry import define
from pypto_spec.ops.shuffle import GATHERED, copy_blocks, gather, grid_of, moved, shuffle, units
from pypto_spec.ops.view import check_rows
from pypto_spec.ops.window import check_bounds, check_rank


def _infer_extract(inference: Inference) -> ValueType:
    (x,) = on_chip(inference, "x")
    shape, at = static_shape(inference, "shape"), inference.attr("at")
    check_rank(inference, x.shape, at=at, shape=shape)
    check_bounds(inference, x.shape, at, shape)
    valid: tuple[Index, ...] | None = None
    if x.valid is not None:
        valid = tuple(minimum(n, maximum(0, sub(v, a))) for n, v, a in zip(shape, x.valid, at, strict=True))
        valid = None if valid == shape else valid
    memory: Memory | None = inference.attr("memory")
    if x.is_boxed or memory in CUBE_MEMORIES:
        return _cubeslices(inference, x, shape, at, valid)
    check_rows(inference, x, shape)
    column = x.order is not Layout.DN and shape[-1] == 1 and prod(shape) > 1
    if x.dtype.bytes not in GATHERED and not column and mod(column_of(x, at), x.dtype.block) != 0:
        raise unaligned(inference, "at", x, column_of(x, at))
    if column and x.dtype.bytes not in (2, 4):
        raise inference.fail(
            rules.COLUMN_WINDOW,
            f"one column of a wider {x.dtype} tile cannot be made dense; that exists for 16 and 32 bits",
            "shape",
            helps=(f"take {x.dtype.block} columns",),
        )
    return TileType(x.dtype, shape, memory or x.memory, valid=valid)


def _cubeslices(
    inference: Inference,
    x: TileType,
    shape: tuple[int, ...],
    at: tuple[Index, ...],
    valid: tuple[Index, ...] | None,
) -> TileType:
    """The window of a tile in a memory of the cube, or bound for one."""
    memory: Memory | None = inference.attr("memory")
    dtype: DType = inference.attr("dtype") or x.dtype
    two_axes(inference, "x")
    check_copy(inference, "x", x, memory, dtype, at)
    layout = None if memory is None else stored_as(x, memory, shape[0])
    return TileType(dtype, shape, memory, layout, valid)


def _extract(of: Recipe) -> Draft:
    draft = Draft()
    if of.tile("x").is_boxed:
        draft.steps.extend(cube_copy(of, "x", of.attr("at")))
        return draft
    into, src = grid_of(of, "into", draft), grid_of(of, "x", draft)
    x, at = of.tile("x"), of.attr("at")
    row, col = (0, at[-2]) if x.order is Layout.DN else (at[-2], at[-1])
    start = mul(col, units(x.dtype)[1])
    target = of.tile("into")
    if target.order is Layout.DN and x.order is not Layout.DN:
        _onecolumn_of(draft, into, src, row, start)
    elif mod(start, into.dtype.block) == 0:
        ref = moved(src.ref, add(mul(row, src.pitch), start))
        copy_blocks(draft, into, replace(src, ref=ref, rows=into.rows, cols=into.cols))
    else:
        shuffle(draft, into, src, (), column=start, row=row)
    return draft


def _onecolumn_of(draft: Draft, into: Grid, src: Grid, row: Index, col: Index) -> None:
    """One column of a wider tile as a dense vector."""
    size = into.dtype.bytes
    offsets = draft.area(into.cols, INT32)
    ramp(draft, offsets, INT32, into.cols, src.pitch * size)
    reach = into.cols * src.pitch
    gather(draft, into.ref, moved(src.ref, mul(row, src.pitch)), offsets, mul(col, size), into.cols, reach)


def _extract_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    made, dtype = inputs["x"][slices(attrs["at"], attrs["shape"])].clone(), attrs["dtype"]
    return made if dtype is None else made.to(torch_dtype(torch, dtype))


define(
    OpDef(
        name="extract",
        family="rearrange",
        doc="copy a window of a tile into a new dense tile; unlike a slice it may start at any column (8-bit types: at "
        "every 32nd)",
        fields=(
            INTO,
            X,
            Field(name="at", kind="exprs", doc="first row and column of the window", examples=([0, 3],)),
            Field(name="shape", kind="ints", doc="rows and columns of the window", examples=([64, 64],)),
            Field(
                name="memory",
                kind="memory",
                doc="where the copy lives: of a tile in `mat` also `left` and `right`, of an accumulator `mat`; by "
                "default what its uses ask for",
                required=False,
            ),
            Field(
                name="dtype",
                kind="dtype",
                doc="what an accumulator is rounded to on its way to `mat`; by default the tile's own",
                required=False,
            ),
        ),
        role="rearrange",
        pipe="v",
        infer=_infer_extract,
        dtypes=ANY,
        dtype_of="x",
        torch=_extract_meaning,
        recipe=steps_of(_extract),
        scratch=areas_of(_extract),
        spaces={
            "into": (Memory.VEC, Memory.LEFT, Memory.RIGHT, Memory.BIAS, Memory.MAT),
            "x": (Memory.VEC, Memory.MAT, Memory.ACC),
        },
        pipes=WITHIN,
        no_alias=frozenset({"x"}),
        function="extract",
        example="- extract: {into: y, x: a, at: [0, 3], shape: [64, 64]}",
    )
)
