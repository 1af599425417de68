"""The exact planner against brute force, against itself, and in its place behind the heuristics."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pypto_spec.ir.types import Memory
from pypto_spec.passes.memory.planners import exact
from pypto_spec.passes.memory.planners.bound import lower_bound
from pypto_spec.passes.memory.planners.exact import Exhausted, Fits, NoFit, NotInstalled, fits, optimum
from pypto_spec.passes.memory.planners.first_fit import first_fit
from pypto_spec.passes.memory.planners.places import places
from pypto_spec.passes.memory.planners.rescue import Refusal, rescue
from pypto_spec.passes.memory.problem import Item, Problem
from tests.bench.lifetimes import random_problem, with_authors

needs_ortools = pytest.mark.skipif(not exact.installed(), reason="needs OR-tools: pip install 'pypto-spec[exact]'")

# Lives and sizes of eight buffers of which first fit finds no plan below 192 KiB; they fit in 184 KiB.
SEARCHED = ((2, 6, 9), (13, 15, 23), (8, 12, 5), (5, 11, 8), (1, 9, 10), (7, 14, 20), (0, 3, 27), (4, 10, 3))


def tight(capacity: int = 46, unit: int = 4096) -> Problem:
    items = tuple(Item(f"b{n}", size * unit, 32, start, end) for n, (start, end, size) in enumerate(SEARCHED))
    meet = {
        (a, b)
        for a in range(8)
        for b in range(a + 1, 8)
        if items[a].start <= items[b].end and items[b].start <= items[a].end
    }
    return Problem(Memory.VEC, capacity * unit, items, frozenset(meet))


def drawn(rng: Random, most: int) -> Problem:
    problem = random_problem(rng, rng.randint(1, most))
    problem = with_authors(rng, problem) if rng.randrange(4) == 0 else problem
    return replace(problem, reserved=rng.choice([0, 0, 32]))


@needs_ortools
@settings(deadline=None, max_examples=60)
@given(st.randoms(use_true_random=False))
def test_the_optimum_is_a_solution_and_no_heuristic_is_better(rng: Random) -> None:
    problem = drawn(rng, 12)
    found, bound = optimum(problem, limit=0.3)
    assert problem.faults(found.addresses) == []
    assert lower_bound(problem).end <= bound <= found.end <= min(first_fit(problem).end, places(problem).end)
    assert not found.proven or bound == found.end
    assert optimum(problem, limit=0.3) == (found, bound)


@needs_ortools
@settings(deadline=None, max_examples=60)
@given(st.randoms(use_true_random=False))
def test_fits_agrees_with_the_optimum(rng: Random) -> None:
    problem = drawn(rng, 10)
    found, _ = optimum(problem, limit=0.3)
    if not found.proven:
        return
    roomy = fits(replace(problem, capacity=found.end))
    assert isinstance(roomy, Fits)
    assert problem.faults(roomy.placement.addresses) == []
    assert roomy.placement.end <= found.end
    assert isinstance(fits(replace(problem, capacity=found.end - 1)), NoFit)


def brute(problem: Problem, capacity: int) -> Mapping[str, int] | None:
    """Some placement within the capacity, by trying all addresses on the grid."""
    ranges = [range(0, capacity - i.bytes + 1, i.grid) if i.address is None else [i.address] for i in problem.items]
    for addresses in product(*ranges):
        named = {i.name: at for i, at in zip(problem.items, addresses, strict=True)}
        if problem.end(named) <= capacity and not problem.faults(named):
            return named
    return None


@needs_ortools
@pytest.mark.parametrize("seed", range(60))
def test_answers_are_those_of_brute_force(seed: int) -> None:
    """Five buffers of one to four units in up to eight units of memory: every capacity, every answer."""
    rng = Random(seed)
    items = []
    for n in range(5):
        start = rng.randrange(6)
        items.append(Item(f"b{n}", 32 * rng.randint(1, 4) - rng.choice([0, 0, 8]), 32, start, start + rng.randrange(4)))
    items[0] = replace(items[0], grid=rng.choice([32, 64]))
    if rng.randrange(3) == 0:
        items[1] = replace(items[1], address=32 * rng.randrange(4))
    meet = {
        (a, b)
        for a in range(5)
        for b in range(a + 1, 5)
        if items[a].start <= items[b].end and items[b].start <= items[a].end
    }
    touching = {
        (a, b)
        for a, b in meet
        if (items[a].end == items[b].start) != (items[b].end == items[a].start) and rng.randrange(2)
    }
    problem = Problem(Memory.VEC, 0, tuple(items), frozenset(meet - touching), frozenset(touching))
    for units in range(1, 9):
        tried = replace(problem, capacity=32 * units)
        answer = fits(tried)
        assert isinstance(answer, Fits | NoFit)
        assert isinstance(answer, Fits) == (brute(tried, 32 * units) is not None), units
    best = next((32 * u - d for u in range(1, 9) for d in (8, 0) if brute(problem, 32 * u - d)), None)
    if best is not None:
        found, _ = optimum(problem)
        assert found.proven
        assert found.end <= best


@needs_ortools
def test_what_the_heuristics_cannot_place_is_placed_and_verified() -> None:
    problem = tight()
    assert lower_bound(problem).end <= problem.capacity < first_fit(problem).end
    found = rescue(problem)
    assert (found.planner, found.refusal) == ("exact", None)
    assert found.placement is not None
    assert found.placement.end <= problem.capacity
    assert problem.faults(found.placement.addresses) == []
    assert rescue(problem) == found


@needs_ortools
def test_exact_is_not_asked_where_a_heuristic_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(problem: Problem, limit: float | None = None) -> exact.Answer:
        raise AssertionError

    monkeypatch.setattr(exact, "fits", never)
    assert rescue(tight(48)).planner == "first_fit"
    assert rescue(tight(10)).refusal is Refusal.TOO_MUCH
    assert rescue(tight(), search=False).refusal is Refusal.NOT_ASKED


@needs_ortools
def test_a_search_that_ends_at_its_limit_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = tight()
    assert fits(problem, limit=1e-6) == Exhausted()
    monkeypatch.setattr(exact, "LIMIT", 1e-6)
    assert rescue(problem).refusal is Refusal.EXHAUSTED


def test_what_one_statement_refutes_needs_no_search() -> None:
    answer = fits(tight(10))
    assert isinstance(answer, NoFit)
    assert answer.bound is not None
    assert answer.bound.end == lower_bound(tight()).end


def test_without_or_tools_the_answer_is_that_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "installed", lambda: False)
    assert fits(tight()) == NotInstalled()
    assert rescue(tight()).refusal is Refusal.NOT_INSTALLED


def test_or_tools_is_not_imported_by_asking_for_it() -> None:
    before = set(sys.modules)
    exact.installed()
    assert not any(name.startswith("ortools.sat") for name in set(sys.modules) - before)
