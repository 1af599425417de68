"""Blocks of one launch that write the same elements, and statements that cannot be ordered by hand."""

from __future__ import annotations

import pytest

from pypto_spec.driver.check import check_text

HEAD = """\
spec: v1
name: k
symbols: {M: {min: 16, max: 1000}}
tensors:
  a: {dtype: fp32, shape: [64, 128]}
  out: {dtype: fp32, shape: [64, 128], access: inout}
  long: {dtype: fp32, shape: [M, 128], access: inout}
program:
"""
LOAD = "load: {into: t, from: a, at: [0, 0], shape: [%d, 128]}"


def found(launch: str, *lines: str) -> list[str]:
    body = "".join(f"          {'' if line[0] == ' ' else '- '}{line}\n" for line in lines)
    text = f"{HEAD}  - {launch}\n    body:\n      - region: k\n        body:\n{body}"
    return [d.message for d in check_text(text, "k.yaml") if d.rule.code == "PS6041"]


@pytest.mark.parametrize(
    ("launch", "lines"),
    [
        ("spmd: {index: b, blocks: 4}", ("let: out = a * a",)),
        ("spmd: {index: b, blocks: auto}", (LOAD % 64, "store: {from: t, to: out, at: [0, 0]}")),
        ("parallel: {index: i, count: 8}", (LOAD % 16, "store: {from: t, to: out, at: [i * 6, 0]}")),
        ("spmd: {index: b, blocks: 4}", (LOAD % 16, "store: {from: t, to: out, at: [b % 2 * 16, 0]}")),
        (
            "spmd: {index: b, blocks: 4}",
            (
                "for: {index: i, count: 4}", "  body:", "    - " + LOAD % 16,
                "    - store: {from: t, to: out, at: [i * 16, 0]}",
            ),
        ),
        ("spmd: {index: b, blocks: 2}", (LOAD % 16, "store: {from: t, to: long, at: [0, 0]}")),
        ("parallel: {index: [m, n], count: [4, 2]}", (LOAD % 16, "store: {from: t, to: out, at: [m * 16, 0]}")),
        (
            "parallel: {index: [m, n], count: [3, 2], blocks: 2, order: {swizzle: 2}}",
            (LOAD % 16, "store: {from: t, to: out, at: [m * 16, 0]}"),
        ),
    ],
)  # fmt: skip
def test_overlap(launch: str, lines: tuple[str, ...]) -> None:
    (message,) = found(launch, *lines)
    assert message.startswith("blocks 0 and ")


@pytest.mark.parametrize(
    ("launch", "lines"),
    [
        ("spmd: {index: b, blocks: 1}", ("let: out = a * a",)),
        ("spmd: {index: b, blocks: 4}", (LOAD % 16, "store: {from: t, to: out, at: [b * 16, 0]}")),
        (
            "parallel: {index: [m, n], count: [3, 2], blocks: 2, order: {swizzle: 2}}",
            (LOAD.replace("128]", "64]") % 8, "store: {from: t, to: out, at: [m * 8, n * 64]}"),
        ),
        ("spmd: {index: b, blocks: 4}", (LOAD % 64, "store: {from: t, to: out, at: [0, 0], atomic: add}")),
        ("spmd: {index: b, blocks: 4}", ("if: b == 0", "  then:", "    - let: out = a * a")),
        (
            "spmd: {index: b, blocks: auto}",
            (
                "for: {index: i, range: [b, 4, num_blocks()]}", "  body:", "    - " + LOAD % 16,
                "    - store: {from: t, to: out, at: [i * 16, 0]}",
            ),
        ),
        ("parallel: {index: i, count: 4}", (LOAD % 16, "store: {from: t, to: out, at: [i * 16, 0]}")),
        ("spmd: {index: b, blocks: 4}", (LOAD % 16, "store: {from: t, to: long, at: [min(b, M - 16), 0]}")),
    ],
    ids=["one block", "shared out", "cells", "atomic", "one block writes", "in turn", "parallel", "not known"],
)  # fmt: skip
def test_no_overlap(launch: str, lines: tuple[str, ...]) -> None:
    assert found(launch, *lines) == []


def test_a_statement_that_no_flag_can_order_is_told_once() -> None:
    text = """\
spec: v1
name: k
target: {sync: manual}
tensors:
  a: {dtype: fp32, shape: [512, 1024]}
  out: {dtype: fp32, shape: [512, 1024], access: out}
program:
  - region: k
    body:
      - let: out = exp(a - row_max(a)) * 2
"""
    (only,) = check_text(text, "k.yaml")
    assert only.rule.code == "PS5101"
    assert "nothing orders what this statement becomes" in only.message
