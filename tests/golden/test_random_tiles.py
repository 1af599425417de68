"""Random programs of cube tiles agree with torch, through the rendered C++ on the host model."""

from __future__ import annotations

from random import Random

import pytest

pytest.importorskip("torch")

from tests.golden.harness import Case, assert_good
from tests.golden.tile_products import draw

SUM = """\
spec: v1
name: NAME
symbols: {M: {min: 1, max: 200}, K: {min: 1, max: 500}}
tensors:
  a:   {dtype: DTYPE, shape: [K, M]}
  b:   {dtype: DTYPE, shape: [K, 96]}
  out: {dtype: ACC, shape: [M, 96], access: out}
program:
  - region: mm
    body:
      - for: {index: i, count: "ceil_div(M, 48)"}
        body:
          - create_tile: {into: c, shape: [48, 96], dtype: ACC, memory: acc, valid: ["min(48, M - i * 48)", 96]}
          - pipeline: {index: k, range: [0, K, 64], stages: STAGES}
            body:
              - load:
                  {into: x, from: a, at: [k, i * 48], shape: [64, 48],
                   valid: ["min(64, K - k)", "min(48, M - i * 48)"], memory: mat}
              - transpose_view: {into: xt, x: x}
              - load: {into: y, from: b, at: [k, 0], shape: [64, 96], valid: ["min(64, K - k)", 96], memory: mat}
              - matmul_acc: {into: c, acc: c, lhs: xt, rhs: y, init: k == 0}
          - store: {from: c, to: out, at: [i * 48, 0]}
golden:
  sizes: [{M: 1, K: 1}, {M: 49, K: 65}, {M: 120, K: 193}, {M: 96, K: 320}]
  expect: {out: "matmul(transpose(a), b)"}
"""


def test_a_sum_over_a_run_time_k_in_stages() -> None:
    """The rest behind a pipeline is an `if`, whose arms go on with one accumulator; K is cut to what is there."""
    cases: list[Case] = []
    for dtype, acc in (("fp16", "fp32"), ("fp32", "fp32"), ("int8", "int32")):
        for stages in (1, 2, 3, 4):
            text = SUM.replace("NAME", f"sum_{dtype}_{stages}").replace("DTYPE", dtype).replace("ACC", acc)
            cases.append(Case(text.replace("STAGES", str(stages)), exact=dtype == "int8"))
    assert_good(cases)


def _check(seed: int, count: int) -> None:
    rng = Random(seed)
    made = [draw(rng, f"tiles_{number}") for number in range(count)]
    assert_good([Case(program.text, expect=program.expect) for program in made])


def test_tiles_agree_with_torch() -> None:
    _check(0, 24)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 21))
def test_a_thousand_programs_agree_with_torch(seed: int) -> None:
    _check(seed, 50)
