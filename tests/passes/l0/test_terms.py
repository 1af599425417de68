"""Cost terms worked out by hand, on a2a3 unless a5 is named."""

from __future__ import annotations

import pytest

from pypto_spec.ir.dtype import BF16, FP32, INT8, DType
from pypto_spec.passes.l0.problem import Form, Problem, Stationary, pose
from pypto_spec.passes.l0.terms import drain_of_tile, fractals_along_k, grid, terms
from pypto_spec.targets import A2A3, A5
from pypto_spec.targets.l0 import odd_part

OUTPUT, A, B = Stationary.OUTPUT, Stationary.A, Stationary.B


def small(k: int = 64) -> Problem:
    """[256, k] @ [k, 256] in bf16: with k 64 each operand has 32,768 B."""
    return pose(A2A3, 256, 256, k, BF16)


@pytest.mark.parametrize(
    ("stationary", "m", "n", "a", "b"),
    [
        # 32,768 B take 252.64 cycles at 129.7 B/cycle, and 383.70 at 85.4
        (A, 128, 256, 252.64, 767.40),
        (B, 128, 256, 252.64, 383.70),
        (OUTPUT, 128, 256, 252.64, 383.70),  # keeping B is cheaper than keeping A
        (A, 256, 128, 252.64, 383.70),
        (B, 256, 128, 505.29, 383.70),
        (OUTPUT, 256, 128, 252.64, 383.70),
    ],
)
def test_loads_with_all_of_k(stationary: Stationary, m: int, n: int, a: float, b: float) -> None:
    load = grid(small(), m, n).load(Form(stationary), whole_k=True)
    assert (load.a, load.b) == pytest.approx((a, b), abs=0.01)


def test_loads_of_a_cut_k_are_repeated_for_every_tile() -> None:
    load = grid(small(), 128, 64).load(Form(OUTPUT), whole_k=False)
    assert (load.a, load.b) == pytest.approx((4 * 252.645, 2 * 383.700), abs=0.01)


def test_a_tie_of_the_loads_keeps_a() -> None:
    """With one tile on either axis nothing is loaded twice."""
    at = grid(small(), 256, 256)
    assert at.keep_a.total == at.keep_b.total
    assert at.kept(OUTPUT) is A


@pytest.mark.parametrize(
    ("dtype", "k", "tile_k", "fractals"),
    [
        (BF16, 64, 64, 4),
        (BF16, 80, 64, 4 + 1),
        (FP32, 64, 32, 2 * 4),
        (INT8, 96, 64, 2 + 1),
        (INT8, 96, 48, 2 * 2),  # 48 elements are one and a half fractals of 32: two each time
        (INT8, 96, 96, 3),
    ],
)
def test_fractals_along_k(dtype: DType, k: int, tile_k: int, fractals: int) -> None:
    assert fractals_along_k(pose(A2A3, 16, 16, k, dtype), tile_k) == fractals


@pytest.mark.parametrize(
    ("dtype", "platform", "expected"),
    [
        (BF16, "a2a3", 2 * (21 + 8 * 16 * 4)),
        (INT8, "a2a3", 2 * (21 + 8 * 16 * 2)),
        (FP32, "a2a3", 2 * (21 + 2 * 8 * 16 * 8)),
        (BF16, "a5", 2 * (25 + 8 * 16 * 4)),
        (FP32, "a5", 2 * (25 + 8 * 8 * 16 * 8)),
    ],
)
def test_mads(dtype: DType, platform: str, expected: int) -> None:
    given = pose({"a2a3": A2A3, "a5": A5}[platform], 256, 256, 64, dtype)
    assert terms(given, Form(OUTPUT), grid(given, 128, 256), 64).mad == expected


def test_each_block_of_k_has_a_head_and_the_rest_its_own_width() -> None:
    given = small(k=80)
    assert terms(given, Form(OUTPUT), grid(given, 128, 256), 64).mad == 2 * (2 * 21 + 8 * 16 * 5)


@pytest.mark.parametrize(
    ("m", "n", "cycles"),
    [
        (128, 256, 164 + 128 * (1024 / 118)),  # 32 blocks of 8 elements, one burst; wide rows go by bytes
        (128, 64, 164 + 128 * 4.45),  # a narrow row takes the floor
        (16, 80, 164 + 16 * (4.45 + 2.6 * 4)),  # 10 blocks: 5 bursts
        (16, 96, 164 + 16 * (4.45 + 2.6 * 2)),  # 12 blocks: 3 bursts
        (48, 144, 164 + 48 * (576 / 118 + 2.6 * 8)),  # 18 blocks: 9 bursts
    ],
)
def test_drain_of_one_tile(m: int, n: int, cycles: float) -> None:
    assert drain_of_tile(small(), m, n) == pytest.approx(cycles)


def test_drain_of_a5_is_its_own() -> None:
    given = pose(A5, 256, 256, 64, BF16)
    assert drain_of_tile(given, 256, 96) == pytest.approx(343.4 + 256 * (384 / 30 + 0.26 * 2))


@pytest.mark.parametrize(("value", "odd"), [(1, 1), (8, 1), (10, 5), (12, 3), (18, 9), (7, 7)])
def test_odd_part(value: int, odd: int) -> None:
    assert odd_part(value) == odd


def test_the_wall_of_one_accumulator_adds_the_drain() -> None:
    given = small()
    got = terms(given, Form(B), grid(given, 128, 256), 64)
    assert (got.load.total, got.mad, got.drain) == pytest.approx((636.34, 1066, 2549.56), abs=0.01)
    assert got.wall == 3616  # 1066 + 2549.56
    assert got.bound == "drain"


def test_the_wall_of_two_accumulators_hides_all_but_one() -> None:
    given = small()
    got = terms(given, Form(B, double=True), grid(given, 64, 256), 64)
    assert (got.mad, got.drain) == pytest.approx((4 * (21 + 4 * 16 * 4), 4 * (164 + 64 * 1024 / 118)), abs=0.01)
    assert got.wall == 3155  # 2877.56 + 1108 / 4


def test_loads_count_where_they_are_slower_than_the_cube() -> None:
    given = pose(A2A3, 16, 256, 512, BF16)
    got = terms(given, Form(OUTPUT), grid(given, 16, 256), 64)
    assert got.load.total == pytest.approx(16_384 / 129.7 + 262_144 / 85.4)
    assert got.mad == 8 * 21 + 16 * 32
    assert got.bound == "load"
    assert got.wall == 3499  # 3195.93 + 164 + 16 * 8.678
