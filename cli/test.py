"""`pypto-spec test`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from pypto_spec.cli import options
from pypto_spec.cli.bar import Bar

if TYPE_CHECKING:
    from pypto_spec.driver.test import Tested


@click.command("test")
@options.specs
@click.option("--schedules", type=click.IntRange(1), default=5, show_default=True, help="Orders to run each kernel in.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the inputs.")
@click.option("-j", "--jobs", type=click.IntRange(0), default=0, help="Specs to run side by side.  [default: cores]")
@click.option("--timeline", is_flag=True, help="Print the modelled cycles of each kernel, and its busiest pipe.")
@click.option(
    "--timing", is_flag=True, help="Only print the modelled cycles: the same kernels run without data, at any size."
)
@click.option("--emit-device", type=click.Path(), metavar="DIR", help="Write what runs the goldens on a device.")
@options.debug
@options.output_format
def command(
    specs: tuple[str, ...],
    input_format: str,
    defines: tuple[str, ...],
    variants: tuple[str, ...],
    schedules: int,
    seed: int,
    jobs: int,
    timeline: bool,
    timing: bool,
    emit_device: str | None,
    debug: bool,
    format: str,
) -> None:
    """Run goldens: the rendered C++ runs on the host model and is compared with torch.

    SPECS are files, folders that are searched for specs, or `-` for standard input. A spec without golden section is
    compared with its own torch meaning and labelled `derived`.
    """
    from pypto_spec.driver.test import TestOptions, run_goldens
    from pypto_spec.driver.timeline import lines
    from pypto_spec.driver.variants import merged

    options.runs_long()
    constants = options.constants(defines)
    gathered = options.read(specs, input_format, constants, variants)
    chosen = TestOptions(schedules, seed, jobs, constants, debug, timeline, timing)
    bar = Bar()
    good = bad = 0
    made = []
    for tested in run_goldens(gathered, chosen, bar.show if sys.stderr.isatty() else None):
        made.append(tested)
        good, bad = good + tested.ok, bad + (not tested.ok)
        bar.clear()
        if format == "text":
            _say(tested)
        # Documents for machines have standard output for themselves.
        for line in lines(tested.timeline) if tested.timeline is not None else ():
            click.echo(f"     {line}", err=format != "text")
    bar.clear()
    findings = [*gathered.findings, *merged((tested.spec, tested.findings) for tested in made)]
    if emit_device is not None:
        from pypto_spec.diagnostics.model import CompileError
        from pypto_spec.driver.device import emit

        several = gathered.folders or len(gathered.specs) > 1
        try:
            for tested, folder in emit(made, emit_device, seed=seed, several=several):
                options.say(f"{tested.spec.title}: device test in {folder}")
        except CompileError as error:
            findings += error.diagnostics
    options.show(findings, format)
    if format == "text":
        click.echo(f"{good} passed" + (f", {bad} failed" if bad else "") + "  (host model)")
    options.leave(findings)


def _say(tested: Tested) -> None:
    """What a spec's kernels show, and how it went."""
    outcome = tested.outcome
    name = tested.rendered.name if tested.rendered is not None else ""
    label = f"{outcome.label}, {options.count(outcome.runs, 'run')}" if outcome is not None else "did not compile"
    if outcome is not None and outcome.sampled is not None:
        label += f" of a sample, {100 * outcome.sampled:.2g} % of the outputs"
    for line in outcome.shown if outcome is not None else ():
        click.echo(line)
    click.echo(f"{'ok  ' if tested.ok else 'FAIL'} {tested.spec.title}  {name}: {label}, {tested.seconds:.2f} s")
