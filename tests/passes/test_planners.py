"""The quick planners: every placement is a solution, never below the bound, the same each time, and soon there."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from random import Random
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.diagnostics.span import Loc, Source, Span
from pypto_spec.ir.nodes import Buffer
from pypto_spec.ir.rewrite import regions
from pypto_spec.ir.types import Memory
from pypto_spec.passes.memory.grids import grids
from pypto_spec.passes.memory.lifetimes import Lifetime, Lifetimes
from pypto_spec.passes.memory.planners.bound import lower_bound
from pypto_spec.passes.memory.planners.first_fit import first_fit
from pypto_spec.passes.memory.planners.places import places, shared
from pypto_spec.passes.memory.planners.pose import problem_of
from pypto_spec.passes.memory.problem import Item, Problem
from pypto_spec.targets import A2A3
from tests.bench.lifetimes import large_set, random_problem, with_authors
from tests.passes.tile_programs import random_text, stages

LOC = Loc(Span(Source("k.yaml", ""), 1, 1, 1, 2))


def drawn(rng: Random, most: int = 24) -> Problem:
    problem = random_problem(rng, rng.randint(1, most))
    problem = with_authors(rng, problem) if rng.randrange(3) == 0 else problem
    return replace(problem, reserved=rng.choice([0, 0, 32, 1000]))


@given(st.randoms(use_true_random=False))
def test_placements_are_solutions_and_not_below_the_bound(rng: Random) -> None:
    problem = drawn(rng)
    bound = lower_bound(problem)
    for planner in (places, first_fit):
        found = planner(problem)
        assert problem.faults(found.addresses) == []
        assert bound.end <= found.end == problem.end(found.addresses)
        assert planner(problem) == found


@given(st.randoms(use_true_random=False))
def test_the_bound_stands_on_buffers_that_are_apart_pairwise(rng: Random) -> None:
    problem = drawn(rng)
    bound = lower_bound(problem)
    assert bound.where is not None or bound.items == ()
    for pair in combinations(bound.items, 2):
        a, b = (problem.items[n] for n in pair)
        fixed = a.address is not None and b.address is not None
        assert pair in problem.apart or fixed, (a, b)
        assert a.alone or a.start <= (bound.where or 0) <= a.end
    assert bound.items == () or bound.end >= problem.reserved + sum(problem.items[n].bytes for n in bound.items)


def test_a_planted_overlap_is_found() -> None:
    problem = Problem(
        Memory.VEC,
        1000,
        (Item("a", 64, 32, 1, 3), Item("b", 64, 32, 2, 4), Item("c", 64, 32, 4, 5)),
        frozenset({(0, 1)}),
        frozenset({(1, 2)}),
    )
    assert problem.faults({"a": 0, "b": 64, "c": 64}) == []
    assert problem.faults({"a": 0, "b": 32, "c": 32}) == ["a at 0 and b at 32"]
    assert problem.faults({"a": 0, "b": 64, "c": 96}) == ["b at 64 and c at 96"]
    assert problem.faults({"a": 0, "b": 64, "c": 8}) == ["c at 8", "b at 64 and c at 8"]
    assert first_fit(problem).end == places(problem).end == 128


# From programs to problems


@given(st.randoms(use_true_random=False), st.booleans())
def test_places_are_those_of_the_passes(rng: Random, pinned: bool) -> None:
    """Sharing as MemoryReuse does it, and addresses as AllocateMemoryAddr gives them, byte for byte."""
    _, found = stages(random_text(rng, pinned), "AllocateMemoryAddr")
    before, after = found["MaterializeSemanticAliases"], found["AllocateMemoryAddr"]
    placed = {b.name: b.address for b in after.buffers}
    (region,) = regions(before.body)
    lives = Lifetimes(region.body)
    problem = problem_of(lives, before.buffers, A2A3, Memory.VEC, grids(before))
    chosen = shared(problem)
    addresses = places(problem).addresses
    assert {n: placed[chosen.get(n, n)] for n in addresses} == addresses


@given(st.randoms(use_true_random=False))
def test_the_sweep_finds_the_pairs_that_a_comparison_of_all_finds(rng: Random) -> None:
    _, found = stages(random_text(rng), "MaterializeSemanticAliases")
    program = found["MaterializeSemanticAliases"]
    (region,) = regions(program.body)
    lives = Lifetimes(region.body)
    problem = problem_of(lives, program.buffers, A2A3, Memory.VEC, {})
    for pair in combinations(range(len(problem.items)), 2):
        a, b = (lives.of[problem.items[n].name] for n in pair)
        meet = a.start <= b.end and b.start <= a.end
        assert (pair in problem.level) == (meet and lives.compatible(a, b))
        assert (pair in problem.apart) == (not lives.compatible(a, b))


def buffer(name: str, **fields: Any) -> Buffer:
    return replace(Buffer(name=name, memory=Memory.VEC, loc=LOC, bytes=96, owner="compiler"), **fields)


def lifetimes(**spans: tuple[int, int]) -> Lifetimes:
    lives = Lifetimes(())
    lives.of.update((name, Lifetime(name, *span)) for name, span in spans.items())
    return lives


def test_an_authors_buffers_and_pairs_on_request_are_kept_apart() -> None:
    lives = lifetimes(a=(1, 2), b=(3, 4), c=(5, 6), d=(7, 8), e=(9, 9))
    buffers = [
        buffer("a"),
        buffer("b", owner="author", slots=2),
        buffer("c", owner="author", address=64),
        buffer("d"),
        buffer("e", owner="author", address=96),
        buffer("f", memory=Memory.ACC),
    ]
    problem = problem_of(lives, buffers, A2A3, Memory.VEC, {"b": 64}, [("a", "d"), ("a", "f")])
    assert [(i.name, i.bytes, i.grid, i.alone) for i in problem.items] == [
        ("a", 96, 32, False),
        ("b", 256, 64, True),
        ("c", 96, 32, True),
        ("d", 96, 32, False),
        ("e", 96, 32, True),
    ]
    assert sorted(problem.apart) == [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (3, 4)]
    for planner in (places, first_fit):
        assert problem.faults(planner(problem).addresses) == []


@pytest.mark.parametrize("spread", [3, 0], ids=["in a row", "all at once"])
def test_a_thousand_buffers_are_planned_within_a_second(spread: int) -> None:
    lives, buffers = large_set(1_000, spread)
    started = process_time()
    problem = problem_of(lives, buffers, A2A3, Memory.VEC, {})
    ends = [planner(problem).end for planner in (places, first_fit)]
    assert process_time() - started < 3.0, "a budget of one second, with room for a busy machine"
    assert ends[0] >= ends[1] >= lower_bound(problem).end
