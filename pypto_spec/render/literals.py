"""Numbers as C++ literals of exactly one type: overloads of Ascend C calls are chosen by it."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

from pypto_spec.ir.dtype import BF16, FP16, FP32, INT32, INT64, UINT32, DType

_CACHE: dict[tuple[str, str], tuple[str, str | None]] = {}


def _float_bits(value: float) -> int:
    try:
        return int.from_bytes(struct.pack(">f", value), "big")
    except OverflowError:
        return 0x7F800000 if value > 0 else 0xFF800000


def _half_bits(value: float) -> int:
    try:
        return int.from_bytes(struct.pack(">e", value), "big")
    except OverflowError:
        return 0x7C00 if value > 0 else 0xFC00


def float_literal(value: float, bits: Callable[[float], int] = _float_bits) -> str:
    """The shortest decimal literal that gives the same bits: `0.1f`, `-2.0f`, `1e-6f`."""
    if value == 0:
        return "-0.0f" if math.copysign(1.0, value) < 0 else "0.0f"
    if value == int(value) and abs(value) < 1e7:
        return f"{int(value)}.0f"
    wanted = bits(value)
    text = repr(value)
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if math.isfinite(_as_float(float(text))) and bits(_as_float(float(text))) == wanted:
            break
    mantissa, e, exponent = text.partition("e")
    if e:
        return f"{mantissa}e{int(exponent)}f"
    return f"{mantissa}f" if "." in mantissa else f"{mantissa}.0f"


def _as_float(value: float) -> float:
    """`value` rounded to single precision, as a C++ compiler reads a literal with `f`."""
    return float(struct.unpack(">f", _float_bits(value).to_bytes(4, "big"))[0])


def literal(value: float | int, dtype: DType) -> tuple[str, str | None]:
    """C++ text of a number of type `dtype`, and the helper function it needs, if any.

    Finite floats are decimal; infinities, NaN and all of bf16 go by their bits, which mean the same on every toolkit.
    """
    key = (dtype.name, repr(value))
    found = _CACHE.get(key)
    if found is None:
        found = _CACHE[key] = _literal(value, dtype)
    return found


def _literal(value: float | int, dtype: DType) -> tuple[str, str | None]:
    if not dtype.is_float:
        return _integer(int(value), dtype), None
    number = float(value)
    if dtype is BF16:
        return f"BFloat16FromBits(0x{_float_bits(number) >> 16:04X}u)", "BFloat16FromBits"
    if dtype is FP16:
        if math.isfinite(number):
            return f"static_cast<half>({float_literal(number, _half_bits)})", None
        return f"HalfFromBits(0x{0x7E00 if math.isnan(number) else _half_bits(number):04X}u)", "HalfFromBits"
    assert dtype is FP32, f"no literals of {dtype}"
    if math.isfinite(number):
        return float_literal(number), None
    return f"FloatFromBits(0x{0x7FC00000 if math.isnan(number) else _float_bits(number):08X}u)", "FloatFromBits"


def _integer(value: int, dtype: DType) -> str:
    if dtype is INT32:
        return str(value) if value != -(2**31) else "static_cast<int32_t>(0x80000000u)"
    if dtype is UINT32:
        return f"{value}u" if value < 65536 else f"0x{value:08X}u"
    if dtype is INT64 and value == -(2**63):
        return "static_cast<int64_t>(0x8000000000000000u)"
    shown = f"0x{value:04X}" if dtype.kind == "uint" and value > 255 else str(value)
    return f"static_cast<{dtype.cpp}>({shown})"
