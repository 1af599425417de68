"""PH001: what is counted as a row, and what the hint advises."""

from __future__ import annotations

from pypto_spec.diagnostics.model import Diagnostic
from pypto_spec.driver.check import check_text

TILES = """\
spec: v1
name: mm
tensors:
  a:   {dtype: fp16, shape: [64, 256]}
  b:   {dtype: fp16, shape: [256, 512]}
  out: {dtype: DTYPE, shape: [64, 512], access: out}
program:
  - region: mm
    body:
      - load: {into: x, from: a, at: [0, 0], shape: [64, 128], memory: mat}
      - load: {into: y, from: b, at: [0, 0], shape: [128, 128], memory: mat}
      - matmul: {into: c, lhs: x, rhs: y}
      - store: {from: c, to: out, at: [0, 0]}
"""

ARRAYS = """\
spec: v1
name: mm
tensors:
  a:   {dtype: fp16, shape: [64, 96]}
  b:   {dtype: fp16, shape: [96, 512]}
  out: {dtype: fp16, shape: [64, 512], access: out}
program:
  - region: mm
    blocks: 24
    body:
      - let: out = matmul(a, b, dtype=fp16)
"""


def hints(text: str) -> list[Diagnostic]:
    return [d for d in check_text(text, "mm.yaml") if d.rule.code == "PH001"]


def test_an_accumulator_counts_as_what_it_is_rounded_to() -> None:
    plain = [d.message for d in hints(TILES.replace("DTYPE", "fp32")) if d.message.startswith("store")]
    rounded = [d.message for d in hints(TILES.replace("DTYPE", "fp16")) if d.message.startswith("store")]
    assert plain == []
    assert rounded == [
        "store of fp32[64, 128] (acc) as fp16 moves 16384 bytes as 64 rows of 256 bytes; "
        "512 bytes a row are recommended"
    ]


def test_tiles_that_the_compiler_chose_are_not_told_a_shape() -> None:
    written = [h for d in hints(TILES.replace("DTYPE", "fp16")) for h in d.helps]
    assert written
    assert all("shape: [" in h for h in written)
    found = hints(ARRAYS)
    assert {d.message.split()[0] for d in found} == {"load", "store"}
    assert all("fewer `blocks`" in h and "shape" not in h for d in found for h in d.helps)
