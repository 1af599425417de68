"""The plan of a whole product agrees with the timeline: on the cycles, and on which of two tiles is the better one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.inputs import Spec
from pypto_spec.driver.session import compile_spec
from pypto_spec.passes.products import plan as plans
from pypto_spec.passes.products.plan import Plan
from pypto_spec.report.timeline import modelled
from pypto_spec.targets import TARGETS

TEXT = """\
spec: v1
name: mm
tensors:
  a:   {dtype: DTYPE, shape: [M, K]}
  b:   {dtype: DTYPE, shape: [K, N]}
  out: {dtype: fp32, shape: [M, N], access: out}
constants: SIZES
program:
  - region: mm
    blocks: 24
    body:
      - let: out = matmul(a, b, dtype=fp32)
"""


def ran(dtype: str, sizes: tuple[int, int, int], tile: tuple[int, int] | None, patch: Any) -> tuple[Plan, int]:
    """The plan that was followed, and its timeline; with `tile` only plans with that tile are there."""
    m, n, k = sizes
    text = TEXT.replace("DTYPE", dtype).replace("SIZES", f"{{M: {m}, N: {n}, K: {k}}}")
    seen: list[Plan] = []
    every = plans._plans

    def some(*args: Any) -> Iterator[Plan]:
        found = [p for p in every(*args) if tile is None or (p.m, p.n) == tile]
        seen.extend(found)
        return iter(found)

    with patch.context() as here:
        here.setattr(plans, "_plans", some)
        done = compile_spec(Spec(Source("mm.yaml", text), "yaml", text.encode()))
    assert done.program is not None
    line = modelled(done.program, TARGETS["a2a3"])
    assert line.complete
    return min(seen, key=plans._rank), line.cycles


@pytest.mark.parametrize(
    ("dtype", "sizes", "others"),
    [
        ("fp16", (2048, 2048, 2048), [(160, 192), (240, 128), (256, 128)]),
        ("fp32", (2048, 2048, 2048), [(176, 128), (240, 128)]),
        ("fp16", (512, 512, 4096), [(256, 128), (64, 256)]),
    ],
)
def test_the_tile_that_is_taken_is_the_best_of_the_timeline(
    dtype: str, sizes: tuple[int, int, int], others: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, best = ran(dtype, sizes, None, monkeypatch)
    assert best == pytest.approx(plan.cycles, rel=0.1)
    for tile in others:
        other, cycles = ran(dtype, sizes, tile, monkeypatch)
        assert (other.m, other.n) == tile
        assert cycles > best
        assert other.cycles > plan.cycles


def test_short_rows_cost_whole_bursts(monkeypatch: pytest.MonkeyPatch) -> None:
    wide, _ = ran("fp16", (2048, 2048, 2048), (128, 256), monkeypatch)
    tall, _ = ran("fp16", (2048, 2048, 2048), (256, 128), monkeypatch)
    assert tall.read > 1.2 * wide.read, "rows of B of 256 B take as long as rows of 512 B"
