"""AllocateMemoryAddr: no two buffers of a region overlap, and what does not fit is listed."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.diagnostics.span import Loc, Source, Span
from pypto_spec.ir.nodes import Buffer
from pypto_spec.ir.rewrite import regions
from pypto_spec.ir.types import Memory
from pypto_spec.passes.allocate_memory_addr import place
from pypto_spec.passes.memory.lifetimes import Lifetimes
from pypto_spec.targets import A2A3
from tests.passes.tile_programs import random_text, stages

LOC = Loc(Span(Source("k.yaml", ""), 1, 1, 1, 2))

TOO_MUCH = """spec: v1
name: k
tensors:
  x: {dtype: fp32, shape: [256, 128]}
  out: {dtype: fp32, shape: [256, 128], access: out}
program:
  - region: big
    body:
      - load: {into: a, from: x, at: [0, 0], shape: [128, 128]}
      - load: {into: b, from: x, at: [128, 0], shape: [128, 128]}
      - exp: {into: c, x: a}
      - add: {into: d, lhs: b, rhs: c}
      - mul: {into: e, lhs: d, rhs: a}
      - store: {from: e, to: out, at: [0, 0]}
      - row_sum: {into: s, x: b}
      - row_expand_mul: {into: f, x: d, v: s}
      - store: {from: f, to: out, at: [128, 0]}
"""

sizes = st.lists(
    st.tuples(st.integers(1, 60), st.integers(1, 3), st.none() | st.integers(0, 40)), min_size=1, max_size=10
)


@given(sizes)
def test_buffers_stand_apart(drawn: list[tuple[int, int, int | None]]) -> None:
    """Those with a written address stay there, the others are aligned and clear of everything."""
    buffers: list[Buffer] = []
    for number, (size, slots, fixed) in enumerate(drawn):
        address = None if fixed is None else fixed * 32
        buffers.append(
            Buffer(name=f"b{number}", memory=Memory.VEC, loc=LOC, bytes=size * 8, slots=slots, address=address)
        )
    placed, end = place(buffers, Memory.VEC, A2A3, {})
    ranges = [(b.address or 0, (b.address or 0) + (b.bytes or 0) * b.slots) for b in placed]
    assert end == max(high for _, high in ranges)
    for number, (before, after) in enumerate(zip(buffers, placed, strict=True)):
        assert before.address in (None, after.address)
        assert before.address is not None or ranges[number][0] % 32 == 0
        for other in range(len(placed)):
            if other != number and before.address is None:
                low, high = ranges[number]
                assert high <= ranges[other][0] or ranges[other][1] <= low


@given(st.randoms(use_true_random=False))
def test_what_is_live_together_stands_apart(rng: Random) -> None:
    _, found = stages(random_text(rng), "AllocateMemoryAddr")
    program = found["AllocateMemoryAddr"]
    for region in regions(program.body):
        lives = Lifetimes(region.body).of
        here = sorted((b for b in program.buffers if b.name in lives), key=lambda b: b.address or 0)
        assert all(b.address is not None and b.address % 32 == 0 for b in here)
        for first, second in pairwise(here):
            assert (first.address or 0) + (first.bytes or 0) * first.slots <= (second.address or 0)


def test_the_ledger_of_an_overflow() -> None:
    with pytest.raises(CompileError) as caught:
        stages(TOO_MUCH)
    (found,) = caught.value.diagnostics
    assert found.message == "region `big` needs 196608 B (192 KiB) of `vec` memory, 188416 B (184 KiB) are available"
    assert found.notes == (
        "live in `vec` at line 11:\n"
        "  65536 B (64 KiB): `a` fp32[128, 128], lines 9 to 13\n"
        "  65536 B (64 KiB): `b` fp32[128, 128], lines 10 to 15\n"
        "  65536 B (64 KiB): `c` fp32[128, 128], lines 11 to 12\n"
        "  196608 B (192 KiB) in all, of 188416 B (184 KiB)",
    )
    assert found.helps == ("8192 B (8 KiB) too much: use smaller tiles, or load less at a time in a loop",)
    assert dict(found.figures)["live_bytes"] == 196608
    assert (found.primary.span.line, [label.span.line for label in found.secondary]) == (11, [9, 10])


def test_a_coarser_grid_is_kept_by_every_slot() -> None:
    buffers = [
        Buffer(name="a", memory=Memory.VEC, loc=LOC, bytes=32),
        Buffer(name="b", memory=Memory.VEC, loc=LOC, bytes=96, slots=2),
        Buffer(name="c", memory=Memory.VEC, loc=LOC, bytes=32),
    ]
    placed, end = place(buffers, Memory.VEC, A2A3, {"b": 256})
    assert [(b.address, b.bytes) for b in placed] == [(0, 32), (256, 256), (768, 32)]
    assert end == 800
