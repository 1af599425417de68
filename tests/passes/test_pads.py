"""A pad that would change a reduction is an error; one that changes nothing, or is not reduced over, is none."""

from __future__ import annotations

import pytest

from tests.golden.harness import Case, Failure, assert_good, make

SPEC = """\
spec: v1
name: NAME
tensors:
  x: {{dtype: fp32, shape: [20, 50]}}
  out: {{dtype: fp32, shape: {shape}, access: out}}
program:
  - region: r
    body:
      - load: {{into: t, from: x, at: [0, 0], shape: [24, 64], valid: [20, 50]}}
      - {fill}
      - {more}
      - store: {{from: m, to: out, at: [0, 0]}}
"""
FILL = "fillpad: {into: w, x: t, pad: %s}"
CASES = [
    ("row_max", "zero", False),
    ("row_max", "min", True),
    ("row_min", "min", False),
    ("row_min", "max", True),
    ("row_sum", "one", False),
    ("row_sum", "zero", True),
    ("col_sum", "zero", True),
    ("col_max", "max", False),
    ("row_prod", "one", True),
    ("row_prod", "zero", False),
]


def case(op: str, fill: str, more: str = "") -> Case:
    shape = "[24, 1]" if op.startswith("row") else "[1, 64]"
    steps = f"{more}\n      - {op}: {{into: m, x: {'v' if more else 'w'}}}" if more else f"{op}: {{into: m, x: w}}"
    text = SPEC.format(shape=shape, fill=fill, more=steps)
    return Case(text.replace("NAME", f"pads_{op}_{sum(map(ord, fill + more))}"))


@pytest.mark.parametrize(("op", "pad", "good"), CASES)
def test_a_pad_is_the_identity_of_the_reduction(op: str, pad: str, good: bool) -> None:
    made = make(case(op, FILL % pad))
    assert isinstance(made, Failure) is not good, made
    if isinstance(made, Failure):
        assert "PS3022" in made.message


def test_a_pad_is_followed_through_copies_but_not_through_arithmetic() -> None:
    copied = make(case("row_max", FILL % "zero", "move: {into: v, from: w}"))
    assert isinstance(copied, Failure)
    assert "PS3022" in copied.message
    assert not isinstance(make(case("row_sum", FILL % "min", "exp: {into: v, x: w}")), Failure)


def test_good_pads_give_the_reduction_of_the_valid_part() -> None:
    assert_good([case(op, FILL % pad) for op, pad, good in CASES if good and op != "row_prod"])
