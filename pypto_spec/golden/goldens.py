"""The golden of one program: runs over sizes, schedules, inputs and numbers of blocks, and what came of them."""

from __future__ import annotations

from pypto_spec.golden.formula import GoldenError
from pypto_spec.golden.run import AUTO_BLOCKS, GoldenRun, Outcome, Subject, sizes
from pypto_spec.golden.sampled import SampledRun, golden_run


def golden_test(subject: Subject, *, schedules: int = 5, seed: int = 0) -> Outcome:
    """Run a program's golden over several schedules, inputs and block counts."""
    outcome = Outcome(subject.program.name, "golden")
    shares: list[float] = []
    try:
        for values in sizes(subject.program):
            run = golden_run(subject, values, seed)
            outcome.label = run.label
            for schedule in range(schedules):
                if schedule == 2:
                    run = _with_other_inputs(run, seed + 1)
                outputs, faults = run.run(schedule, AUTO_BLOCKS[schedule % len(AUTO_BLOCKS)])
                if not outcome.runs:
                    outcome.shown = run.shown
                outcome.runs += 1
                outcome.faults += faults
                outcome.differences += run.compare(outputs)
                if not outcome.ok:
                    return outcome
            if isinstance(run, SampledRun):
                shares.append(run.share)
    except GoldenError as error:
        outcome.error, outcome.way_out = str(error), error.way_out
    outcome.sampled = min(shares, default=None)
    return outcome


def _with_other_inputs(run: GoldenRun, seed: int) -> GoldenRun:
    other = golden_run(run.subject, run.values, seed)
    if isinstance(run, SampledRun) and isinstance(other, SampledRun):
        other.seen |= run.seen
    return other
