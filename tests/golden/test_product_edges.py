"""Products of whole arrays at the edges of what loads, L0, the bias table and unit flags take agree with torch."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

pytest.importorskip("torch")

from tests.golden.harness import Case, assert_good

UNIT = "target: {platform: a2a3, unit_flag: true}\n"


def product(
    name: str,
    dtype: str,
    a: Sequence[int],
    b: Sequence[int],
    out: Sequence[int],
    formula: str = "matmul(a, b)",
    *,
    result: str = "",
    bias: Sequence[int] = (),
    region: str = "",
    target: str = "",
    strides: str = "",
) -> Case:
    """A spec of one region; `strides` are those of b."""
    acc = "int32" if dtype == "int8" else "fp32"
    spread = f"  bias: {{dtype: {acc}, shape: {list(bias)}}}\n" if bias else ""
    pitch = f", strides: {strides}" if strides else ""
    turned = formula.replace("a, b, a_trans=true, b_trans=true", "transpose(a), transpose(b)")
    turned = turned.replace("a, b, b_trans=true", "a, transpose(b)").replace("a, b, a_trans=true", "transpose(a), b")
    return Case(
        f"spec: v1\nname: {name}\n{target}tensors:\n"
        f"  a: {{dtype: {dtype}, shape: {list(a)}}}\n"
        f"  b: {{dtype: {dtype}, shape: {list(b)}{pitch}}}\n{spread}"
        f"  out: {{dtype: {result or acc}, shape: {list(out)}, access: out}}\n"
        f"program:\n  - region: mm\n{region}    body:\n      - let: out = {formula}\n"
        f"golden: {{expect: {{out: '{turned.replace(', dtype=bf16', '')}'}}}}\n",
        dtype == "int8",
        schedules=5,
    )


CASES = [
    # Mmad adds int8 products to pairs of boxes: so wide is the row of the bias table, and what unit flags cover
    product("int8_bias", "int8", (40, 33), (33, 17), (40, 17), "matmul(a, b) + bias", bias=(1, 17)),
    product(
        "int8_unit", "int8", (2, 7, 48), (65, 7), (2, 48, 65), "matmul(a, b, a_trans=true, b_trans=true)", target=UNIT,
    ),
    # one row of int8 goes to L0B by squares as well
    product("int8_depth", "int8", (33, 1), (1, 129), (33, 129), region="    blocks: 24\n"),
    # a row of A comes to L0A by whole fractals
    product("one_row", "fp16", (1, 700), (3, 700, 48), (3, 1, 48), region="    blocks: 2\n"),
    # behind a bias whose columns are not all valid stands what another tile left in L1
    product(
        "bias_rest", "fp16", (1, 20_000), (17, 20_000), (1, 17), "matmul(a, b, b_trans=true) + bias", bias=(1, 17),
        region="    blocks: auto\n",
    ),
    product("bias_batch", "bf16", (3, 40, 64), (64, 48), (3, 40, 48), "matmul(a, b) + bias", bias=(1, 1, 48)),
    product("bias_batch_column", "bf16", (3, 40, 64), (64, 1), (3, 40, 1), "matmul(a, b) + bias", bias=(1, 1, 1)),
    # rows too far apart for one copy take one each, also where their number is known at run time only
    product("far_depth", "fp16", (16, 600), (600, 32), (16, 32), strides="[70000, 1]"),
    product("far_tiles", "bf16", (16, 300), (300, 3000), (16, 3000), strides="[70000, 1]"),
    product(
        "far_rows", "bf16", (31, 64), (33, 64), (31, 33), "matmul(a, b, b_trans=true)", strides="[70000, 1]",
        region="    blocks: 24\n",
    ),
    # accumulators of several extents take turns in one place
    product(
        "unit_extents", "fp32", (256, 257), (200, 256), (257, 200), "matmul(a, b, a_trans=true, b_trans=true)",
        target=UNIT,
    ),
    # a `let` sees a bf16 result as fp32, and rounds it again
    product("rounded_relu", "bf16", (48, 64), (64, 48), (48, 48), "relu(matmul(a, b, dtype=bf16))", result="bf16"),
]  # fmt: skip

SUMS = """\
spec: v1
name: NAME
target: {platform: a2a3, unit_flag: true}
symbols: {K: {min: 1, max: 640}}
tensors:
  a:   {dtype: fp16, shape: [48, K]}
  b:   {dtype: fp16, shape: [K, 64]}
  out: {dtype: fp32, shape: [48, 64], access: out}
program:
  - region: mm
    body:
      - create_tile: {into: c, shape: [48, 64], dtype: fp32, memory: acc}
      - LOOP
        body:
          - load: {into: al, from: a, at: [0, k], shape: [48, 64], valid: [48, "min(64, K - k)"], memory: mat}
          - load: {into: bl, from: b, at: [k, 0], shape: [64, 64], valid: ["min(64, K - k)", 64], memory: mat}
          - matmul_acc: {into: c, acc: c, lhs: al, rhs: bl, init: k == 0}
      - store: {from: c, to: out, at: [0, 0]}
golden: {sizes: [{K: 1}, {K: 64}, {K: 100}, {K: 300}], expect: {out: 'matmul(a, b)'}}
"""
"""An accumulator over a K known at run time only."""

LOOPS = {
    "counted": "for: {index: k, range: [0, K, 64]}",
    "pipelined": "pipeline: {index: k, range: [0, K, 64], stages: 2}",
    "deep": "pipeline: {index: k, range: [0, K, 64], stages: 3}",
}

ARMS = """\
spec: v1
name: arms
symbols: {M: {min: 1, max: 9}}
tensors:
  a:   {dtype: fp16, shape: [48, 64]}
  b:   {dtype: fp16, shape: [64, 64]}
  out: {dtype: fp32, shape: [M, 48, 64], access: out}
program:
  - region: mm
    body:
      - load: {into: al, from: a, at: [0, 0], shape: [48, 64], memory: mat}
      - load: {into: bl, from: b, at: [0, 0], shape: [64, 64], memory: mat}
      - for: {index: i, count: M}
        body:
          - matmul: {into: c, lhs: al, rhs: bl}
          - if: i > 2
            then:
              - matmul_acc: {into: c, acc: c, lhs: al, rhs: bl}
          - store: {from: c, to: out, at: [i, 0, 0]}
golden: {sizes: [{M: 1}, {M: 5}]}
"""
"""An accumulator that one arm of an `if` adds to, and the other leaves as it is."""


def test_edges_agree_with_torch() -> None:
    assert_good(CASES)


def test_accumulators_of_a_run_time_depth_agree_with_torch() -> None:
    assert_good([Case(SUMS.replace("NAME", name).replace("LOOP", loop)) for name, loop in LOOPS.items()])


def test_an_accumulator_that_one_arm_adds_to() -> None:
    assert_good([Case(ARMS)])
