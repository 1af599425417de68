"""Views: slice and reshape. No instruction; the result shares its operand's buffer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from pypto_spec.diagnostics.model import CompileError, Repair
from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.dtype import BLOCK_BYTES
from pypto_spec.ir.expr import Index, add, maximum, minimum, mod, mul, sub, to_text
from pypto_spec.ir.nodes import Op
from pypto_spec.ir.opdef import Field, Inference, OpDef
from pypto_spec.ir.types import ArrayType, Layout, Memory, TileType, ValueType
from pypto_spec.ops.build import (
    ANY,
    FLOATS,
    INTO,
    X,
    check_dtype,
    geometry,
    in_vec,
    no_scratch,
    no_steps,
    shape_text,
    shaped,
    static_shape,
)
from pypto_spec.ops.cube.mmad import OPERANDS
from pypto_spec.ops.registry import define
from pypto_spec.ops.shuffle import GATHERED
from pypto_spec.ops.window import check_bounds, check_rank, spread_valid


def view_offset(op: Op) -> Index:
    """Bytes from the start of a view's operand to the start of the view."""
    if op.name != "slice":
        return 0
    x = op.operands["x"].type
    at = op.attrs["at"]
    assert isinstance(x, TileType)
    assert isinstance(at, tuple)
    return mul(_elements(x, at), x.dtype.bytes)


def _elements(x: TileType, at: Sequence[Index]) -> Index:
    row = _row(x.shape, at)
    return row if x.order is Layout.DN else add(mul(row, x.row_pitch), at[-1])


def _row(shape: Sequence[int], at: Sequence[Index]) -> Index:
    row: Index = 0
    for extent, index in zip(shape[:-1], at[:-1], strict=True):
        row = add(mul(row, extent), index)
    return row


# --- slice ----------------------------------------------------------------------------------------------------------


def _infer_slice(inference: Inference) -> ValueType:
    (x,) = shaped(inference, "x")
    shape, at = static_shape(inference, "shape"), inference.attr("at")
    check_rank(inference, x.shape, at=at, shape=shape)
    check_bounds(inference, x.shape, at, shape)
    if isinstance(x, ArrayType):
        return ArrayType(x.dtype, shape)
    check_rows(inference, x, shape)
    aligned = is_aligned(x, at)
    if not aligned and x.dtype.bytes not in GATHERED:
        raise _unaligned(inference, x, at)
    rows = prod(shape[:-1])
    valid = None
    if x.valid is not None:
        valid = tuple(minimum(n, maximum(0, sub(v, a))) for n, v, a in zip(shape, x.valid, at, strict=True))
        valid = None if valid == shape else valid
    if rows == 1 or x.order is Layout.DN or not aligned:
        return TileType(x.dtype, shape, x.memory, valid=valid)
    if shape[-1] == 1:
        return _column(inference, x, shape, valid)
    whole = TileType(x.dtype, shape, x.memory)
    pitch = None if whole.row_pitch == x.row_pitch else x.row_pitch
    return TileType(x.dtype, shape, x.memory, x.layout, valid, pitch)


def _column(inference: Inference, x: TileType, shape: tuple[int, ...], valid: tuple[Index, ...] | None) -> TileType:
    if x.dtype not in FLOATS:
        raise inference.fail(
            rules.COLUMN_WINDOW,
            f"one column of a wider {x.dtype} tile cannot be made dense; that exists for fp32 and fp16",
            "shape",
            helps=(f"take {x.dtype.block} columns, or cast the tile to fp32 first",),
        )
    pitch = None if x.row_pitch == x.dtype.block else x.row_pitch
    return TileType(x.dtype, shape, x.memory, Layout.ND, valid, pitch)


def check_rows(inference: Inference, x: TileType, shape: tuple[int, ...]) -> None:
    """The rows of the slice must stand at one distance: the axes inside the first one that is kept are whole."""
    first = next((axis for axis, extent in enumerate(shape[:-1]) if extent != 1), len(shape))
    if shape[first + 1 : -1] == x.shape[first + 1 : -1]:
        return
    raise inference.fail(
        rules.SHAPE_MISMATCH,
        f"the rows of slice {shape_text(shape)} of {shape_text(x.shape)} do not stand at one distance",
        "shape",
        helps=("cut the outermost axis only; the axes between it and the last one stay whole",),
    )


def is_aligned(x: TileType, at: Sequence[Index]) -> bool:
    """Whether a slice of a tile that starts there is known to start on a block of 32 B; else it is a copy.

    What is no view becomes `extract` in CanonicalizeTileSlice, which gathers elements of 16 and 32 bits from anywhere.
    """
    return mod(_row(x.shape, at) if x.order is Layout.DN else at[-1], x.dtype.block) == 0


def _unaligned(inference: Inference, x: TileType, at: Sequence[Index]) -> CompileError:
    """The error for a slice that is neither a view nor a copy."""
    block = x.dtype.block
    start = _row(x.shape, at) if x.order is Layout.DN else at[-1]
    what = "row" if x.order is Layout.DN else "column"
    fixes: tuple[Repair, ...] = ()
    if isinstance(start, int):
        low = start // block * block
        near = f"{low} or {low + block}"
        fixes = tuple(
            Repair("set", inference.loc.field("at"), ("at", len(at) - 1), column, title=f"start at column {column}")
            for column in (low, low + block)
            if what == "column" and column + inference.attr("shape")[-1] <= x.shape[-1]
        )
        ways: tuple[str, ...] = (
            f"start at {what} {near}, the nearest that are aligned",
            "or store the tile and `load` the window from its tensor",
        )
    else:
        ways = (f"make the start a multiple of {block}, e.g. `i * {block}`",)
    return inference.fail(
        rules.UNALIGNED_SLICE,
        f"slices of {x.dtype} tiles start at a multiple of {block} {what}s ({BLOCK_BYTES} B), found {what} "
        f"{to_text(start)}",
        "at",
        label=f"{what} {to_text(start)} is {_bytes(start, x)} into the {'tile' if what == 'row' else 'row'}",
        helps=ways,
        fixes=fixes,
        figures=(("block_elements", block), ("block_bytes", BLOCK_BYTES)),
    )


def _bytes(start: Index, x: TileType) -> str:
    return f"{start * x.dtype.bytes} B" if isinstance(start, int) else "an unknown number of bytes"


def _slice_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    return inputs["x"][tuple(slice(a, a + n) for a, n in zip(attrs["at"], attrs["shape"], strict=True))]


# --- reshape --------------------------------------------------------------------------------------------------------


def _infer_reshape(inference: Inference) -> ValueType:
    (x,) = shaped(inference, "x")
    shape = static_shape(inference, "shape")
    if prod(shape) != prod(x.shape):
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"reshape of {shape_text(x.shape)} ({prod(x.shape)} elements) to {shape_text(shape)} ({prod(shape)})",
            "shape",
            label=f"{prod(shape)} elements",
            helps=("the number of elements must stay the same",),
        )
    if isinstance(x, ArrayType):
        return ArrayType(x.dtype, shape)
    result = TileType(x.dtype, shape, x.memory)
    same = _rows_and_cols(x) == _rows_and_cols(result)
    if same:
        result = TileType(x.dtype, shape, x.memory, x.layout, pitch=x.pitch)
    elif not (_gapless(x) and _gapless(result)):
        raise _padded(inference, x, result)
    return TileType(x.dtype, shape, x.memory, result.layout, _valid(inference, x, result), result.pitch)


def _rows_and_cols(tile: TileType) -> tuple[int, int]:
    return tile.rows, tile.cols


def _gapless(tile: TileType) -> bool:
    """Whether the elements follow each other without padding."""
    rows, cols, pitch = geometry(tile)
    return rows == 1 or pitch == cols


def _padded(inference: Inference, x: TileType, result: TileType) -> CompileError:
    culprit = x if not _gapless(x) else result
    pitch, used = (n * x.dtype.bytes for n in (culprit.row_pitch, culprit.cols))
    multiple = x.dtype.block
    return inference.fail(
        rules.RESHAPE_ILLEGAL,
        f"reshape of {shape_text(x.shape)} to {shape_text(result.shape)} would move elements: rows of {used} B start "
        f"every {pitch} B",
        "shape",
        label=f"each row of {shape_text(culprit.shape)} is followed by {pitch - used} B of padding",
        helps=(
            f"use column counts that are multiples of {multiple} ({BLOCK_BYTES} B) on both sides",
            "or store the tile and load it back in the other shape",
        ),
        figures=(("row_bytes", used), ("pitch_bytes", pitch)),
    )


def _valid(inference: Inference, x: TileType, result: TileType) -> tuple[Index, ...] | None:
    if x.valid is None:
        return None
    if [n for n in x.shape if n != 1] == [n for n in result.shape if n != 1]:
        return spread_valid(x.valid, x.shape, result.shape)
    raise inference.fail(
        rules.RESHAPE_ILLEGAL,
        f"reshape of a tile of which only {shape_text(x.valid)} of {shape_text(x.shape)} is valid to "
        f"{shape_text(result.shape)}",
        "shape",
        helps=("a partly valid tile can only gain or lose axes of extent 1",),
    )


def _reshape_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    return inputs["x"].reshape(tuple(attrs["shape"]))


define(
    OpDef(
        name="slice",
        family="view",
        doc="a window of a tile, without a copy; it starts on a 32 B boundary",
        fields=(
            INTO,
            X,
            Field(name="at", kind="exprs", doc="first row and column of the window", examples=([0, 64],)),
            Field(name="shape", kind="ints", doc="rows and columns of the window", examples=([64, 64],)),
        ),
        role="view",
        pipe="v",
        infer=_infer_slice,
        dtypes=ANY,
        dtype_of="x",
        torch=_slice_meaning,
        recipe=no_steps,
        scratch=no_scratch,
        spaces={"into": (Memory.VEC, Memory.MAT), "x": (Memory.VEC, Memory.MAT)},
        example="- slice: {into: y, x: a, at: [0, 64], shape: [64, 64]}",
    )
)

define(
    OpDef(
        name="reshape",
        family="view",
        doc="the same elements in another shape, without a copy",
        fields=(
            INTO,
            X,
            Field(name="shape", kind="ints", doc="the new extents", examples=([1, 64],)),
        ),
        role="view",
        pipe="v",
        infer=_infer_reshape,
        dtypes=ANY,
        dtype_of="x",
        torch=_reshape_meaning,
        recipe=no_steps,
        scratch=no_scratch,
        spaces=in_vec("into", "x"),
        function="reshape",
        example="- reshape: {into: y, x: a, shape: [1, 64]}",
    )
)


# --- transpose_view -------------------------------------------------------------------------------------------------


def _infer_transpose_view(inference: Inference) -> ValueType:
    x = inference.type("x")
    name = inference.operands["x"].name
    if not isinstance(x, TileType) or len(x.shape) < 2:
        raise inference.fail(
            rules.LEVEL_MIX,
            f"`transpose_view` sees a tile with its last two axes exchanged; `{name}` is {x}",
            "x",
            helps=("of whole arrays, `matmul` takes operands as they are: `a_trans: true`, `b_trans: true`",),
        )
    check_dtype(inference, x.dtype)
    if x.order is Layout.ND and x.memory is Memory.MAT:
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"`{name}` is one row as it is; only fractals can be seen transposed",
            "x",
            helps=(f"load `{name}` with `layout: nz`",),
        )
    layout = Layout.NZ if x.layout is Layout.ZN else Layout.ZN
    valid = None if x.valid is None else (*x.valid[:-2], x.valid[-1], x.valid[-2])
    return TileType(x.dtype, (*x.shape[:-2], x.shape[-1], x.shape[-2]), x.memory, layout, valid)


def _transpose_view_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    return inputs["x"].transpose(-1, -2)


define(
    OpDef(
        name="transpose_view",
        family="view",
        doc="a tile in `mat` with its last two axes exchanged, without a copy: a transposed operand of `matmul`",
        fields=(INTO, X),
        role="view",
        pipe="mte1",
        infer=_infer_transpose_view,
        dtypes=OPERANDS,
        dtype_of="x",
        torch=_transpose_view_meaning,
        recipe=no_steps,
        scratch=no_scratch,
        spaces={"into": (Memory.MAT,), "x": (Memory.MAT,)},
        example="- transpose_view: {into: bt, x: b}",
    )
)
