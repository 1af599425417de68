"""How deep a pipeline gets: a law for stages alone in a memory, and depth that only an exact placement keeps."""

from __future__ import annotations

from itertools import product

import pytest

from pypto_spec.diagnostics.model import Diagnostic
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import Compilation, compile_source
from pypto_spec.ir.types import round_up
from pypto_spec.targets import A2A3

CAPACITY = A2A3.capacity[next(m for m in A2A3.capacity if m.value == "vec")]

ALONE = """\
spec: v1
name: alone
target: {{planner: {planner}}}
tensors:
  a: {{dtype: {dtype}, shape: [{all}, {cols}]}}
  out: {{dtype: {dtype}, shape: [{all}, {cols}], access: out}}
program:
  - region: alone
    body:
      - pipeline: {{index: i, count: {count}, stages: {depth}}}
        body:
          - load: {{into: t, from: a, at: [i * {rows}, 0], shape: [{rows}, {cols}]}}
          - exp: {{into: y, x: t}}
          - store: {{from: y, to: out, at: [i * {rows}, 0]}}
"""

BYTES = {"fp32": 4, "fp16": 2}
SHAPES = [
    (8, 64),
    (16, 100),
    (48, 128),
    (64, 128),
    (64, 256),
    (33, 250),
    (128, 128),
    (90, 512),
    (1, 4096),
    (184, 256),
    (112, 128),
]


def alone(rows: int, cols: int, dtype: str, depth: int, planner: str) -> Compilation:
    count = 2 * depth
    text = ALONE.format(
        planner=planner, dtype=dtype, rows=rows, cols=cols, depth=depth, count=count, all=count * rows
    )  # fmt: skip
    return compile_source(Source("k.yaml", text), after="AllocateMemoryAddr")


def lost(done: Compilation) -> list[Diagnostic]:
    return [d for d in done.diagnostics if d.rule.code == "PH-MR-001"]


@pytest.mark.parametrize("planner", ["pypto", "ptoas"])
@pytest.mark.parametrize(("rows", "cols"), SHAPES)
@pytest.mark.parametrize("dtype", BYTES)
def test_stages_alone_get_as_many_buffers_as_the_memory_holds(rows: int, cols: int, dtype: str, planner: str) -> None:
    slot = rows * round_up(cols * BYTES[dtype], 32)
    assert slot <= CAPACITY
    for depth in (2, 3, 4, 5, 8, 12):
        done = alone(rows, cols, dtype, depth, planner)
        fit = min(depth, CAPACITY // slot)
        assert done.ok
        if fit == depth:
            assert lost(done) == []
            continue
        (found,) = lost(done)
        figures = dict(found.figures)
        wanted = {
            "requested": depth, "achieved": fit, "bytes_per_stage": slot, "free_bytes": CAPACITY, "advice": "slot",
            "shrink_to_bytes": CAPACITY // depth, "excess_bytes": depth * slot - CAPACITY,
        }  # fmt: skip
        assert {name: figures[name] for name in wanted} == wanted
        assert f"{depth} requested, {fit} achieved" == found.primary.text
        (recorded,) = done.depths
        assert (recorded.requested, recorded.achieved, recorded.slot, recorded.line) == (depth, fit, slot, 10)


def test_the_shapes_cover_both_answers() -> None:
    """Some keep all their stages, some lose some, and some are left with one."""
    slots = [r * round_up(c * BYTES[d], 32) for (r, c), d in product(SHAPES, BYTES)]
    assert {min(4, CAPACITY // slot) for slot in slots} == {1, 2, 3, 4}
