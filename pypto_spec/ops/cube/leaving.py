"""What may happen to an accumulator on its way out: the fields, their checks, and their meaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.dtype import FP32, INT64
from pypto_spec.ir.expr import Index, add, maximum, minimum, sub
from pypto_spec.ir.nodes import Condition
from pypto_spec.ir.opdef import Field, Inference, Recipe
from pypto_spec.ir.types import TensorType, TileType
from pypto_spec.ops.build import dtype_of_torch, listing, shape_text
from pypto_spec.ops.cube.fixpipe import Way, mode, outputs

RELU = Field(name="relu", kind="flag", doc="cut an accumulator at zero on its way out", required=False, default=False)
QUANT = Field(
    name="quant",
    kind="number",
    doc="the scale with which an accumulator is multiplied on its way to fp16 or int8; its low 13 bits are dropped",
    required=False,
    examples=(0.125,),
    number=FP32,
)
SCALES = Field(
    name="scales",
    kind="tile",
    doc="a scale for each column instead, a tile [1, N] of int64 in `mat`: the bits of an fp32 (for int8 results with "
    "bit 46 set)",
    required=False,
)
PHASE = Field(
    name="phase",
    kind="word",
    doc="for `unit_flag`: whether more is added to the accumulator behind this (`partial`) or not (`final`)",
    required=False,
    default="unspecified",
    words=("unspecified", "partial", "final"),
    meanings={
        "unspecified": "no unit flag: order is kept by flags and barriers",
        "partial": "more is added to the accumulator behind this",
        "final": "nothing more is added behind this",
    },
)
FINAL = Field(
    name="final",
    kind="condition",
    doc="with `phase: partial`, when nothing more is added behind this after all: one or several `==` joined by `and`",
    required=False,
    examples=("k == 448",),
)
UNIT_FLAGS: Mapping[str, int] = {"unspecified": 0, "partial": 2, "final": 3}
"""MmadParams.unitFlag and FixpipeParamsV220.unitFlag by phase: 2 keeps the flag of an accumulator, 3 hands it over."""


def flag_of(phase: str, final: Condition | None) -> Index:
    """The unit flag of a product: that of its phase, and where `final` holds that of `final`, as a run-time number."""
    return UNIT_FLAGS[phase] if final is None else sub(UNIT_FLAGS["final"], minimum(1, _distance(final)))


def is_distance(condition: Condition) -> bool:
    """Whether a condition is one of equalities that all hold."""
    if condition.op == "and":
        return all(isinstance(side, Condition) and is_distance(side) for side in (condition.left, condition.right))
    return condition.op == "=="


def _distance(condition: Condition) -> Index:
    """How far equalities are from all holding: 0 if they do."""
    left, right = condition.left, condition.right
    if isinstance(left, Condition):
        assert isinstance(right, Condition)
        return add(_distance(left), _distance(right))
    assert right is not None and not isinstance(right, Condition)
    return maximum(sub(left, right), sub(right, left))


ON_THE_WAY = ("relu", "quant", "scales")


def check_leaving(inference: Inference, tile: TileType, tensor: TensorType) -> None:
    """Refuse what the pipe cannot do between these two dtypes."""
    source, target = inference.operands["from"].name, inference.operands["to"].name
    scales = inference.operands.get("scales")
    scaled = inference.attr("quant") is not None or scales is not None
    if scales is not None and inference.attr("quant") is not None:
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            "`quant` is one scale and `scales` is one a column",
            "quant",
            label="a scale, beside `scales`",
            helps=("keep one of them",),
        )
    if mode(tile.dtype, tensor.dtype, Way(scale=1.0 if scaled else None)) is None:
        fits = [d.name for d in outputs(tile.dtype, scaled)]
        others = [d.name for d in outputs(tile.dtype, not scaled)]
        more = "without `quant`" if scaled else "with a scale, `quant: 0.125`,"
        helps = [f"declare `{target}` as {listing(fits)}"] if fits else []
        helps += [f"{more} it leaves as {listing(others)}"] if others else []
        raise inference.fail(
            rules.DTYPE_MISMATCH,
            f"the {tile.dtype} accumulator `{source}` cannot be stored to the {tensor.dtype} tensor `{target}`"
            + (" with a scale" if scaled else ""),
            "to",
            label=f"{tensor.dtype} here",
            helps=tuple(helps),
        )
    if scales is None:
        return
    kind = scales.type
    if not isinstance(kind, TileType) or kind.dtype is not INT64 or kind.shape != (1, tile.cols):
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"`scales` has one int64 for each of {tile.cols} columns, [1, {tile.cols}]; `{scales.name}` is {kind}",
            "scales",
            label=shape_text(getattr(kind, "shape", ())),
            helps=("load it from a tensor whose elements are the bits of fp32 scales",),
        )


def way_of(of: Recipe) -> Way:
    """What the statement asks for."""
    return Way(
        relu=of.attr("relu"),
        scale=of.attr("quant"),
        scales="scales" if of.has("scales") else None,
        unit_flag=UNIT_FLAGS[of.attr("phase")],
    )


def way_to_mat(of: Recipe) -> Way:
    """What a statement asks for that copies into L1."""
    return Way(relu=of.attr("relu"), unit_flag=UNIT_FLAGS[of.attr("phase")])


def left(torch: Any, tile: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any], dtype: Any) -> Any:
    """The values of an accumulator as they arrive; any other tile has its tensor's dtype and none of the fields."""
    made, scale = tile, attrs.get("quant")
    if scale is not None:
        made = made.to(torch.float32) * _dropped(torch, torch.tensor(scale, dtype=torch.float32))
    elif "scales" in inputs:
        bits = (inputs["scales"] & 0xFFFFFFFF).to(torch.int64)
        factors = bits.to(torch.int32).view(torch.float32)
        made = made.to(torch.float32) * _dropped(torch, factors)
    if attrs.get("relu"):
        made = made.clamp(min=0)
    if dtype == made.dtype:
        return made
    kind = dtype_of_torch(dtype)
    if kind is not None and not kind.is_float:
        return made.round().clamp(-128, 127).to(dtype)
    return made.to(dtype)


def _dropped(torch: Any, scale: Any) -> Any:
    """An fp32 without its 13 lowest bits, which the pipe does not have."""
    return (scale.view(torch.int32) & ~0x1FFF).view(torch.float32)
