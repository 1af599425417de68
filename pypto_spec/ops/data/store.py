"""Store: the valid part of a tile goes to a window of a tensor, out of `vec` as it is, out of `acc` by the fixpipe."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from types import MappingProxyType
from typing import Any

from pypto_spec.diagnostics.model import accessed
from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.dtype import BF16, FP16, FP32, INT8, INT16, INT32, DType
from pypto_spec.ir.instr import Instr, Step
from pypto_spec.ir.opdef import Field, Inference, OpDef, Recipe
from pypto_spec.ir.types import Access, Memory, TensorType, TileType
from pypto_spec.ops.build import ANY, listing, no_scratch, shape_text, static_shape
from pypto_spec.ops.cube.fixpipe import to_gm
from pypto_spec.ops.cube.leaving import ON_THE_WAY, PHASE, QUANT, RELU, SCALES, check_leaving, left, way_of
from pypto_spec.ops.data.load import window_of
from pypto_spec.ops.data.windows import AT, calls, check_copies, tensor_operand
from pypto_spec.ops.registry import define
from pypto_spec.ops.repairs import cast_first
from pypto_spec.ops.window import check_bounds, check_rank, place_valid, place_window, runs

ATOMIC: tuple[DType, ...] = (FP32, FP16, BF16, INT32, INT16, INT8)
"""Dtypes of atomic addition in GM on dav-2201."""


def _infer_store(inference: Inference) -> None:
    tensor = tensor_operand(inference, "to")
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
            fixes=(accessed(name, "out"),),
        )
    if tile.memory is Memory.ACC:
        check_leaving(inference, tile, tensor)
    elif any(inference.attr(field) or field in inference.operands for field in ON_THE_WAY):
        field = next(f for f in ON_THE_WAY if inference.attr(f) or f in inference.operands)
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"`{field}` of `store` is done on the way out of an accumulator; `{source}` is no result of a product",
            field,
            label="for accumulators",
            helps=(
                "do it on the tile first"
                + (f": `- relu: {{into: {source}_1, x: {source}}}`" if field == "relu" else ""),
            ),
        )
    elif tile.dtype != tensor.dtype:
        raise inference.fail(
            rules.DTYPE_MISMATCH,
            f"`store` of the {tile.dtype} tile `{source}` to the {tensor.dtype} tensor `{name}`",
            "to",
            label=f"{tensor.dtype} here",
            helps=(f"cast it first: `- cast: {{into: {source}_{tensor.dtype}, x: {source}, dtype: {tensor.dtype}}}`",),
            fixes=cast_first(inference, "from", tensor.dtype),
        )
    if inference.attr("atomic") == "add" and tensor.dtype not in ATOMIC:
        raise inference.fail(
            rules.DTYPE_UNSUPPORTED,
            f"atomic addition does not exist for {tensor.dtype}; it takes {listing([d.name for d in ATOMIC])}",
            "atomic",
            helps=("cast the tile, and declare the tensor, as one of these",),
        )
    window = _store_window(inference, tile, tensor)
    at = inference.attr("at")
    check_rank(inference, tensor.shape, "to", at=at)
    valid = place_valid(tile.valid or tile.shape, tile.shape, window)
    check_bounds(inference, tensor.shape, at, valid, "to")
    check_copies(inference, tile, tensor, at, window, valid, "to", out=True)


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
    found = runs(tensor, of.attr("at"), window, valid)
    if tile.memory is Memory.ACC:
        steps = tuple(to_gm(tile, tensor.dtype, found, way_of(of)))
    else:
        steps = tuple(calls(tile, found, out=True))
    if of.attr("atomic") == "none":
        return steps
    return (Instr("SetAtomicAdd", (), (tensor.dtype.cpp,)), *steps, Instr("SetAtomicNone", ()))


def _store_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    """The tensor after the store; `attrs["valid"]` is the tile's valid extent where it is partial."""
    tile, made = inputs["from"], inputs["to"].clone()
    shape = attrs.get("shape") or place_window(tuple(tile.shape), made.dim())
    assert shape is not None
    valid = place_valid(attrs.get("valid") or tuple(tile.shape), tuple(tile.shape), shape)
    part_tile = left(torch, tile, inputs, attrs, made.dtype).reshape(shape)[tuple(slice(0, n) for n in valid)]
    where = window_of(attrs["at"], valid)
    made[where] = made[where] + part_tile if attrs.get("atomic") == "add" else part_tile
    return made


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
                meanings={
                    "none": "write over what is there",
                    "add": "add to what is there, safely against other cores, in any order",
                },
            ),
            RELU,
            QUANT,
            SCALES,
            PHASE,
        ),
        role="move",
        pipe="mte3",
        infer=_infer_store,
        dtypes=ANY,
        dtype_of="from",
        torch=_store_meaning,
        recipe=_store_recipe,
        scratch=no_scratch,
        spaces={"from": (Memory.VEC, Memory.ACC), "scales": (Memory.MAT,)},
        pipes=MappingProxyType({(Memory.VEC, Memory.GM): "mte3", (Memory.ACC, Memory.GM): "fix"}),
        effects="writes_gm",
        example="- store: {from: y, to: out, at: [i * 64, 0]}",
    )
)
