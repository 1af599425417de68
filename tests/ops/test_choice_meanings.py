"""Torch meanings of bits, comparisons, choices, whole division, products and positions, by hand-written values."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.dtype import FP16, FP32, INT16, INT32, UINT8, UINT16, UINT32, DType
from pypto_spec.ops.build import torch_dtype
from pypto_spec.ops.registry import OPS
from tests.ops.making import infer, make, recipe, refused, scratch, text, tile

torch: Any = pytest.importorskip("torch")


def values(numbers: Any, dtype: DType = FP32) -> Any:
    return torch.tensor(numbers, dtype=torch_dtype(torch, dtype))


def meaning(name: str, inputs: dict[str, Any], **attrs: Any) -> list[Any]:
    return OPS[name].torch(torch, inputs, attrs).tolist()  # type: ignore[no-any-return]


# --- activation -----------------------------------------------------------------------------------------------------


def test_leaky_rectifiers() -> None:
    assert meaning("lrelu", {"x": values([-2.0, 0.0, 3.0])}, slope=0.5) == [-1.0, 0.0, 3.0]
    assert meaning("prelu", {"x": values([-2.0, 4.0]), "slope": values([0.25, 9.0])}) == [-0.5, 4.0]
    # fp16 rounds the slope before it multiplies: 0.1 is 0.0999755859375
    assert meaning("lrelu", {"x": values([-1.0], FP16)}, slope=0.1) == [-0.0999755859375]


def test_lrelu_is_one_call() -> None:
    assert text(recipe(make("lrelu", {"x": tile(FP32, 8, 64)}, slope=0.5))) == "LeakyRelu(into, x, 0.5:fp32, 512)"


# --- bits -----------------------------------------------------------------------------------------------------------

BITS = [
    ("and", INT32, -1, 0x7FFF0001, 0x7FFF0001),
    ("or", INT16, -32768, 5, -32763),
    ("xor", UINT16, 0xFF00, 0x0FF0, 0xF0F0),
    ("xor", UINT32, 0xFFFFFFFF, 1, 0xFFFFFFFE),
    ("and", UINT32, 0x80000000, 0xC0000000, 0x80000000),
]


@pytest.mark.parametrize(("word", "dtype", "a", "b", "expected"), BITS)
def test_bits(word: str, dtype: DType, a: int, b: int, expected: int) -> None:
    assert meaning(word, {"lhs": values([a], dtype), "rhs": values([b], dtype)}) == [expected]
    assert meaning(f"{word}s", {"x": values([a], dtype)}, scalar=b) == [expected]


def test_not_and_shifts() -> None:
    assert meaning("not", {"x": values([0, 5], INT16)}) == [-1, -6]
    assert meaning("not", {"x": values([1], UINT32)}) == [0xFFFFFFFE]
    assert meaning("shls", {"x": values([0x40000001], INT32)}, scalar=1) == [-0x7FFFFFFE]
    assert meaning("shrs", {"x": values([-8, 7], INT32)}, scalar=1) == [-4, 3]
    assert meaning("shrs", {"x": values([0x80000000], UINT32)}, scalar=31) == [1]


def test_wide_elements_are_twice_as_many_lanes() -> None:
    x = tile(INT32, 8, 64)
    assert text(recipe(make("and", {"lhs": x, "rhs": x}))) == "And(into:uint16, lhs:uint16, rhs:uint16, 1024)"
    assert text(recipe(make("not", {"x": tile(UINT16, 8, 64)}))) == "Not(into, x, 512)"


def test_a_shift_stays_below_the_width() -> None:
    found = refused("shls", {"x": tile(INT16, 8, 32)}, scalar=16)
    assert found.message == "`shls` of int16 by 16 bits; a count is 0 to 15"


# --- comparisons ----------------------------------------------------------------------------------------------------


def test_predicates_are_packed_from_the_lowest_bit() -> None:
    x = values([[1.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 3.0, 4.0]])
    made = meaning("cmps", {"x": x}, scalar=0, cmp_type="gt")
    assert made == [[0b10000101, 1, *[0] * 30]]
    chosen = meaning("sel", {"mask": values(made, UINT8), "a": x, "b": -x - 1})
    assert chosen == [[1.0, -1.0, 2.0, -1.0, -1.0, -1.0, -1.0, 3.0, 4.0]]


def test_nothing_compares_with_nan_but_ne() -> None:
    x, y = values([math.nan]), values([1.0])
    for mode, expected in (("eq", 0.0), ("lt", 0.0), ("ge", 0.0), ("ne", 1.0)):
        inputs = {"lhs": x, "rhs": y, "a": values([1.0]), "b": values([0.0])}
        assert meaning("select", inputs, cmp_type=mode) == [expected]


def test_type_of_a_predicate() -> None:
    made = infer("cmp", {"lhs": tile(FP32, 4, 300), "rhs": tile(FP32, 4, 300)}, cmp_type="lt")
    assert made == tile(UINT8, 4, 64, valid=(4, 38)) or str(made) == "uint8[4, 64]"
    assert getattr(made, "valid", None) == (4, 38)


def test_a_column_has_no_packed_rows() -> None:
    found = refused("cmps", {"x": tile(FP32, 64, 1)}, scalar=0, cmp_type="lt")
    assert found.rule is rules.SHAPE_MISMATCH
    assert "reshape" in found.helps[0]


def test_a_wrong_predicate_is_refused() -> None:
    x = tile(FP32, 4, 300)
    found = refused("sel", {"mask": tile(UINT8, 4, 32), "a": x, "b": x})
    assert found.message == "the predicate of fp32[4, 300] is uint8[4, 64], found uint8[4, 32]"


def test_a_tail_is_compared_in_scratch() -> None:
    """72 elements: no multiple of 64 lanes, and the buffers end behind them."""
    x = tile(FP32, 1, 72)
    op = make("select", {"lhs": x, "rhs": x, "a": x, "b": x}, cmp_type="lt")
    assert scratch(op) == (32, 1024, 1024)
    assert text(recipe(op)) == (
        "DataCopy(scratch.1:fp32, lhs, DataCopyParams(1, 9, 0, 0))\n"
        "DataCopy(scratch.2:fp32, rhs, DataCopyParams(1, 9, 0, 0))\n"
        "Compare(scratch:uint8, scratch.1:fp32, scratch.2:fp32, CMPMODE::LT, 128)\n"
        "Select(into, scratch:uint8, a, b, SELMODE::VSEL_TENSOR_TENSOR_MODE, 72)"
    )


def test_order_of_int32_comes_from_equality() -> None:
    x = tile(INT32, 8, 64)
    assert text(recipe(make("select", {"lhs": x, "rhs": x, "a": x, "b": x}, cmp_type="gt"))) == (
        "Max(scratch:int32, lhs, rhs, 512)\n"
        "Compare(scratch.1:uint8, scratch:int32, rhs, CMPMODE::EQ, 512)\n"
        "Select(into:fp32, scratch.1:uint8, b:fp32, a:fp32, SELMODE::VSEL_TENSOR_TENSOR_MODE, 512)"
    )


# --- division -------------------------------------------------------------------------------------------------------

LOW = -(2**31)
DIVISIONS = [
    (7, 2, 3, 1, 1),
    (-7, 2, -4, 1, -1),
    (7, -2, -4, -1, 1),
    (-7, -2, 3, -1, -1),
    (LOW, -1, LOW, 0, 0),
    (LOW, 3, -715827883, 1, -2),
    (2**31 - 1, LOW, -1, -1, 2**31 - 1),
]


@pytest.mark.parametrize(("a", "b", "quotient", "rem", "fmod"), DIVISIONS)
def test_whole_division(a: int, b: int, quotient: int, rem: int, fmod: int) -> None:
    for name, expected in (("floordiv", quotient), ("rem", rem), ("fmod", fmod)):
        assert meaning(name, {"lhs": values([a], INT32), "rhs": values([b], INT32)}) == [expected]
        assert meaning(f"{name}s", {"x": values([a], INT32)}, scalar=b) == [expected]


def test_powers_of_two_are_shifts_and_masks() -> None:
    x = tile(INT32, 1, 64)
    assert text(recipe(make("floordivs", {"x": x}, scalar=8))) == "ShiftRight(into, x, 3:int32, 64)"
    assert text(recipe(make("rems", {"x": x}, scalar=8))).startswith("Duplicate(scratch:int32, 7:int32, 8)\nAnd(")


def test_floats_and_zero_are_refused() -> None:
    found = refused("rem", {"lhs": tile(FP32, 8, 8), "rhs": tile(FP32, 8, 8)})
    assert found.rule is rules.DTYPE_UNSUPPORTED
    assert "off by a whole divisor" in found.message
    assert refused("floordivs", {"x": tile(INT32, 8, 8)}, scalar=0).message == "`floordivs` by 0 has no value"


# --- products and positions -----------------------------------------------------------------------------------------


def test_products() -> None:
    x = values([[2.0, 3.0], [4.0, 0.5]])
    assert meaning("row_prod", {"x": x}) == [[6.0], [2.0]]
    assert meaning("col_prod", {"x": x}) == [[8.0, 1.5]]
    assert meaning("row_prod", {"x": values([[65536, 65537]], INT32)}) == [[65536]]
    # In fp16 alone 1.5^8 would be rounded at each step.
    assert meaning("row_prod", {"x": values([[1.5] * 8], FP16)}) == [[25.625]]


def test_positions_are_the_first() -> None:
    x = values([[1.0, 3.0, 3.0, 0.0], [5.0, 5.0, -1.0, -1.0]])
    assert meaning("row_argmax", {"x": x}) == [[1], [0]]
    assert meaning("row_argmin", {"x": x}) == [[3], [2]]
    assert meaning("col_argmax", {"x": x}) == [[1, 1, 0, 0]]
    assert meaning("col_argmin", {"x": x}) == [[0, 0, 1, 1]]


def test_positions_of_one_column_are_refused() -> None:
    assert refused("row_argmax", {"x": tile(FP32, 64, 1)}).helps == ("`col_argmax` finds the place in the column",)


# --- int16 ----------------------------------------------------------------------------------------------------------


def test_int16_wraps_around() -> None:
    top = values([32767, -32768], INT16)
    assert meaning("add", {"lhs": top, "rhs": values([1, -1], INT16)}) == [-32768, 32767]
    assert meaning("muls", {"x": values([300], INT16)}, scalar=300) == [24464]
    assert meaning("abs", {"x": top}) == [32767, -32768]
    assert text(recipe(make("relu", {"x": tile(INT16, 1, 64)}))) == "Maxs(into, x, 0:int16, 64)"
