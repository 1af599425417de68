"""What LowerTensorMatmul reads as one product: only what the cube does with the same result."""

from __future__ import annotations

import pytest

from pypto_spec.driver.check import check_text
from pypto_spec.driver.test import test_text as run_text

TEXT = """\
spec: v1
name: mm
tensors:
  x:  {dtype: fp16, shape: [32, 48]}
  w:  {dtype: fp16, shape: [48, N]}
  v:  {dtype: fp16, shape: [N, 32]}
  d:  {dtype: fp32, shape: [1, N]}
  o:  {dtype: fp32, shape: [32, N], access: out}
program:
  - region: mm
    body:
      - let: BODY
golden:
  expect: {o: "FORMULA"}
"""


def text(body: str, formula: str = "matmul(x, w)", n: int = 32) -> str:
    made = TEXT
    for word, value in (("BODY", body), ("FORMULA", formula), ("N", str(n))):
        made = made.replace(word, value)
    return made


def errors(spec: str) -> list[str]:
    return [d.rule.code for d in check_text(spec, "mm.yaml") if d.rule.code.startswith("PS")]


@pytest.mark.parametrize(
    "body",
    [
        "o = cast(matmul(x, w, dtype=fp16), fp32)",
        "o = cast(cast(matmul(x, w), fp16), fp32)",
        "o = cast(matmul(x, w, dtype=bf16) + cast(d, bf16), fp32)",
    ],
)
def test_what_was_rounded_is_not_taken_back(body: str) -> None:
    """The cube rounds once, as it stores; to round before is the vector core's."""
    assert "PS6010" in errors(text(body))


def test_a_value_that_is_used_as_it_is_and_after_relu() -> None:
    both = text("h = matmul(x, w, dtype=fp16)").replace(
        "golden:",
        "      - let: r = relu(h)\n      - let: o = matmul(r, v) + matmul(h, v)\ngolden:",
    )
    assert errors(both)
    assert "PS9002" not in errors(both)


def test_the_bias_of_one_column() -> None:
    pytest.importorskip("torch")
    for n in (1, 2):
        found = run_text(text("o = matmul(x, w) + d", "matmul(x, w) + d", n=n), "mm.yaml")
        assert [d.message for d in found if d.rule.code.startswith("PS")] == []
