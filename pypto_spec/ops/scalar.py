"""Elementwise operators of a tile and a number: adds subs muls divs maximums minimums, and rsubs, rdivs reversed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from pypto_spec.ir.dtype import BLOCK_BYTES, DType
from pypto_spec.ir.instr import Instr, Number, ScalarRef, Step
from pypto_spec.ir.opdef import Inference, OpDef, Recipe
from pypto_spec.ir.types import ValueType
from pypto_spec.ops.build import (
    ARITHMETIC,
    FLOATS,
    INTO,
    SCALAR,
    X,
    check_dtype,
    common_valid,
    fresh,
    in_float32,
    in_vec,
    no_scratch,
    shaped,
)
from pypto_spec.ops.numbers import check_scalar, is_power_of_two, literal, number_arg, rounded, torch_number
from pypto_spec.ops.registry import define
from pypto_spec.ops.steps import Part, calls, one_block, part


def _infer(inference: Inference) -> ValueType:
    (x,) = shaped(inference, "x")
    check_dtype(inference, x.dtype, "x")
    check_scalar(inference, "scalar", x.dtype)
    return fresh(x, valid=common_valid(x))


def _block_scratch(of: Recipe) -> tuple[int, ...]:
    return (BLOCK_BYTES,)


def fill_block(block: Part, value: Number | ScalarRef) -> Instr:
    """Put a value into every lane of a one-block scratch area."""
    return Instr("Duplicate", (block.ref, value, block.tile.dtype.block))


def _direct(call: str) -> Callable[[Recipe], tuple[Step, ...]]:
    def recipe(of: Recipe) -> tuple[Step, ...]:
        x = part(of, "x")
        return tuple(calls(call, part(of, "into"), x, extra=(number_arg(of, "scalar", x.tile.dtype),)))

    return recipe


def _minus(value: float, dtype: DType) -> float | int:
    """-value in `dtype`; the most negative integer stays what it is, as adding it wraps to the same result."""
    return rounded(-value, dtype) if dtype.is_float or -value < 1 << (8 * dtype.bytes - 1) else value


def _subs(of: Recipe) -> tuple[Step, ...]:
    into, x = part(of, "into"), part(of, "x")
    dtype = x.tile.dtype
    value = literal(of, "scalar", dtype)
    if value is not None:
        return tuple(calls("Adds", into, x, extra=(Number(_minus(value, dtype), dtype),)))
    block = one_block(x.tile)
    return (fill_block(block, number_arg(of, "scalar", dtype)), *calls("Sub", into, x, block))


def _subs_scratch(of: Recipe) -> tuple[int, ...]:
    return () if of.attr("scalar") is not None else (BLOCK_BYTES,)


def _rsubs(of: Recipe) -> tuple[Step, ...]:
    return tuple(_rsubs_steps(of))


def _rsubs_steps(of: Recipe) -> Iterator[Step]:
    into, x = part(of, "into"), part(of, "x")
    dtype = x.tile.dtype
    yield from calls("Muls", into, x, extra=(Number(rounded(-1, dtype), dtype),))
    yield from calls("Adds", into, into, extra=(number_arg(of, "scalar", dtype),))


def _inverse(of: Recipe) -> float | None:
    dtype = of.tile("x").dtype
    value = literal(of, "scalar", dtype)
    return 1.0 / value if value is not None and is_power_of_two(value, dtype) else None


def _divs(of: Recipe) -> tuple[Step, ...]:
    into, x = part(of, "into"), part(of, "x")
    dtype = x.tile.dtype
    inverse = _inverse(of)
    if inverse is not None:
        return tuple(calls("Muls", into, x, extra=(Number(inverse, dtype),)))
    block = one_block(x.tile)
    return (fill_block(block, number_arg(of, "scalar", dtype)), *calls("Div", into, x, block))


def _divs_scratch(of: Recipe) -> tuple[int, ...]:
    return () if _inverse(of) is not None else (BLOCK_BYTES,)


def _rdivs(of: Recipe) -> tuple[Step, ...]:
    into, x = part(of, "into"), part(of, "x")
    block = one_block(x.tile)
    return (fill_block(block, number_arg(of, "scalar", x.tile.dtype)), *calls("Div", into, block, x))


def _meaning(name: str, swapped: bool = False) -> Callable[[Any, Mapping[str, Any], Mapping[str, Any]], Any]:
    def meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
        x = inputs["x"]
        scalar = torch_number(torch, inputs, attrs, "scalar", x.dtype).expand_as(x)
        pair = (scalar, x) if swapped else (x, scalar)
        return in_float32(torch, getattr(torch, name), *pair)

    return meaning


class _Row(NamedTuple):
    name: str
    torch: str
    infix: str | None
    dtypes: tuple[DType, ...]
    doc: str
    recipe: Callable[[Recipe], tuple[Step, ...]]
    scratch: Callable[[Recipe], tuple[int, ...]] = no_scratch
    function: str | None = None
    swapped: bool = False


_TABLE = (
    _Row("adds", "add", "+", ARITHMETIC, "x + scalar", _direct("Adds")),
    _Row("subs", "sub", "-", ARITHMETIC, "x - scalar", _subs, _subs_scratch),
    _Row("muls", "mul", "*", ARITHMETIC, "x * scalar", _direct("Muls")),
    _Row("divs", "div", "/", FLOATS, "x / scalar, correctly rounded", _divs, _divs_scratch),
    _Row("maximums", "maximum", None, ARITHMETIC, "the larger of x and scalar", _direct("Maxs"), function="maximum"),
    _Row("minimums", "minimum", None, ARITHMETIC, "the smaller of x and scalar", _direct("Mins"), function="minimum"),
    _Row("rsubs", "sub", "-", ARITHMETIC, "scalar - x", _rsubs, swapped=True),
    _Row("rdivs", "div", "/", FLOATS, "scalar / x, correctly rounded", _rdivs, _block_scratch, swapped=True),
)

for _row in _TABLE:
    define(
        OpDef(
            name=_row.name,
            family="scalar",
            doc=f"{_row.doc}, element by element",
            fields=(INTO, SCALAR, X) if _row.swapped else (INTO, X, SCALAR),
            role="elementwise",
            pipe="v",
            infer=_infer,
            dtypes=_row.dtypes,
            dtype_of="x",
            torch=_meaning(_row.torch, _row.swapped),
            recipe=_row.recipe,
            scratch=_row.scratch,
            spaces=in_vec("into", "x"),
            infix=_row.infix,
            function=_row.function,
            example=f"- {_row.name}: {{into: y, scalar: 2.0, x: a}}"
            if _row.swapped
            else f"- {_row.name}: {{into: y, x: a, scalar: 2.0}}",
        )
    )
