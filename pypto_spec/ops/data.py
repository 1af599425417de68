"""Movement of data: load from a tensor, store to one, and move between tiles."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.dtype import BF16, FP16, FP32, INT8, INT16, INT32, DType
from pypto_spec.ir.expr import Index, to_text
from pypto_spec.ir.instr import Instr, Ref, Step, Word
from pypto_spec.ir.opdef import Field, Inference, OpDef, Recipe
from pypto_spec.ir.types import Access, Layout, Memory, TensorType, TileType, ValueType
from pypto_spec.ops.build import ANY, INTO, VEC, geometry, in_vec, listing, no_scratch, poison, shape_text, static_shape
from pypto_spec.ops.registry import define
from pypto_spec.ops.steps import copy_steps, part
from pypto_spec.ops.window import (
    UnsupportedWindowError,
    check_bounds,
    check_rank,
    copies,
    place_valid,
    place_window,
    reached_low,
    runs,
)

AT = Field(name="at", kind="exprs", doc="first element of the window, one index per axis of the tensor")
ATOMIC: tuple[DType, ...] = (FP32, FP16, BF16, INT32, INT16, INT8)
"""Dtypes of atomic addition in GM on dav-2201."""


def _tensor(inference: Inference, field: str) -> TensorType:
    found = inference.type(field)
    if isinstance(found, TensorType):
        return found
    name = inference.operands[field].name
    raise inference.fail(
        rules.LEVEL_MIX,
        f"`{field}` of `{inference.defn.name}` is a tensor argument, found the tile `{name}`",
        field,
        label="not a tensor",
        helps=(f"to copy or cut the tile use `- move: {{into: y, from: {name}}}` or `slice`",),
    )


# --- load -----------------------------------------------------------------------------------------------------------


def _infer_load(inference: Inference) -> ValueType:
    tensor = _tensor(inference, "from")
    shape, at, valid = static_shape(inference, "shape"), inference.attr("at"), inference.attr("valid")
    check_rank(inference, tensor.shape, "from", at=at, shape=shape, valid=valid)
    extent: tuple[Index, ...] = shape if valid is None else tuple(valid)
    if valid is not None:
        for axis, (part_extent, full) in enumerate(zip(valid, shape, strict=True)):
            low = None if isinstance(part_extent, int) else reached_low(part_extent, inference.walked)
            if low is not None and low < 0:
                raise inference.fail(
                    rules.OUT_OF_BOUNDS,
                    f"axis {axis} of the tile has {to_text(part_extent)} valid elements, which comes down to {low}",
                    "valid",
                    helps=(f"let the loop end after as many rounds as there are tiles of {full}, or use an `if`",),
                )
            if isinstance(part_extent, int) and not 0 < part_extent <= full:
                raise inference.fail(
                    rules.OUT_OF_BOUNDS,
                    f"axis {axis} of the tile has {full} elements, of which {part_extent} are to be valid",
                    "valid",
                    helps=(f"`valid` holds 1 to {full} there",),
                )
    check_bounds(inference, tensor.shape, at, extent, "from")
    tile = TileType(tensor.dtype, shape, inference.attr("memory"), valid=None if extent == shape else extent)
    _check_copies(inference, tile, tensor, at, shape, extent, "from", out=False)
    return tile


def _check_copies(
    inference: Inference,
    tile: TileType,
    tensor: TensorType,
    at: tuple[Index, ...],
    shape: tuple[int, ...],
    valid: tuple[Index, ...],
    field: str,
    *,
    out: bool,
) -> None:
    name = inference.operands[field].name
    if tile.order is Layout.DN and (tensor.shape[-1] != 1 or _spread(tensor, shape)):
        raise inference.fail(
            rules.COLUMN_WINDOW,
            f"{shape_text(shape)} is one column of `{name}` {shape_text(tensor.shape)}: its elements lie apart in GM, "
            "and a column vector is dense on chip",
            "at" if out else "shape",
            label="one column of a wider tensor",
            helps=_column_help(inference, name, tile.dtype, shape, tensor, out),
        )
    try:
        list(copies(tile, runs(tensor, at, shape, valid), out=out))
    except UnsupportedWindowError as reason:
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"the window {shape_text(shape)} of `{name}` {shape_text(tensor.shape)} cannot be copied: {reason}",
            "shape" if inference.attrs.get("shape") is not None else field,
            helps=("copy it in a loop over the outer axes, with extent 1 there",),
        ) from None


def _spread(tensor: TensorType, shape: tuple[int, ...]) -> bool:
    """Whether the elements of a column window lie apart in GM."""
    rows = next((axis for axis in reversed(range(len(shape) - 1)) if shape[axis] != 1), None)
    return rows is not None and tensor.pitches is not None and tensor.pitches[rows] != 1


def _column_help(
    inference: Inference, name: str, dtype: DType, shape: tuple[int, ...], tensor: TensorType, out: bool
) -> tuple[str, ...]:
    narrow = shape_text((*tensor.shape[:-1], 1))
    if out:
        return (
            f"declare a tensor of shape {narrow} for the result",
            "or compute all columns of the tile and store whole rows",
        )
    block = dtype.block
    wide, part_valid = shape_text((*shape[:-1], block)), shape_text(shape)
    return (
        f"load {block} columns of which one is valid, and reduce them: `- load: {{into: wide, from: {name}, at: "
        f"{shape_text(inference.attr('at'))}, shape: {wide}, valid: {part_valid}}}` then "
        "`- row_max: {into: column, x: wide}`",
        f"or give the column as a tensor of its own, of shape {narrow}",
    )


def _load_recipe(of: Recipe) -> tuple[Step, ...]:
    tensor = of.value("from").type
    assert isinstance(tensor, TensorType)
    shape = of.attr("shape")
    return tuple(copies(of.tile("into"), runs(tensor, of.attr("at"), shape, of.attr("valid") or shape), out=False))


def _window(at: Any, valid: Any) -> tuple[slice, ...]:
    return tuple(slice(a, a + n) for a, n in zip(at, valid, strict=True))


def _load_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    shape = tuple(attrs["shape"])
    valid = tuple(attrs.get("valid") or shape)
    tile = poison(torch, shape, inputs["from"].dtype)
    tile[tuple(slice(0, n) for n in valid)] = inputs["from"][_window(attrs["at"], valid)]
    return tile


# --- store ----------------------------------------------------------------------------------------------------------


def _infer_store(inference: Inference) -> None:
    tensor = _tensor(inference, "to")
    tile = inference.type("from")
    name, source = inference.operands["to"].name, inference.operands["from"].name
    if not isinstance(tile, TileType):
        raise inference.fail(
            rules.LEVEL_MIX,
            f"`store` takes a tile, found `{source}`, which is not on chip",
            "from",
            helps=(f"bind the tensor in a formula instead: `- let: {name} = {source}`",),
        )
    if tensor.access is Access.IN:
        raise inference.fail(
            rules.WRONG_ACCESS,
            f"`{name}` is declared `access: in`, so nothing can be stored to it",
            "to",
            helps=(
                f"declare it `access: out`, or `inout` if its old contents are read: `{name}: {{..., access: out}}`",
            ),
        )
    if tile.dtype != tensor.dtype:
        raise inference.fail(
            rules.DTYPE_MISMATCH,
            f"`store` of the {tile.dtype} tile `{source}` to the {tensor.dtype} tensor `{name}`",
            "to",
            label=f"{tensor.dtype} here",
            helps=(f"cast it first: `- cast: {{into: {source}_{tensor.dtype}, x: {source}, dtype: {tensor.dtype}}}`",),
        )
    if inference.attr("atomic") == "add" and tile.dtype not in ATOMIC:
        raise inference.fail(
            rules.DTYPE_UNSUPPORTED,
            f"atomic addition does not exist for {tile.dtype}; it takes {listing([d.name for d in ATOMIC])}",
            "atomic",
            helps=("cast the tile, and declare the tensor, as one of these",),
        )
    window = _store_window(inference, tile, tensor)
    at = inference.attr("at")
    check_rank(inference, tensor.shape, "to", at=at)
    valid = place_valid(tile.valid or tile.shape, tile.shape, window)
    check_bounds(inference, tensor.shape, at, valid, "to")
    _check_copies(inference, tile, tensor, at, window, valid, "to", out=True)


def _store_window(inference: Inference, tile: TileType, tensor: TensorType) -> tuple[int, ...]:
    rank = len(tensor.shape)
    if inference.attr("shape") is None:
        window = place_window(tile.shape, rank)
    else:
        window = static_shape(inference, "shape")
        check_rank(inference, tensor.shape, "to", shape=window)
        window = window if prod(window) == prod(tile.shape) and window[-1] == tile.cols else None
    if window is None:
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"`store` of a tile {shape_text(tile.shape)} to `{inference.operands['to'].name}` "
            f"{shape_text(tensor.shape)}: the tile does not fit its axes",
            "shape" if inference.attr("shape") is not None else "from",
            helps=("`shape` gives the window in the tensor: as many elements, and the same last extent",),
        )
    return window


def _store_recipe(of: Recipe) -> tuple[Step, ...]:
    tile, tensor = of.tile("from"), of.value("to").type
    assert isinstance(tensor, TensorType)
    window = of.attr("shape") or place_window(tile.shape, len(tensor.shape))
    assert window is not None
    valid = place_valid(tile.valid or tile.shape, tile.shape, window)
    steps = tuple(copies(tile, runs(tensor, of.attr("at"), window, valid), out=True))
    if of.attr("atomic") == "none":
        return steps
    return (Instr("SetAtomicAdd", (), (tile.dtype.cpp,)), *steps, Instr("SetAtomicNone", ()))


def _store_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    """The tensor after the store; `attrs["valid"]` is the tile's valid extent where it is partial."""
    tile, made = inputs["from"], inputs["to"].clone()
    shape = attrs.get("shape") or place_window(tuple(tile.shape), made.dim())
    assert shape is not None
    valid = place_valid(attrs.get("valid") or tuple(tile.shape), tuple(tile.shape), shape)
    part_tile = tile.reshape(shape)[tuple(slice(0, n) for n in valid)]
    where = _window(attrs["at"], valid)
    made[where] = made[where] + part_tile if attrs.get("atomic") == "add" else part_tile
    return made


# --- move -----------------------------------------------------------------------------------------------------------

REDUCED_ROWS = 248
"""Rows of one WholeReduceMax that makes a column dense: a multiple of 8, so that each call starts on a 32 B block."""


def _infer_move(inference: Inference) -> ValueType:
    tile = inference.type("from")
    if not isinstance(tile, TileType):
        name = inference.operands["from"].name
        raise inference.fail(
            rules.LEVEL_MIX,
            f"`move` takes a tile, found `{name}`, which is not on chip",
            "from",
            helps=(f"bring it on chip with `- load: {{into: t, from: {name}, at: [...], shape: [...]}}`",),
        )
    return TileType(tile.dtype, tile.shape, inference.attr("memory"), valid=tile.valid)


def _move_recipe(of: Recipe) -> tuple[Step, ...]:
    into, source = part(of, "into"), part(of, "from")
    if geometry(into.tile)[:2] == geometry(source.tile)[:2]:
        return tuple(copy_steps(into, source))
    assert into.tile.order is Layout.DN, f"move from {source.tile} to {into.tile}"
    assert source.tile.cols == 1, f"move from {source.tile} to {into.tile}"
    pitch = source.tile.row_pitch
    return tuple(
        Instr(
            "WholeReduceMax",
            (
                Ref("into", row),
                Ref("from", row * pitch),
                1,
                min(REDUCED_ROWS, source.tile.rows - row),
                1,
                1,
                pitch // source.tile.dtype.block,
                Word("ReduceOrder::ORDER_ONLY_VALUE"),
            ),
        )
        for row in range(0, source.tile.rows, REDUCED_ROWS)
    )


def _move_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    return inputs["from"].clone()


define(
    OpDef(
        name="load",
        family="data",
        doc="copy a window of a tensor into a new tile",
        fields=(
            INTO,
            Field(name="from", kind="tensor", doc="the tensor to read", examples=("x",)),
            AT,
            Field(name="shape", kind="ints", doc="extents of the window, one per axis, compile-time"),
            Field(
                name="valid",
                kind="exprs",
                doc="extents that exist where the window reaches past the end; the rest of the tile is undefined",
                required=False,
                examples=(["min(64, M - i * 64)", 128],),
            ),
            Field(name="memory", kind="memory", doc="where the tile lives", required=False, default=Memory.VEC),
        ),
        role="move",
        pipe="mte2",
        infer=_infer_load,
        dtypes=ANY,
        dtype_of="from",
        torch=_load_meaning,
        recipe=_load_recipe,
        scratch=no_scratch,
        spaces={"into": VEC},
        effects="reads_gm",
        example="- load: {into: t, from: x, at: [i * 64, 0], shape: [64, 128]}",
    )
)

define(
    OpDef(
        name="store",
        family="data",
        doc="copy the valid part of a tile into a window of a tensor",
        fields=(
            Field(name="from", kind="tile", doc="the tile to write", examples=("y",)),
            Field(name="to", kind="tensor", doc="the tensor to write", examples=("out",)),
            AT,
            Field(
                name="shape",
                kind="ints",
                doc="the window in the tensor's axes, where it is not the tile's shape behind axes of extent 1",
                required=False,
            ),
            Field(
                name="atomic",
                kind="word",
                doc="`add`: add to what is there, safely against other cores, in any order",
                required=False,
                default="none",
                words=("none", "add"),
            ),
        ),
        role="move",
        pipe="mte3",
        infer=_infer_store,
        dtypes=ANY,
        dtype_of="from",
        torch=_store_meaning,
        recipe=_store_recipe,
        scratch=no_scratch,
        spaces={"from": VEC},
        effects="writes_gm",
        example="- store: {from: y, to: out, at: [i * 64, 0]}",
    )
)

define(
    OpDef(
        name="move",
        family="data",
        doc="copy a tile into a new dense tile",
        fields=(
            INTO,
            Field(name="from", kind="tile", doc="the tile to copy", examples=("t",)),
            Field(name="memory", kind="memory", doc="where the copy lives", required=False, default=Memory.VEC),
        ),
        role="move",
        pipe="v",
        infer=_infer_move,
        dtypes=ANY,
        dtype_of="from",
        torch=_move_meaning,
        recipe=_move_recipe,
        scratch=no_scratch,
        spaces=in_vec("into", "from"),
        no_alias=frozenset({"from"}),
        example="- move: {into: u, from: t}",
    )
)
