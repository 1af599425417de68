"""The modelled timeline of a golden's run on the host model, for the sizes of its first row."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from pypto_spec.golden.launches import Run
from pypto_spec.golden.run import GoldenRun, Subject, sizes
from pypto_spec.golden.timed import TimedRun
from pypto_spec.host.run import RunReport
from pypto_spec.ir.expr import Sym
from pypto_spec.ir.nodes import Program
from pypto_spec.report.timeline import Timeline
from pypto_spec.report.timeline.model import SizesFrom
from pypto_spec.report.timeline.recorded import LaunchRecords, recorded
from pypto_spec.report.timeline.sharing import launched, readers
from pypto_spec.report.timeline.text import lines
from pypto_spec.targets import TARGETS

__all__ = ["lines", "recorded_launches", "run_timeline"]


def recorded_launches(run: GoldenRun | TimedRun, auto_blocks: int) -> list[LaunchRecords]:
    """The launches of one run in program order, with what each dispatched. Raises GoldenError as the run does."""
    found: list[LaunchRecords] = []

    def watch(launch: Run, report: RunReport) -> None:
        kernel = launch.kernel
        lines: Mapping[int, int] = {info.line: info.src[0] for info in kernel.lines if info.src is not None}
        if launch.blocks > 0:
            shared = partial(_readers, run.subject.program, launch)
            found.append(
                LaunchRecords(kernel.name, kernel.region, kernel.core, launch.blocks, report.records, lines, shared)
            )  # fmt: skip

    run.run(0, auto_blocks, watch=watch)
    return found


def run_timeline(
    subject: Subject,
    *,
    values: Mapping[Sym, int] | None = None,
    seed: int = 0,
    spans: bool = False,
    data: bool = True,
) -> Timeline:
    """The timeline of a run, by default of the first sizes; `blocks: auto` takes all cores.

    Without `data`, and where the golden is sampled, nothing is computed, which gives the same cycles for sizes that no
    CPU computes. Raises GoldenError and StuckError.
    """
    program = subject.program
    data = data and (program.golden is None or program.golden.sample is None)
    target = TARGETS[program.target.platform]
    values = sizes(program)[0] if values is None else values
    run = (GoldenRun if data else TimedRun)(subject, values, seed)
    launches = recorded_launches(run, target.vector_cores)
    named = {dim.name: value for dim, value in values.items()}
    written = program.golden is not None and bool(program.golden.sizes)
    source: SizesFrom = "compile time" if not named else "golden" if written else "bounds"
    return recorded(program.name, target, launches, named, source, spans=spans)


def _readers(program: Program, launch: Run, active: int) -> dict[int, int]:
    """By line of the kernel, how many of the cores that run at once have bytes of their own to load."""
    for region, grid in launched(program.body):
        if region.name == launch.kernel.region:
            known = {dim: launch.values[dim] for dim in program.dims if dim in launch.values}
            if grid is not None:
                known[grid.blocks_symbol] = launch.blocks
            found = readers(region, grid, known, active)
            return {i.line: found[i.number] for i in launch.kernel.lines if i.number in found}
    return {}
