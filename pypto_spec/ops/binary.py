"""Elementwise operators of two tiles: add sub mul div maximum minimum."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pypto_spec.ir.dtype import DType
from pypto_spec.ir.instr import Step
from pypto_spec.ir.opdef import OpDef, Recipe
from pypto_spec.ops.build import ARITHMETIC, FLOATS, INTO, LHS, RHS, in_float32, in_vec, infer_same, no_scratch
from pypto_spec.ops.registry import define
from pypto_spec.ops.steps import calls, part

_TABLE: tuple[tuple[str, str, str, str | None, tuple[DType, ...], str], ...] = (
    ("add", "Add", "add", "+", ARITHMETIC, "lhs + rhs, element by element"),
    ("sub", "Sub", "sub", "-", ARITHMETIC, "lhs - rhs, element by element"),
    ("mul", "Mul", "mul", "*", ARITHMETIC, "lhs * rhs, element by element"),
    ("div", "Div", "div", "/", FLOATS, "lhs / rhs, element by element, correctly rounded"),
    ("maximum", "Max", "maximum", None, ARITHMETIC, "the larger of lhs and rhs, element by element"),
    ("minimum", "Min", "minimum", None, ARITHMETIC, "the smaller of lhs and rhs, element by element"),
)
"""Name, Ascend C call, torch function, infix sign, dtypes, description. Integers wrap around."""


def _recipe(call: str) -> Callable[[Recipe], tuple[Step, ...]]:
    def recipe(of: Recipe) -> tuple[Step, ...]:
        return tuple(calls(call, part(of, "into"), part(of, "lhs"), part(of, "rhs")))

    return recipe


def _meaning(name: str) -> Callable[[Any, Mapping[str, Any], Mapping[str, Any]], Any]:
    def meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
        return in_float32(torch, getattr(torch, name), inputs["lhs"], inputs["rhs"])

    return meaning


for _name, _call, _torch, _infix, _dtypes, _doc in _TABLE:
    define(
        OpDef(
            name=_name,
            family="binary",
            doc=_doc,
            fields=(INTO, LHS, RHS),
            role="elementwise",
            pipe="v",
            infer=infer_same("lhs", "rhs"),
            dtypes=_dtypes,
            dtype_of="lhs",
            torch=_meaning(_torch),
            recipe=_recipe(_call),
            scratch=no_scratch,
            spaces=in_vec("into", "lhs", "rhs"),
            infix=_infix,
            function=None if _infix else _name,
            example=f"- {_name}: {{into: y, lhs: a, rhs: b}}",
        )
    )
