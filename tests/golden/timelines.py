"""A program's modelled timeline in both ways: walked before any run, and from what a run of the host model records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pypto_spec.driver.timeline import recorded_launches
from pypto_spec.golden.run import GoldenRun, Subject, sizes
from pypto_spec.golden.timed import TimedRun
from pypto_spec.report.timeline import Timeline, modelled
from pypto_spec.report.timeline.recorded import recorded
from pypto_spec.targets import TARGETS


def disagreement(subject: Subject) -> str | None:
    """Where the two differ, over all sizes of the golden; None where they are the same, instruction by instruction."""
    for values in sizes(subject.program):
        walked, run = both(subject, values)
        if walked.assumptions or not walked.complete:
            return f"{values}: the walk assumed {walked.assumptions}"
        found = differing(walked, run)
        if found is not None:
            return f"{subject.program.name} {dict(walked.sizes)}: {found}"
    return None


def both(subject: Subject, values: Mapping[Any, int]) -> tuple[Timeline, Timeline]:
    """The timeline of a walk through every iteration, and that of a run."""
    program = subject.program
    target = TARGETS[program.target.platform]
    sampled = program.golden is not None and program.golden.sample is not None
    golden = (TimedRun if sampled else GoldenRun)(subject, values, 0)
    given = {dim.name: value for dim, value in values.items()}
    given |= {name: int(v.item()) for name, v in golden.scalars.items() if not v.is_floating_point()}
    walked = modelled(program, target, sizes=given, spans=True, jump=False)
    jumped = modelled(program, target, sizes=given)
    for slow, quick in zip(walked.kernels, jumped.kernels, strict=True):
        assert quick == replace(slow, spans=(), again=()), "a repetition was not one"
    launches = recorded_launches(golden, target.vector_cores)
    return walked, recorded(program.name, target, launches, given, "given", spans=True)


def differing(walked: Timeline, run: Timeline) -> str | None:
    """The first difference between two timelines."""
    for one, two in zip(walked.kernels, run.kernels, strict=True):
        for place, (left, right) in enumerate(zip(one.spans, two.spans, strict=False)):
            if left != right:
                return f"{one.kernel}, instruction {place}: the walk says {left}, the run {right}"
        if replace(one, spans=(), again=()) != replace(two, spans=(), again=()):
            return f"{one.kernel}: the walk says {one.cycles} {one.busy}, the run {two.cycles} {two.busy}"
        if len(one.spans) != len(two.spans):
            return f"{one.kernel}: {len(one.spans)} instructions are walked, {len(two.spans)} are run"
    return None
