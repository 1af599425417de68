"""Load: a window of a tensor comes on chip, to `vec` row by row, to `mat` as fractals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.expr import Index
from pypto_spec.ir.instr import Step
from pypto_spec.ir.opdef import Field, Inference, OpDef, Recipe
from pypto_spec.ir.types import Layout, Memory, TensorType, TileType, ValueType
from pypto_spec.ops.build import ANY, INTO, no_scratch, poison, static_shape
from pypto_spec.ops.data.windows import AT, calls, check_copies, tensor_operand
from pypto_spec.ops.registry import define
from pypto_spec.ops.window import check_bounds, check_rank, check_valid, runs

LAYOUT = Field(
    name="layout",
    kind="word",
    doc="how `mat` or `left` holds it: `nz` or `zz`, fractals, or `nd`, one row as it is; by default `nd` for one row",
    required=False,
    words=(Layout.NZ.value, Layout.ZZ.value, Layout.ND.value),
    meanings={
        Layout.NZ.value: "fractals by columns, rows within them: what `mat` holds",
        Layout.ZZ.value: "fractals by rows, rows within them: what `left` holds",
        Layout.ND.value: "one row as it is",
    },
)


def written_layout(inference: Inference, rows: int) -> Layout | None:
    """The layout a statement asks for, None where it is the implicit one."""
    word = inference.attr("layout")
    memory = inference.attr("memory")
    if word is None:
        return None
    layout = Layout(word)
    fits = {Memory.MAT: (Layout.NZ, Layout.ND), Memory.LEFT: (Layout.ZZ, Layout.ND)}.get(memory, ())
    if layout not in fits or (layout is Layout.ND and rows != 1):
        allowed = [f"`{one.value}`" for one in fits if one is not Layout.ND or rows == 1]
        where = "a memory that is not written" if memory is None else f"`{memory.value}`"
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"a tile of {rows} rows in {where} is not stored as `{word}`",
            "layout",
            label=f"`{word}` here",
            helps=(f"write {' or '.join(allowed)}, or leave `layout` out" if allowed else "leave `layout` out",),
        )
    return None if TileType(DEFAULT, (rows, 1), memory).order is layout else layout


SPACES = (Memory.VEC, Memory.MAT)
"""Where a load leads."""
DEFAULT = ANY[0]
"""Any dtype: the implicit layout does not depend on it."""


def _infer_load(inference: Inference) -> ValueType:
    tensor = tensor_operand(inference, "from")
    shape, at, valid = static_shape(inference, "shape"), inference.attr("at"), inference.attr("valid")
    check_rank(inference, tensor.shape, "from", at=at, shape=shape, valid=valid)
    extent: tuple[Index, ...] = shape if valid is None else tuple(valid)
    check_valid(inference, shape, valid)
    check_bounds(inference, tensor.shape, at, extent, "from")
    layout = written_layout(inference, TileType(tensor.dtype, shape).rows)
    written = inference.attr("memory")  # where a load does not lead InferTileMemorySpace says which way does
    memory = written if written in SPACES else None
    tile = TileType(tensor.dtype, shape, memory, layout, None if extent == shape else extent)
    check_copies(inference, tile, tensor, at, shape, extent, "from", out=False)
    return tile


def _load_recipe(of: Recipe) -> tuple[Step, ...]:
    tensor = of.value("from").type
    assert isinstance(tensor, TensorType)
    shape = of.attr("shape")
    return tuple(calls(of.tile("into"), runs(tensor, of.attr("at"), shape, of.attr("valid") or shape), out=False))


def window_of(at: Any, valid: Any) -> tuple[slice, ...]:
    """The slices of a window, one an axis."""
    return tuple(slice(a, a + n) for a, n in zip(at, valid, strict=True))


def _load_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    shape = tuple(attrs["shape"])
    valid = tuple(attrs.get("valid") or shape)
    tile = poison(torch, shape, inputs["from"].dtype)
    tile[tuple(slice(0, n) for n in valid)] = inputs["from"][window_of(attrs["at"], valid)]
    return tile


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
            Field(
                name="memory",
                kind="memory",
                doc="where the tile lives: `vec` or `mat`; by default what its uses ask for",
                required=False,
            ),
            LAYOUT,
        ),
        role="move",
        pipe="mte2",
        infer=_infer_load,
        dtypes=ANY,
        dtype_of="from",
        torch=_load_meaning,
        recipe=_load_recipe,
        scratch=no_scratch,
        spaces={"into": SPACES},
        effects="reads_gm",
        example="- load: {into: t, from: x, at: [i * 64, 0], shape: [64, 128]}",
    )
)
