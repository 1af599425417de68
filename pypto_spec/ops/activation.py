"""Leaky rectifiers: lrelu with one slope for all elements, prelu with a tile of slopes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pypto_spec.ir.dtype import DType
from pypto_spec.ir.instr import Number, Step
from pypto_spec.ir.opdef import Field, Inference, OpDef, Recipe
from pypto_spec.ir.types import ValueType
from pypto_spec.ops.build import (
    FLOATS,
    INTO,
    SCALAR,
    X,
    check_dtype,
    common_valid,
    fresh,
    in_float32,
    in_vec,
    infer_same,
    no_scratch,
    shaped,
)
from pypto_spec.ops.numbers import check_scalar, number_arg, torch_number
from pypto_spec.ops.registry import define
from pypto_spec.ops.steps import calls, part, scratch_like


def _infer(inference: Inference) -> ValueType:
    (x,) = shaped(inference, "x")
    check_dtype(inference, x.dtype, "x")
    check_scalar(inference, "slope", x.dtype)
    return fresh(x, valid=common_valid(x))


def _lrelu(of: Recipe) -> tuple[Step, ...]:
    x = part(of, "x")
    return tuple(calls("LeakyRelu", part(of, "into"), x, extra=(number_arg(of, "slope", x.tile.dtype),)))


def _zero(dtype: DType) -> tuple[Number]:
    return (Number(0.0, dtype),)


def _prelu(of: Recipe) -> tuple[Step, ...]:
    """max(x, 0) + slope * min(x, 0): one of the two is zero, so the sum rounds nothing."""
    into, x, slope = part(of, "into"), part(of, "x"), part(of, "slope")
    low = scratch_like(x.tile)
    zero = _zero(x.tile.dtype)
    return (
        *calls("Mins", low, x, extra=zero),
        *calls("Mul", low, low, slope),
        *calls("Maxs", into, x, extra=zero),
        *calls("Add", into, into, low),
    )


def _prelu_scratch(of: Recipe) -> tuple[int, ...]:
    return (scratch_like(of.tile("x")).tile.bytes,)


def _bent(torch: Any, x: Any, slope: Any) -> Any:
    return in_float32(torch, lambda a, s: torch.where(a >= 0, a, a * s), x, slope)


def _lrelu_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    x = inputs["x"]
    return _bent(torch, x, torch_number(torch, inputs, attrs, "slope", x.dtype).expand_as(x))


def _prelu_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    return _bent(torch, inputs["x"], inputs["slope"])


define(
    OpDef(
        name="lrelu",
        family="activation",
        doc="x where it is not negative, else x * slope; element by element",
        fields=(INTO, X, replace(SCALAR, name="slope", examples=(0.01, "alpha"))),
        role="elementwise",
        pipe="v",
        infer=_infer,
        dtypes=FLOATS,
        dtype_of="x",
        torch=_lrelu_meaning,
        recipe=_lrelu,
        scratch=no_scratch,
        spaces=in_vec("into", "x"),
        function="lrelu",
        example="- lrelu: {into: y, x: a, slope: 0.01}",
    )
)
define(
    OpDef(
        name="prelu",
        family="activation",
        doc="x where it is not negative, else x * slope, with a slope for each element, which must be finite",
        fields=(INTO, X, Field(name="slope", kind="tile", doc="the slopes, of the shape and dtype of x")),
        role="elementwise",
        pipe="v",
        infer=infer_same("x", "slope"),
        dtypes=FLOATS,
        dtype_of="x",
        torch=_prelu_meaning,
        recipe=_prelu,
        scratch=_prelu_scratch,
        spaces=in_vec("into", "x", "slope"),
        function="prelu",
        example="- prelu: {into: y, x: a, slope: w}",
    )
)
