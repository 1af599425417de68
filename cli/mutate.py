"""`pypto-spec mutate`."""

from __future__ import annotations

from collections import Counter

import click

from pypto_spec.cli import options


@click.command("mutate")
@options.specs
@click.option("-j", "--jobs", type=click.IntRange(0), default=0, help="Specs to run side by side.  [default: cores]")
def command(
    specs: tuple[str, ...], input_format: str, defines: tuple[str, ...], variants: tuple[str, ...], jobs: int
) -> None:
    """Take away every flag, dependency and barrier of the kernels in turn.

    The host model and the checker must object to each. One that nobody objects to is redundant, or somebody is blind.
    """
    from pypto_spec.driver.mutate import mutate_specs
    from pypto_spec.driver.test import TestOptions

    options.runs_long()
    constants = options.constants(defines)
    gathered = options.read(specs, input_format, constants, variants)
    findings = list(gathered.findings)
    totals: Counter[str] = Counter()
    alive = failed = 0
    for one in mutate_specs(gathered, TestOptions(jobs=jobs, defines=constants)):
        findings += one.tested.findings
        totals += one.kinds
        alive += len(one.survivors)
        failed += not one.ok
        kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(one.kinds.items())) or "no mutants"
        click.echo(f"{'ok  ' if one.ok else 'FAIL'} {one.tested.spec.title}: {one.error or kinds}")
        for survivor in one.survivors:
            click.echo(f"     alive: {survivor}")
    options.show(findings, "text", err=True)
    kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(totals.items()))
    click.echo(f"{options.count(sum(totals.values()), 'mutant')} ({kinds or 'none'}), {alive} left alive  (host model)")
    options.leave(findings)
    if failed:
        raise click.exceptions.Exit(1)
