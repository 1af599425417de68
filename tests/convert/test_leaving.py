"""Numbers of a store from an accumulator: their dtype is their own, not the accumulator's."""

from __future__ import annotations

import pytest

from pypto_spec.driver.check import check_text

TEXT = """\
spec: v1
name: mm
tensors:
  a:   {dtype: int8, shape: [64, 64]}
  b:   {dtype: int8, shape: [64, 64]}
  out: {dtype: fp16, shape: [64, 64], access: out}
program:
  - region: mm
    body:
      - load: {into: x, from: a, at: [0, 0], shape: [64, 64], memory: mat}
      - load: {into: y, from: b, at: [0, 0], shape: [64, 64], memory: mat}
      - matmul: {into: c, lhs: x, rhs: y}
      - store: {from: c, to: out, at: [0, 0], quant: QUANT}
"""


@pytest.mark.parametrize(("quant", "warned"), [("0.125", []), ("3", []), ("1e-50", ["PS3031"])])
def test_a_scale_is_fp32_though_the_accumulator_is_int32(quant: str, warned: list[str]) -> None:
    found = check_text(TEXT.replace("QUANT", quant), "mm.yaml")
    assert [d.rule.code for d in found if d.rule.code.startswith("PS")] == warned
