"""Literals in a tile's dtype: rounding, bit patterns, and what to warn about. No numpy, no torch."""

from __future__ import annotations

import math
import struct
from typing import Any

from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.dtype import BF16, FP16, FP32, INT32, UINT16, UINT32, DType
from pypto_spec.ir.instr import Number, ScalarRef
from pypto_spec.ir.opdef import Inference, Recipe
from pypto_spec.ir.types import ScalarType

FORMAT = {FP32.name: (24, -126, 127), FP16.name: (11, -14, 15), BF16.name: (8, -126, 127)}
"""IEEE parameters of a float dtype: significand bits, smallest and largest exponent."""


def int_range(dtype: DType) -> tuple[int, int]:
    """Smallest and largest value of an integer dtype."""
    bits = 8 * dtype.bytes
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if dtype.kind == "int" else (0, (1 << bits) - 1)


def largest(dtype: DType) -> float:
    """The largest finite value of a float dtype."""
    digits, _, top = FORMAT[dtype.name]
    return math.ldexp((1 << digits) - 1, top - digits + 1)


def smallest_normal(dtype: DType) -> float:
    """The smallest positive value of a float dtype with full precision."""
    return math.ldexp(1.0, FORMAT[dtype.name][1])


def rounded(value: float, dtype: DType) -> float | int:
    """The value in `dtype`: floats to nearest even, overflow to infinity; integers towards zero, and not wrapped."""
    if not dtype.is_float:
        return int(value)
    value = float(value)
    if value == 0 or not math.isfinite(value):
        return value
    digits, bottom, _ = FORMAT[dtype.name]
    exponent = max(math.frexp(value)[1] - 1, bottom) - (digits - 1)
    result = math.ldexp(round(math.ldexp(value, -exponent)), exponent)
    result = math.copysign(result, value)
    return math.copysign(math.inf, value) if abs(result) > largest(dtype) else result


def literal_problem(value: float, dtype: DType) -> str | None:
    """What happens to a literal that takes `dtype`, where that deserves a warning (LITERAL_CHANGED); else None."""
    if not dtype.is_float:
        return None if value == int(value) else f"{value} becomes {int(value)}"
    made = rounded(value, dtype)
    if isinstance(value, int) and made != value and math.isfinite(made):
        return f"the integer {value} becomes {made:.17g}"
    if math.isinf(made) and not math.isinf(value):
        return f"{value} overflows to {made}; the largest {dtype} is {largest(dtype):.6g}"
    if value != 0 and made == 0:
        return f"{value} becomes 0; the smallest normal {dtype} is {smallest_normal(dtype):.6g}"
    if 0 < abs(made) < smallest_normal(dtype):
        return f"{value} becomes the subnormal {made:.6g}; the smallest normal {dtype} is {smallest_normal(dtype):.6g}"
    return None


def bits(value: float, dtype: DType) -> int:
    """The bit pattern of a float already rounded to `dtype`, as an unsigned integer of the same width."""
    if dtype == FP16:
        return int.from_bytes(struct.pack("<e", value), "little")
    pattern = int.from_bytes(struct.pack("<f", value), "little")
    return pattern >> 16 if dtype == BF16 else pattern


def fill_number(value: float, dtype: DType) -> tuple[DType | None, Number]:
    """How to fill with a value: (dtype to read the tile as, number).

    Infinities, NaN and bf16 values go in as bit patterns, since neither their spelling in C++ nor bf16's conversion is
    the same in all toolkits.
    """
    made = rounded(value, dtype)
    if not dtype.is_float or (math.isfinite(made) and dtype != BF16):
        return None, Number(made, dtype)
    carrier = UINT32 if dtype.bytes == 4 else UINT16
    return carrier, Number(bits(made, dtype), carrier)


# --- the field `scalar` of an op ------------------------------------------------------------------------------------


def check_scalar(inference: Inference, field: str, dtype: DType) -> None:
    """Refuse a scalar that has no meaning in the tile's dtype."""
    operand = inference.operands.get(field)
    if operand is not None:
        found = operand.type
        if not isinstance(found, ScalarType):
            raise inference.fail(
                rules.SHAPE_MISMATCH,
                f"`{inference.defn.name}` takes a number or a run-time scalar as `{field}`, found `{operand.name}`, "
                f"which is {found}",
                field,
                helps=(f"for two tiles there is `{_PLAIN.get(inference.defn.name, 'add')}`",),
            )
        if found.dtype.is_float and not dtype.is_float:
            raise inference.fail(
                rules.DTYPE_MISMATCH,
                f"`{inference.defn.name}` of a {dtype} tile with the {found.dtype} scalar `{operand.name}`",
                field,
                helps=(f"declare the scalar as {dtype}, or cast the tile to {found.dtype} first",),
            )
        return
    value = inference.attr(field)
    low, high = int_range(dtype) if not dtype.is_float else (0, 0)
    if not dtype.is_float and not (math.isfinite(value) and low <= value <= high):
        raise inference.fail(
            rules.DTYPE_MISMATCH,
            f"{value} does not fit in {dtype}, which holds {low} to {high}",
            field,
            helps=("cast the tile to fp32 first if such values are wanted",),
        )


_PLAIN = {
    "adds": "add",
    "subs": "sub",
    "muls": "mul",
    "divs": "div",
    "maximums": "maximum",
    "minimums": "minimum",
    "rsubs": "sub",
    "rdivs": "div",
}


def literal(recipe: Recipe, field: str, dtype: DType) -> float | int | None:
    """The literal in a number field, rounded to `dtype`; None where it holds a run-time scalar."""
    value = recipe.attr(field)
    return None if value is None else rounded(value, dtype)


def number_arg(recipe: Recipe, field: str, dtype: DType) -> Number | ScalarRef:
    """The argument for a number field: a literal in `dtype`, or the run-time scalar converted to it."""
    value = literal(recipe, field, dtype)
    return ScalarRef(recipe.value(field), dtype) if value is None else Number(value, dtype)


def torch_number(torch: Any, inputs: Any, attrs: Any, field: str, dtype: Any) -> Any:
    """A number field as a 0-d tensor of the torch dtype, so that it is rounded before it is used."""
    value = inputs[field] if field in inputs else attrs[field]
    if not dtype.is_floating_point and not hasattr(value, "dtype"):
        value = int(value)
    return torch.as_tensor(value).to(dtype)


def is_power_of_two(value: float, dtype: DType) -> bool:
    """Whether dividing by `value` is multiplying by a normal power of two of `dtype`."""
    if value == 0 or not math.isfinite(value) or abs(math.frexp(value)[0]) != 0.5:
        return False
    inverse = 1.0 / value
    return smallest_normal(dtype) <= abs(inverse) <= largest(dtype)


INT32_MINUS_ONE = Number(-1, INT32)
