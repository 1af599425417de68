"""MemoryReuse: buffers that share a place are never needed at the same time, and no result changes."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.diagnostics.span import Loc, Source, Span
from pypto_spec.driver.inputs import Spec
from pypto_spec.driver.lower_check import check_passes
from pypto_spec.ir.nodes import Buffer
from pypto_spec.ir.types import Memory
from pypto_spec.passes.memory.lifetimes import Lifetime, Lifetimes, peak
from pypto_spec.passes.memory.planners.places import shared
from pypto_spec.passes.memory.planners.pose import problem_of
from pypto_spec.targets import A2A3
from tests.passes.tile_programs import random_text, results, same, stages

LOC = Loc(Span(Source("k.yaml", ""), 1, 1, 1, 2))
MEMORY_PASSES = ("InitMemRef", "MaterializeSemanticAliases", "MemoryReuse", "AllocateMemoryAddr", "InsertSync")

spans = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 6), st.sampled_from([32, 64, 256])), max_size=24)


def sets(drawn: list[tuple[int, int, int]]) -> tuple[Lifetimes, dict[str, Buffer]]:
    """Lifetimes with nothing that could write in place, and their buffers."""
    lives = Lifetimes(())
    buffers: dict[str, Buffer] = {}
    for number, (start, length, size) in enumerate(drawn):
        name = f"vec.{number}"
        lives.of[name] = Lifetime(name, start, start + length)
        buffers[name] = Buffer(name=name, memory=Memory.VEC, loc=LOC, bytes=size, owner="compiler")
    return lives, buffers


def share(lives: Lifetimes, buffers: dict[str, Buffer]) -> dict[str, str]:
    """In whose place each buffer lives."""
    return shared(problem_of(lives, buffers.values(), A2A3, Memory.VEC, {}))


@given(spans)
def test_no_two_that_overlap_in_time_share_a_place(drawn: list[tuple[int, int, int]]) -> None:
    lives, buffers = sets(drawn)
    chosen = share(lives, buffers)
    assert chosen.keys() == buffers.keys()
    for a in buffers:
        assert (buffers[chosen[a]].bytes or 0) >= (buffers[a].bytes or 0)
        for b in buffers:
            if a < b and chosen[a] == chosen[b]:
                first, second = sorted((lives.of[a], lives.of[b]), key=lambda life: life.start)
                assert first.end < second.start


@given(spans)
def test_the_places_hold_what_is_live_at_the_peak(drawn: list[tuple[int, int, int]]) -> None:
    lives, buffers = sets(drawn)
    sizes = {name: buffer.bytes or 0 for name, buffer in buffers.items()}
    where, most = peak(lives.of, sizes)
    live = [sum(sizes[n] for n, life in lives.of.items() if life.start <= t <= life.end) for t in range(28)]
    assert most == max(live)
    assert not drawn or live[where] == most
    assert sum(sizes[name] for name in set(share(lives, buffers).values())) >= most


@given(st.randoms(use_true_random=False), st.booleans())
def test_memory_passes_change_no_result(rng: Random, pinned: bool) -> None:
    check(random_text(rng, pinned))


@pytest.mark.parametrize("seed", range(40))
def test_memory_passes_change_no_result_of_larger_programs(seed: int) -> None:
    check(random_text(Random(seed), seed % 4 == 0))


@pytest.mark.long
@pytest.mark.parametrize("start", range(0, 4000, 100))
def test_memory_passes_change_no_result_of_thousands(start: int) -> None:
    for seed in range(start, start + 100):
        check(random_text(Random(seed), seed % 4 == 0))


def check(text: str) -> None:
    _, found = stages(text)
    before = results(found["ResolveBackendOpLayouts"])
    for name in MEMORY_PASSES:
        assert same(before, results(found[name])), f"{name} changed the result of\n{text}"


# Planted faults


ILLEGAL = {
    "cast": """
      - load: {into: t, from: x, at: [0, 0], shape: [64, 64]}
      - cast: {into: y, x: t, dtype: fp16, mode: rint}
      - cast: {into: y, x: y, dtype: fp32}
""",
    "vector of an expand": """
      - load: {into: t, from: x, at: [0, 0], shape: [64, 64]}
      - row_max: {into: v, x: t}
      - row_expand_sub: {into: y, x: t, v: v}
""",
    "column": """
      - load: {into: t, from: x, at: [0, 0], shape: [64, 64]}
      - col_max: {into: v, x: t}
      - col_expand: {into: y, x: v, rows: 64}
""",
    "rearrangement": """
      - load: {into: t, from: x, at: [0, 0], shape: [64, 32]}
      - load: {into: u, from: x, at: [0, 32], shape: [64, 32]}
      - concat: {into: y, lhs: t, rhs: u}
""",
}


@pytest.mark.parametrize("what", ILLEGAL)
def test_a_planted_violation_of_no_alias_is_named(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "spec: v1\nname: k\ntensors:\n  x: {dtype: fp32, shape: [64, 64]}\n"
        "  out: {dtype: fp32, shape: [64, 64], access: out}\nprogram:\n  - region: r\n    body:"
        f"{ILLEGAL[what]}      - store: {{from: y, to: out, at: [0, 0]}}\n"
    )
    spec = Spec(Source("k.yaml", text), "yaml", text.encode())
    assert all(step.word == "equal" for step in check_passes(spec).steps)
    # As if every op might write over anything that it is the last to read, scratch included.
    monkeypatch.setattr(Lifetimes, "compatible", lambda self, a, b: max(a.start, b.start) >= min(a.end, b.end))
    checked = check_passes(spec)
    assert [(step.name, step.word) for step in checked.steps][-1] == ("MemoryReuse", "CHANGED")
    assert any("the pass MemoryReuse changed the result" in d.message for d in checked.findings)
