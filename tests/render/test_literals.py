from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.ir.dtype import BF16, FP16, FP32, INT8, INT16, INT32, INT64, UINT16, UINT32, DType
from pypto_spec.render.literals import float_literal, literal


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (2, FP32, "2.0f"),
        (-2.0, FP32, "-2.0f"),
        (0.1, FP32, "0.1f"),
        (-0.0, FP32, "-0.0f"),
        (1e-6, FP32, "1e-6f"),
        (3.4028234663852886e38, FP32, "3.4028235e38f"),
        (1e-45, FP32, "1e-45f"),
        (16777216.0, FP32, "16777216.0f"),
        (math.inf, FP32, "FloatFromBits(0x7F800000u)"),
        (-math.inf, FP32, "FloatFromBits(0xFF800000u)"),
        (math.nan, FP32, "FloatFromBits(0x7FC00000u)"),
        (0.0999755859375, FP16, "static_cast<half>(0.1f)"),
        (65504.0, FP16, "static_cast<half>(65504.0f)"),
        (-math.inf, FP16, "HalfFromBits(0xFC00u)"),
        (1.0, BF16, "BFloat16FromBits(0x3F80u)"),
        (5, INT32, "5"),
        (-(2**31), INT32, "static_cast<int32_t>(0x80000000u)"),
        (-5, INT16, "static_cast<int16_t>(-5)"),
        (5, INT8, "static_cast<int8_t>(5)"),
        (0xFC00, UINT16, "static_cast<uint16_t>(0xFC00)"),
        (7, UINT32, "7u"),
        (7, INT64, "static_cast<int64_t>(7)"),
    ],
)
def test_literals_have_exactly_the_type(value: float, dtype: DType, expected: str) -> None:
    assert literal(value, dtype)[0] == expected


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_floats_read_back_as_the_same_bits(value: float) -> None:
    text = float_literal(value)
    assert text.endswith("f")
    assert "." in text or "e" in text
    assert struct.pack(">f", float(text[:-1])) == struct.pack(">f", value)


@given(st.floats(width=16, allow_nan=False, allow_infinity=False))
def test_halves_read_back_as_the_same_bits(value: float) -> None:
    text = literal(value, FP16)[0].removeprefix("static_cast<half>(")[:-2]
    single = struct.unpack(">f", struct.pack(">f", float(text)))[0]
    assert struct.pack(">e", single) == struct.pack(">e", value)
