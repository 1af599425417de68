"""Types that must be one and are not can be told apart in messages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pypto_spec.ir.differ import difference
from pypto_spec.ir.dtype import FP16, FP32
from pypto_spec.ir.expr import Sym, sym
from pypto_spec.ir.types import Access, ArrayType, Layout, Memory, ScalarType, TensorType, TileType, ValueType

TILE = TileType(FP32, (8, 16))
TENSOR = TensorType(FP32, (8, 16), Access.IN)
M = Sym("M", "dim", 1, 8)


@pytest.mark.parametrize(
    ("a", "b", "first", "second", "what"),
    [
        (TILE, replace(TILE, dtype=FP16), "fp32[8, 16]", "fp16[8, 16]", "they differ in dtype"),
        (TILE, replace(TILE, shape=(8, 8), memory=Memory.VEC), "fp32[8, 16]", "fp32[8, 8]", "they differ in shape"),
        (
            TILE, replace(TILE, valid=(sym(M), 16)),
            "fp32[8, 16] (all valid)", "fp32[8, 16] (valid: [M, 16])", "they differ in valid",
        ),
        (
            replace(TILE, valid=(4, 16)), replace(TILE, valid=(5, 16), memory=Memory.VEC),
            "fp32[8, 16] (valid: [4, 16])", "fp32[8, 16] (valid: [5, 16])", "they differ in valid",
        ),
        (
            TILE, replace(TILE, layout=Layout.ND, memory=Memory.VEC),
            "fp32[8, 16] (no layout written)", "fp32[8, 16] (layout: nd)", "they differ in layout",
        ),
        (
            replace(TILE, pitch=32), TILE,
            "fp32[8, 16] (pitch: 32)", "fp32[8, 16] (no pitch written)", "they differ in pitch",
        ),
        (
            replace(TILE, memory=Memory.VEC), replace(TILE, memory=Memory.MAT),
            "fp32[8, 16] (in vec)", "fp32[8, 16] (in mat)", "they differ in memory",
        ),
        (
            TENSOR, replace(TENSOR, pitches=(32, 1)),
            "fp32[8, 16] (dense)", "fp32[8, 16] (strides: [32, 1])", "they differ in pitches",
        ),
        (
            TENSOR, replace(TENSOR, access=Access.OUT),
            "fp32[8, 16] (access: in)", "fp32[8, 16] (access: out)", "they differ in access",
        ),
        (
            TILE, ArrayType(FP32, (8, 16)),
            "fp32[8, 16] (a tile)", "fp32[8, 16] (an array)", "one is a tile, the other an array",
        ),
        (ScalarType(FP32), TILE, "fp32 (a scalar)", "fp32[8, 16] (a tile)", "one is a scalar, the other a tile"),
    ],
)  # fmt: skip
def test_difference(a: ValueType, b: ValueType, first: str, second: str, what: str) -> None:
    assert difference(a, b) == (first, second, what)
    assert difference(b, a)[:2] == (second, first)
