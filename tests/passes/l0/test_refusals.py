"""What is not cut, with the figures and the way out; each way out is followed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pypto_spec.ir.dtype import BF16, FP32, INT8, INT16, DType
from pypto_spec.ir.types import Memory, TileType
from pypto_spec.passes.l0.choice import Choice, choose
from pypto_spec.passes.l0.operands import TooLarge, too_large
from pypto_spec.passes.l0.problem import Problem, pose
from pypto_spec.passes.l0.refusals import PADDED, Reason, Refusal
from pypto_spec.targets import A2A3, A5


def refused(given: Problem) -> Refusal:
    refusal = choose(given)
    assert isinstance(refusal, Refusal)
    return refusal


def test_int8_is_cut_by_32() -> None:
    refusal = refused(pose(A2A3, 16, 64, 48, INT8))
    assert refusal.text == "K is 48, which is no multiple of 32"
    assert refusal.help.startswith("make K 64, ")
    assert refused(pose(A2A3, 16, 16, 64, INT8)).text == "N is 16, less than 32"


@pytest.mark.parametrize(
    ("shape", "code", "text", "wanted"),
    [
        ((64, 64, 36), "PH-AT-007", "K is 36, which is no multiple of 16", (64, 64, 48)),
        ((64, 64, 8), "PH-AT-007", "K is 8, which is no multiple of 16", (64, 64, 16)),
        ((1, 64, 64), "PH-AT-005", "M is 1, less than 16", (16, 64, 64)),
        ((64, 8, 64), "PH-AT-005", "N is 8, less than 16", (64, 16, 64)),
        ((4, 8, 64), "PH-AT-005", "M is 4, less than 16, N is 8, less than 16", (16, 16, 64)),
    ],
)
def test_shapes(shape: tuple[int, int, int], code: str, text: str, wanted: tuple[int, int, int]) -> None:
    refusal = refused(pose(A2A3, *shape, BF16))
    assert (refusal.code, refusal.text) == (code, text)
    changed = [f"{n} {w}" for n, w, was in zip("MNK", wanted, shape, strict=True) if w != was]
    assert refusal.help == f"make {' and '.join(changed)}, with zeros behind the valid part of the operands"
    assert isinstance(choose(pose(A2A3, *wanted, BF16)), Choice)


def test_a_bias_asks_for_whole_boxes() -> None:
    refusal = refused(pose(A2A3, 24, 48, 48, INT8, bias=Memory.MAT))
    assert refusal.code == "PH-AT-011"
    assert refusal.text == (
        "M is 24, which is no multiple of 16, N is 48, which is no multiple of 32, K is 48, which is no multiple of "
        "32; with a bias it has to be"
    )
    assert refusal.help.startswith("make M 32 and N 64 and K 64, ")
    assert isinstance(choose(pose(A2A3, 32, 64, 64, INT8, bias=Memory.MAT)), Choice)
    assert isinstance(choose(pose(A2A3, 24, 48, 64, INT8)), Choice)


def test_the_first_reason_counts() -> None:
    assert refused(pose(A2A3, 1, 64, 36, INT16)).reason is Reason.DTYPE
    assert refused(pose(A2A3, 1, 64, 36, BF16)).reason is Reason.UNALIGNED_K


def test_dtypes_that_the_cube_does_not_multiply() -> None:
    refusal = refused(pose(A2A3, 64, 64, 64, INT16))
    assert refusal.code == "PH-AT-003"
    assert refusal.text == "the cube does not multiply int16"
    assert refusal.help == "cast both operands to one of fp16, bf16, fp32, int8"


def test_memories_too_small_for_any_tile() -> None:
    refusal = refused(replace(pose(A2A3, 64, 64, 64, FP32), acc_bytes=512))
    assert refusal.code == "PH-AT-005"
    assert "the smallest is 16 x 16 x 16" in refusal.text
    assert "L0C 512 B" in refusal.text


def test_a_bias_in_the_table_that_is_too_wide() -> None:
    refusal = refused(pose(A2A3, 64, 512, 64, BF16, bias=Memory.BIAS))
    assert "the smallest is 16 x 512 x 16" in refusal.text
    assert refusal.help == "give fewer columns at a time: the bias table holds 256"


def test_padding_is_a_choice_and_is_said() -> None:
    choice = choose(pose(A2A3, 1, 100, 36, BF16, pad=True))
    assert isinstance(choice, Choice)
    assert choice.problem.is_padded
    assert (choice.problem.asked, choice.problem.shape) == ((1, 100, 36), (16, 112, 48))
    assert not pose(A2A3, 16, 112, 48, BF16, pad=True).is_padded
    assert PADDED == "PH-AT-008"


@pytest.mark.parametrize(
    ("memory", "dtype", "shape", "expected"),
    [
        (Memory.LEFT, BF16, (128, 256), None),
        (Memory.LEFT, BF16, (128, 512), TooLarge(131_072, 65_536, 256)),
        (Memory.RIGHT, BF16, (272, 120), TooLarge(69_632, 65_536, 256)),  # 120 columns take 128
        (Memory.RIGHT, INT8, (144, 500), TooLarge(81_920, 65_536, 128)),  # 144 x 500 take 160 x 512
        (Memory.LEFT, FP32, (1024, 8), None),
        (Memory.LEFT, FP32, (2048, 8), TooLarge(131_072, 65_536, 0)),
    ],
)
def test_operands_put_by_hand(memory: Memory, dtype: DType, shape: tuple[int, int], expected: TooLarge | None) -> None:
    found = too_large(A2A3, TileType(dtype, shape, memory))
    assert found == expected == too_large(A5, TileType(dtype, shape, memory))
    if found is not None and found.k:
        fits = (shape[0], found.k) if memory is Memory.LEFT else (found.k, shape[1])
        assert too_large(A2A3, TileType(dtype, fits, memory)) is None
