"""Torch meanings against values worked out by hand: rounding modes, wrapping, saturation, special values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.ir.dtype import BF16, DTYPES, FP16, FP32, INT8, INT16, INT32, INT64, UINT8, DType
from pypto_spec.ops.build import dtype_of_torch, torch_dtype
from pypto_spec.ops.cast import MODES, NATIVE, cast_chain, cast_steps, default_mode, exact
from pypto_spec.ops.numbers import bits, fill_number, int_range, literal_problem, rounded
from pypto_spec.ops.registry import OPS
from pypto_spec.ops.rounding import round_to

torch: Any = pytest.importorskip("torch")


def meaning(name: str, inputs: dict[str, Any], **attrs: Any) -> Any:
    defn = OPS[name]
    filled = {f.name: f.default for f in defn.fields if f.name not in inputs and f.kind != "bind"}
    return defn.torch(torch, inputs, {**filled, **attrs})


def values(*numbers: float, dtype: DType = FP32) -> Any:
    return torch.tensor(numbers, dtype=torch_dtype(torch, dtype))


def same(found: Any, expected: Sequence[float]) -> None:
    assert str(found.tolist()) == str(list(expected))


# --- arithmetic -----------------------------------------------------------------------------------------------------

ARITHMETIC = [
    ("add", FP32, (1.0, 2.0**24), (2.0, 1.0), [3.0, 2.0**24]),
    ("add", FP16, (2048.0, 65504.0), (1.0, 16.0), [2048.0, math.inf]),
    ("add", INT32, (2**31 - 1,), (1,), [-(2**31)]),
    ("sub", FP16, (1.0,), (2.0**-11,), [0.99951171875]),
    ("mul", INT32, (65536,), (65537,), [65536]),
    ("mul", FP32, (3.0, math.inf), (0.5, 0.0), [1.5, math.nan]),
    ("div", FP32, (1.0, -1.0, 0.0), (3.0, 0.0, 0.0), [0.3333333432674408, -math.inf, math.nan]),
    ("div", FP16, (1.0,), (3.0,), [0.333251953125]),
    ("maximum", FP32, (1.0, -math.inf), (2.0, -1.0), [2.0, -1.0]),
    ("minimum", INT32, (-5, 7), (3, 3), [-5, 3]),
]


@pytest.mark.parametrize(("name", "dtype", "lhs", "rhs", "expected"), ARITHMETIC)
def test_two_tiles(name: str, dtype: DType, lhs: Any, rhs: Any, expected: list[float]) -> None:
    same(meaning(name, {"lhs": values(*lhs, dtype=dtype), "rhs": values(*rhs, dtype=dtype)}), expected)


BY_SCALAR = [
    ("adds", FP16, (1.0,), 0.1, [1.099609375]),  # 0.1 is 0.0999755859375 in fp16
    ("subs", INT32, (-(2**31),), 1, [2**31 - 1]),
    ("muls", FP32, (2.0,), 0.1, [0.20000000298023224]),
    ("divs", FP32, (1.0,), 10, [0.10000000149011612]),
    ("maximums", FP32, (-1.0, 2.0), 0, [0.0, 2.0]),
    ("minimums", INT32, (-1, 2), 0, [-1, 0]),
    ("rsubs", FP32, (0.25, 2.0), 1, [0.75, -1.0]),
    ("rdivs", FP16, (3.0, 0.0), 1, [0.333251953125, math.inf]),
]


@pytest.mark.parametrize(("name", "dtype", "x", "number", "expected"), BY_SCALAR)
def test_tile_and_number(name: str, dtype: DType, x: Any, number: float, expected: list[float]) -> None:
    same(meaning(name, {"x": values(*x, dtype=dtype)}, scalar=number), expected)
    given_at_run_time = {"x": values(*x, dtype=dtype), "scalar": torch.tensor(number)}
    same(meaning(name, given_at_run_time), expected)


UNARY = [
    ("neg", FP32, (1.0, -0.0), [-1.0, 0.0]),
    ("neg", INT32, (-(2**31), 5), [-(2**31), -5]),
    ("abs", INT32, (-(2**31), -5), [-(2**31), 5]),
    ("abs", FP16, (-1.5, -math.inf), [1.5, math.inf]),
    ("exp", FP32, (0.0, -math.inf), [1.0, 0.0]),
    ("exp", FP16, (1.0, 12.0), [2.71875, math.inf]),
    ("log", FP32, (1.0, 0.0, -1.0), [0.0, -math.inf, math.nan]),
    ("sqrt", FP16, (2.0,), [1.4140625]),
    ("rsqrt", FP32, (4.0, 0.0), [0.5, math.inf]),
    ("recip", FP16, (3.0, -0.0), [0.333251953125, -math.inf]),
    ("relu", FP32, (-1.0, 2.0), [0.0, 2.0]),
    ("relu", INT32, (-1, 2), [0, 2]),
]


@pytest.mark.parametrize(("name", "dtype", "x", "expected"), UNARY)
def test_one_tile(name: str, dtype: DType, x: Any, expected: list[float]) -> None:
    same(meaning(name, {"x": values(*x, dtype=dtype)}), expected)


@given(st.integers(0, 0xFFFF), st.integers(0, 0xFFFF), st.sampled_from(["add", "sub", "mul", "div"]))
def test_half_arithmetic_is_the_exact_result_rounded_once(a: int, b: int, name: str) -> None:
    pair = [torch.tensor([n if n < 1 << 15 else n - (1 << 16)], dtype=torch.int16).view(torch.float16) for n in (a, b)]
    found = meaning(name, {"lhs": pair[0], "rhs": pair[1]})
    exactly = getattr(torch, name)(pair[0].double(), pair[1].double())
    same(found, exactly.half().tolist())


# --- casts ----------------------------------------------------------------------------------------------------------

TO_INT = {
    "rint": [2, -2, 0, 2, -1],
    "floor": [2, -3, 0, 1, -1],
    "ceil": [3, -2, 1, 2, 0],
    "round": [3, -3, 1, 2, -1],
    "trunc": [2, -2, 0, 1, 0],
}


@pytest.mark.parametrize("mode", TO_INT)
def test_rounding_to_integers(mode: str) -> None:
    x = values(2.5, -2.5, 0.5, 1.75, -0.75)
    for dtype in (INT32, INT16, INT64):
        same(meaning("cast", {"x": x}, dtype=dtype, mode=mode), TO_INT[mode])


# One fp16 unit above 1 is 2**-10: a quarter, a half and three quarters of it, and the half above an odd digit.
UNIT = 2.0**-10
TO_HALF = {
    "none": [1, 1, 1 + UNIT, 1 + 2 * UNIT, -1],
    "rint": [1, 1, 1 + UNIT, 1 + 2 * UNIT, -1],
    "floor": [1, 1, 1, 1 + UNIT, -1 - UNIT],
    "ceil": [1 + UNIT, 1 + UNIT, 1 + UNIT, 1 + 2 * UNIT, -1],
    "round": [1, 1 + UNIT, 1 + UNIT, 1 + 2 * UNIT, -1],
    "trunc": [1, 1, 1, 1 + UNIT, -1],
    "odd": [1 + UNIT, 1 + UNIT, 1 + UNIT, 1 + UNIT, -1 - UNIT],
}


@pytest.mark.parametrize("mode", TO_HALF)
def test_rounding_to_half(mode: str) -> None:
    x = values(1 + UNIT / 4, 1 + UNIT / 2, 1 + UNIT * 3 / 4, 1 + UNIT * 3 / 2, -1 - UNIT / 4)
    same(meaning("cast", {"x": x}, dtype=FP16, mode=mode), [float(v) for v in TO_HALF[mode]])


def test_special_values_and_ranges() -> None:
    x = values(math.nan, math.inf, -math.inf, 3e9, -3e9)
    top, low = 2**31 - 1, -(2**31)
    same(meaning("cast", {"x": x}, dtype=INT32), [0, top, low, top, low])
    same(meaning("cast", {"x": x}, dtype=INT16, mode="rint"), [0, 32767, -32768, 32767, -32768])
    same(meaning("cast", {"x": values(math.inf, 1e19)}, dtype=INT64), [2**63 - 1, 2**63 - 1])
    same(
        meaning("cast", {"x": values(math.nan, -math.inf, 1e5, -0.0)}, dtype=FP16),
        [math.nan, -math.inf, math.inf, -0.0],
    )
    same(meaning("cast", {"x": values(1e5, -1e5)}, dtype=FP16, mode="trunc"), [65504.0, -65504.0])
    same(meaning("cast", {"x": values(1e5, -1e5)}, dtype=FP16, mode="floor"), [65504.0, -math.inf])
    same(meaning("cast", {"x": values(1e5, -1e5)}, dtype=FP16, mode="ceil"), [math.inf, -65504.0])
    same(meaning("cast", {"x": values(70000, -70000, dtype=INT32)}, dtype=INT16), [32767, -32768])
    same(meaning("cast", {"x": values(300.0, -1.0, dtype=FP16)}, dtype=UINT8), [255, 0])
    same(meaning("cast", {"x": values(2**24 + 1, 2**24 + 3, dtype=INT32)}, dtype=FP32), [16777216.0, 16777220.0])
    large = values(2**60 + 1, -(2**60) - 1, 2**60 + 2**36, dtype=INT64)
    same(meaning("cast", {"x": large}, dtype=FP32, mode="ceil"), [2.0**60 + 2**37, -(2.0**60), 2.0**60 + 2**37])
    same(meaning("cast", {"x": large}, dtype=FP32), [2.0**60, -(2.0**60), 2.0**60])


def test_smallest_numbers() -> None:
    tiny = 2.0**-24  # the smallest fp16
    x = values(tiny / 2, tiny * 0.51, tiny * 1.5, -tiny / 4)
    same(meaning("cast", {"x": x}, dtype=FP16), [0.0, tiny, 2 * tiny, -0.0])
    same(meaning("cast", {"x": x}, dtype=FP16, mode="ceil"), [tiny, tiny, 2 * tiny, -0.0])


@given(st.integers(0, 2**32 - 1), st.sampled_from([FP16, BF16]))
def test_default_float_rounding_is_that_of_torch(pattern: int, dtype: DType) -> None:
    x = torch.tensor([pattern - (1 << 32) if pattern >= 1 << 31 else pattern], dtype=torch.int32).view(torch.float32)
    same(meaning("cast", {"x": x}, dtype=dtype), x.to(torch_dtype(torch, dtype)).tolist())


@given(st.floats(width=64, allow_nan=False), st.sampled_from([FP32, FP16, BF16]))
def test_literals_round_like_torch_does_in_one_step(value: float, dtype: DType) -> None:
    made = rounded(value, dtype)
    same(round_to(torch, torch.tensor([value], dtype=torch.float64), dtype, "rint").double(), [made])
    if dtype != BF16:  # torch rounds float64 to bf16 by way of float32
        same(torch.tensor([value], dtype=torch.float64).to(torch_dtype(torch, dtype)).double(), [made])


# --- chains ---------------------------------------------------------------------------------------------------------

CHAINS = [
    (FP16, BF16, None, [(FP32, "none"), (BF16, "rint")]),
    (BF16, FP16, "floor", [(FP32, "none"), (FP16, "floor")]),
    (FP32, INT8, None, [(FP16, "trunc"), (INT8, "trunc")]),
    (FP32, INT8, "rint", [(FP16, "odd"), (INT8, "rint")]),
    (BF16, UINT8, "round", [(FP32, "none"), (FP16, "odd"), (UINT8, "round")]),
    (INT32, FP16, None, [(FP32, "rint"), (FP16, "rint")]),
    (INT16, INT32, None, [(FP32, "none"), (INT32, "trunc")]),
    (INT8, INT32, None, [(FP16, "none"), (INT32, "trunc")]),
    (FP32, FP32, None, []),
]


@pytest.mark.parametrize(("src", "dst", "mode", "expected"), CHAINS)
def test_chains(src: DType, dst: DType, mode: str | None, expected: list[tuple[DType, str]]) -> None:
    assert cast_steps(src, dst, mode) == expected
    assert cast_chain(src, dst) == [to for to, _ in expected]


@pytest.mark.parametrize("dtype", [INT8, UINT8], ids=str)
@pytest.mark.parametrize("mode", ["rint", "round", "floor", "ceil", "trunc"])
def test_the_way_to_8_bits_rounds_once(dtype: DType, mode: str) -> None:
    """Every half from -300 to 300, and the fp32 numbers nearest to it on both sides."""
    halves = torch.arange(-600, 601, dtype=torch.float32) / 2
    ends = [torch.full_like(halves, end) for end in (torch.inf, -torch.inf)]
    x = torch.cat([halves, *(torch.nextafter(halves, end) for end in ends), torch.tensor([1e9, -1e9, torch.inf])])
    found = meaning("cast", {"x": x}, dtype=dtype, mode=mode)
    same(found, [int(v) for v in round_to(torch, x.double(), dtype, mode)])


def test_there_is_no_way_to_unsigned_words() -> None:
    assert cast_chain(FP32, DTYPES["uint32"]) is None


@pytest.mark.parametrize("pair", NATIVE, ids=lambda pair: f"{pair[0]}-{pair[1]}")
def test_native_pairs(pair: tuple[DType, DType]) -> None:
    assert cast_chain(*pair) == [pair[1]]
    assert default_mode(*pair) in NATIVE[pair]
    assert NATIVE[pair] <= set(MODES)
    if exact(*pair):
        low, high = (-100, 100) if pair[0].is_float else int_range(pair[0])
        ends = values(low, high, dtype=pair[0])
        assert meaning("cast", {"x": ends}, dtype=pair[1]).double().tolist() == ends.double().tolist()


def test_references_in_float64_are_rounded_too() -> None:
    x = torch.tensor([1 + UNIT / 4], dtype=torch.float64)
    assert meaning("cast", {"x": x}, dtype=FP16).tolist() == [1.0]


# --- literals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "dtype", "words"),
    [
        (1.5, INT32, "becomes 1"),
        (2049, FP16, "integer 2049 becomes 2048"),
        (1e6, FP16, "overflows to inf; the largest fp16 is 65504"),
        (1e-9, FP16, "becomes 0"),
        (1e-6, FP16, "subnormal"),
    ],
)
def test_literals_that_change_are_told(value: float, dtype: DType, words: str) -> None:
    problem = literal_problem(value, dtype)
    assert problem is not None
    assert words in problem


@pytest.mark.parametrize(
    ("value", "dtype"), [(0.1, FP16), (0.1, FP32), (math.inf, FP16), (3, INT32), (0, BF16), (2.0, INT32)]
)
def test_ordinary_literals_are_not(value: float, dtype: DType) -> None:
    assert literal_problem(value, dtype) is None


def test_fills_that_cxx_spells_differently_go_in_as_bits() -> None:
    assert fill_number(1.5, FP32)[0] is None
    assert fill_number(-math.inf, FP32)[1].value == 0xFF800000
    assert fill_number(-math.inf, FP16)[1].value == 0xFC00
    assert fill_number(1.0, BF16)[1].value == 0x3F80
    assert bits(-0.0, FP16) == 0x8000


# --- data -----------------------------------------------------------------------------------------------------------


def test_load_and_store() -> None:
    x = torch.arange(12.0).reshape(3, 4)
    loaded = meaning("load", {"from": x}, at=(1, 2), shape=(2, 8), valid=(2, 2))
    assert loaded[:, :2].tolist() == [[6.0, 7.0], [10.0, 11.0]]
    assert bool(loaded[:, 2:].isnan().all())
    same(meaning("store", {"from": torch.ones(1, 2), "to": x}, at=(0, 1))[0], [0.0, 1.0, 1.0, 3.0])
    added = meaning("store", {"from": torch.ones(2, 2), "to": x}, at=(0, 0), atomic="add", valid=(1, 2))
    same(added[0], [1.0, 2.0, 2.0, 3.0])
    same(added[1], [4.0, 5.0, 6.0, 7.0])
    same(x[0], [0.0, 1.0, 2.0, 3.0])
    flat = meaning("store", {"from": torch.ones(1, 2), "to": torch.zeros(3)}, at=(1,))
    same(flat, [0.0, 1.0, 1.0])


def test_create_and_views() -> None:
    same(meaning("full", {}, shape=(1, 2), value=0.1, dtype=FP16)[0], [0.0999755859375] * 2)
    same(meaning("full", {"value": torch.tensor(7.0)}, shape=(1, 2), dtype=INT32)[0], [7, 7])
    assert bool(meaning("create_tile", {}, shape=(2, 2), dtype=FP32).isnan().all())
    x = torch.arange(16).reshape(2, 8)
    same(meaning("slice", {"x": x}, at=(1, 4), shape=(1, 4))[0], [12, 13, 14, 15])
    same(meaning("reshape", {"x": x}, shape=(1, 16))[0], list(range(16)))
    same(meaning("move", {"from": x})[0], list(range(8)))


def test_dtype_names() -> None:
    for dtype in DTYPES.values():
        assert dtype_of_torch(torch_dtype(torch, dtype)) == dtype
    assert dtype_of_torch(torch.float64) is None
    assert int_range(INT8) == (-128, 127)
