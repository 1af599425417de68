"""Shifts by a count of its own for each element: shl and shr.

The vector unit shifts all elements by one number (ShiftLeft, ShiftRight). So each binary digit of the counts shifts by
its weight what has it: its mask is made by shifting the digit to the top and back, with the sign. Only the digits that
a count below the dtype's width has are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from pypto_spec.ir.dtype import INT16, INT32
from pypto_spec.ir.instr import Number, Step
from pypto_spec.ir.opdef import OpDef, Recipe
from pypto_spec.ops.bits import INTEGERS, lanes16
from pypto_spec.ops.build import INTO, LHS, RHS, in_vec, infer_same
from pypto_spec.ops.registry import define
from pypto_spec.ops.steps import Part, calls, part, scratch_like


def _signed(of: Part) -> Part:
    """The same elements with a sign."""
    dtype = INT32 if of.tile.dtype.bytes == INT32.bytes else INT16
    return Part(replace(of.ref, dtype=dtype), replace(of.tile, dtype=dtype), of.block)


def _steps(of: Recipe, call: str) -> Iterator[Step]:
    into, x, counts = part(of, "into"), part(of, "lhs"), part(of, "rhs")
    shifted, mask = scratch_like(x.tile), scratch_like(x.tile, 1)
    width = 8 * x.tile.dtype.bytes
    yield from calls("Or", lanes16(into), lanes16(x), lanes16(x))
    for digit in range(width.bit_length() - 1):
        yield from calls("ShiftLeft", _signed(mask), _signed(counts), extra=(_count(mask, width - 1 - digit),))
        yield from calls("ShiftRight", _signed(mask), _signed(mask), extra=(_count(mask, width - 1),))
        yield from calls(call, shifted, into, extra=(Number(1 << digit, x.tile.dtype),))
        narrow, m, target = lanes16(shifted), lanes16(mask), lanes16(into)
        yield from calls("And", narrow, narrow, m)
        yield from calls("Not", m, m)
        yield from calls("And", target, target, m)
        yield from calls("Or", target, target, narrow)


def _count(of: Part, bits: int) -> Number:
    return Number(bits, _signed(of).tile.dtype)


def _recipe(call: str) -> Callable[[Recipe], tuple[Step, ...]]:
    return lambda of: tuple(_steps(of, call))


def _scratch(of: Recipe) -> tuple[int, ...]:
    size = scratch_like(of.tile("lhs")).tile.bytes
    return size, size


def _meaning(word: str) -> Callable[[Any, Mapping[str, Any], Mapping[str, Any]], Any]:
    def meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
        x, counts = inputs["lhs"], inputs["rhs"]
        within = counts.to(torch.int64) & (8 * x.element_size() - 1)
        return getattr(torch, word)(x.to(torch.int64), within).to(x.dtype)

    return meaning


for _name, _call, _torch, _doc in (
    ("shl", "ShiftLeft", "bitwise_left_shift", "each element shifted left by a count of its own; what leaves is lost"),
    ("shr", "ShiftRight", "bitwise_right_shift", "each element shifted right by a count of its own, with its sign"),
):
    define(
        OpDef(
            name=_name,
            family="bits",
            doc=f"{_doc}; of a count the digits below the dtype's width are taken, as in `n % 32`",
            fields=(INTO, LHS, RHS),
            role="elementwise",
            pipe="v",
            infer=infer_same("lhs", "rhs"),
            dtypes=INTEGERS,
            dtype_of="lhs",
            torch=_meaning(_torch),
            recipe=_recipe(_call),
            scratch=_scratch,
            spaces=in_vec("into", "lhs", "rhs"),
            no_alias=frozenset({"rhs"}),
            function=_name,
            example=f"- {_name}: {{into: y, lhs: a, rhs: b}}",
        )
    )
