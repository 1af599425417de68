"""Elementwise operators of one tile: neg abs exp log sqrt rsqrt recip relu.

`precision: exact` (the default) renders rsqrt as Sqrt and Div and recip as Div, because the instructions Rsqrt and
Reciprocal miss 1e-3 (fp16) or 1e-4 (fp32); `precision: fast` uses the instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pypto_spec.ir.dtype import BLOCK_BYTES, INT16, DType
from pypto_spec.ir.instr import Number, Step
from pypto_spec.ir.opdef import OpDef, Recipe
from pypto_spec.ops.build import ARITHMETIC, FLOATS, INTO, X, in_float32, in_vec, infer_same, no_scratch
from pypto_spec.ops.numbers import rounded
from pypto_spec.ops.registry import define
from pypto_spec.ops.scalar import fill_block
from pypto_spec.ops.steps import calls, one_block, part, scratch_like


def _direct(call: str) -> Callable[[Recipe], tuple[Step, ...]]:
    def recipe(of: Recipe) -> tuple[Step, ...]:
        return tuple(calls(call, part(of, "into"), part(of, "x")))

    return recipe


def _number(value: float, dtype: DType) -> Number:
    return Number(rounded(value, dtype), dtype)


def _neg(of: Recipe) -> tuple[Step, ...]:
    x = part(of, "x")
    return tuple(calls("Muls", part(of, "into"), x, extra=(_number(-1, x.tile.dtype),)))


def _abs(of: Recipe) -> tuple[Step, ...]:
    into, x = part(of, "into"), part(of, "x")
    if x.tile.dtype.is_float:
        return tuple(calls("Abs", into, x))
    minus = scratch_like(x.tile)
    return (*calls("Muls", minus, x, extra=(_number(-1, x.tile.dtype),)), *calls("Max", into, x, minus))


def _abs_scratch(of: Recipe) -> tuple[int, ...]:
    x = of.tile("x")
    return () if x.dtype.is_float else (scratch_like(x).tile.bytes,)


def _relu(of: Recipe) -> tuple[Step, ...]:
    into, x = part(of, "into"), part(of, "x")
    if x.tile.dtype == INT16:
        return tuple(calls("Maxs", into, x, extra=(_number(0, INT16),)))
    return tuple(calls("Relu", into, x))


def _recip(of: Recipe) -> tuple[Step, ...]:
    into, x = part(of, "into"), part(of, "x")
    if of.precision == "fast":
        return tuple(calls("Reciprocal", into, x))
    one = one_block(x.tile)
    return (fill_block(one, _number(1, x.tile.dtype)), *calls("Div", into, one, x))


def _rsqrt(of: Recipe) -> tuple[Step, ...]:
    into, x = part(of, "into"), part(of, "x")
    if of.precision == "fast":
        return tuple(calls("Rsqrt", into, x))
    one = one_block(x.tile)
    return (
        fill_block(one, _number(1, x.tile.dtype)),
        *calls("Sqrt", into, x),
        *calls("Div", into, one, into),
    )


def _one_scratch(of: Recipe) -> tuple[int, ...]:
    return () if of.precision == "fast" else (BLOCK_BYTES,)


def _meaning(name: str) -> Callable[[Any, Mapping[str, Any], Mapping[str, Any]], Any]:
    def meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
        return in_float32(torch, getattr(torch, name), inputs["x"])

    return meaning


def _sqrt(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    """Correctly rounded: torch's own fp32 root is one unit off now and then, where it is vectorised."""
    x = inputs["x"]
    return torch.sqrt(x.to(torch.float64)).to(x.dtype)


class _Row(NamedTuple):
    name: str
    torch: str
    dtypes: tuple[DType, ...]
    doc: str
    recipe: Callable[[Recipe], tuple[Step, ...]]
    scratch: Callable[[Recipe], tuple[int, ...]] = no_scratch
    infix: str | None = None


_TABLE = (
    _Row("neg", "neg", ARITHMETIC, "-x; integers wrap around", _neg, infix="-"),
    _Row("abs", "abs", ARITHMETIC, "the absolute value of x; integers wrap around", _abs, _abs_scratch),
    _Row("exp", "exp", FLOATS, "e to the power x", _direct("Exp")),
    _Row("log", "log", FLOATS, "the natural logarithm of x", _direct("Ln")),
    _Row("sqrt", "sqrt", FLOATS, "the square root of x", _direct("Sqrt")),
    _Row("rsqrt", "rsqrt", FLOATS, "1 / sqrt(x); see `target.precision`", _rsqrt, _one_scratch),
    _Row("recip", "reciprocal", FLOATS, "1 / x; see `target.precision`", _recip, _one_scratch),
    _Row("relu", "relu", ARITHMETIC, "the larger of x and 0", _relu),
)

for _row in _TABLE:
    define(
        OpDef(
            name=_row.name,
            family="unary",
            doc=f"{_row.doc}; element by element",
            fields=(INTO, X),
            role="elementwise",
            pipe="v",
            infer=infer_same("x"),
            dtypes=_row.dtypes,
            dtype_of="x",
            torch=_sqrt if _row.name == "sqrt" else _meaning(_row.torch),
            recipe=_row.recipe,
            scratch=_row.scratch,
            spaces=in_vec("into", "x"),
            infix=_row.infix,
            function=_row.name,
            example=f"- {_row.name}: {{into: y, x: a}}",
        )
    )
