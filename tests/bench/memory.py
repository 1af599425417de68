"""The memory planners against the exact optimum, on the gallery and on random problems, and their time.

Figures of peaks are ratios to what the exact search found: where it has proven that, nothing ends lower. Without
OR-tools they are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from time import process_time

from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import compile_source
from pypto_spec.ir.nodes import Program
from pypto_spec.ir.rewrite import regions
from pypto_spec.ir.types import Memory
from pypto_spec.passes.memory.grids import grids
from pypto_spec.passes.memory.lifetimes import Lifetimes
from pypto_spec.passes.memory.planners import exact
from pypto_spec.passes.memory.planners.first_fit import first_fit
from pypto_spec.passes.memory.planners.places import places
from pypto_spec.passes.memory.planners.pose import problem_of
from pypto_spec.passes.memory.problem import Placement, Problem
from pypto_spec.targets import A2A3, TARGETS
from tests.bench.lifetimes import large_set, random_problem
from tests.bench.measure import ROOT, Figure, figure, times

SETS = 500
LIMIT = 1.0
"""Deterministic seconds for one optimum; where they do not do, the best that was found stands for it."""
LARGE = 1_000
PLANNERS: dict[str, Callable[[Problem], Placement]] = {"places": places, "first_fit": first_fit}


def memory(runs: int) -> Iterator[Figure]:
    """Ratios on the gallery and on `SETS` random problems, and milliseconds for `LARGE` buffers."""
    if exact.installed():
        yield from _ratios("gallery", list(gallery_problems()))
        yield from _ratios(f"{SETS} random sets", list(random_problems(SETS)))
    yield from _large(runs)


def gallery_problems() -> Iterator[Problem]:
    """The placement problem of every region of every kernel of the gallery."""
    for path in sorted((ROOT / "specs").rglob("*")):
        if path.suffix in (".yaml", ".toml"):
            yield from _problems(path)


def _problems(path: Path) -> Iterator[Problem]:
    source = Source(path.name, path.read_text(encoding="utf-8"))
    program = compile_source(
        source, format="toml" if path.suffix == ".toml" else "yaml", after="MaterializeSemanticAliases"
    ).program
    if program is None:
        raise RuntimeError(f"{path.name} does not compile")
    yield from _of(program)


def _of(program: Program) -> Iterator[Problem]:
    target, asked = TARGETS[program.target.platform], grids(program)
    for region in regions(program.body):
        lives = Lifetimes(region.body)
        for on_chip in Memory:
            problem = problem_of(lives, program.buffers, target, on_chip, asked) if on_chip in target.capacity else None
            if problem is not None and problem.items:
                yield problem


def random_problems(count: int) -> Iterator[Problem]:
    """Problems of 10 to 60 buffers, the same each time."""
    for seed in range(count):
        rng = Random(seed)
        yield random_problem(rng, rng.randint(10, 60))


def _ratios(what: str, problems: list[Problem]) -> Iterator[Figure]:
    started = process_time()
    best = [exact.optimum(problem, LIMIT) for problem in problems]
    elapsed = process_time() - started
    ends = [plan.end for plan, _ in best]
    for name, planner in PLANNERS.items():
        found = [planner(problem) for problem in problems]
        ratios = [plan.end / end for plan, end in zip(found, ends, strict=True)]
        yield figure("memory", f"{what}: {name} / optimum", "x", ratios, None)
        yield figure("memory", f"{what}: {name} / optimum, worst", "x", [max(ratios)], None)
        lowest = sum(plan.end == end for plan, end in zip(found, ends, strict=True))
        yield figure("memory", f"{what}: {name} is as low as exact", "%", [100 * lowest / len(problems)], None)
    proven = sum(plan.end <= bound for plan, bound in best)
    yield figure("memory", f"{what}: exact has proven its optimum", "%", [100 * proven / len(problems)], None)
    yield figure("memory", f"{what}: exact, time per problem", "ms", [1e3 * elapsed / len(problems)], None)


def _large(runs: int) -> Iterator[Figure]:
    for shape, spread in (("in a row", 3), ("all at once", 0)):
        lives, buffers = large_set(LARGE, spread)
        pose = partial(problem_of, lives, buffers, A2A3, Memory.VEC, {})
        problem = pose()
        steps: dict[str, Callable[[], object]] = {
            "problem": pose,
            "places": partial(places, problem),
            "first_fit": partial(first_fit, problem),
        }
        for name, step in steps.items():
            yield figure("memory", f"{LARGE:,} buffers {shape}: {name}", "ms", times(step, runs), 1_000.0)
