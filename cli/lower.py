"""`pypto-spec lower`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from pypto_spec.cli import options

if TYPE_CHECKING:
    from pypto_spec.driver.inputs import Spec


def _passes(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from pypto_spec.driver.lower import pass_list

    wanted = incomplete.casefold()
    return [CompletionItem(name, help=what) for name, what in pass_list() if name.casefold().startswith(wanted)]


@click.command("lower")
@click.argument("spec", required=False, type=click.Path(allow_dash=True))
@click.option(
    "--after",
    metavar="PASS",
    shell_complete=_passes,
    help="The last pass to run; `frontend` for none.  [default: the last one]",
)
@click.option(
    "-o", "--output", "out", type=click.Path(dir_okay=False), metavar="FILE", help="Write the dump to a file."
)
@click.option(
    "--check",
    "check",
    is_flag=True,
    help="Run the program's torch meaning after every pass and name the first pass that changed the result.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the inputs for --check.")
@click.option("--list", "listed", is_flag=True, help="List the passes in their order.")
@options.input_format
@options.debug
@options.defines
@options.variant
@options.output_format
def command(
    spec: str | None,
    after: str | None,
    out: str | None,
    check: bool,
    seed: int,
    listed: bool,
    input_format: str,
    defines: tuple[str, ...],
    variant: str | None,
    debug: bool,
    format: str,
) -> None:
    """Show the program after a pass as spec text.

    The text is a spec itself: `build` takes it and goes on behind that pass.
    """
    from pypto_spec.driver.inputs import UsageError
    from pypto_spec.driver.lower import find_pass, lower_spec, pass_list

    if listed:
        for name, what in pass_list():
            click.echo(f"{name:<28} {what}")
        return
    if spec is None:
        raise UsageError("name a spec, or list the passes with --list")
    constants = options.constants(defines)
    gathered = options.read_one(spec, input_format, constants, variant, "lower")
    findings = list(gathered.findings)
    if not gathered.specs:
        options.show(findings, format, err=format == "text")
        options.leave(findings)
        return
    if check:
        _check(gathered.specs[0], constants, seed, format)
        return
    chosen = find_pass(after) if after is not None else pass_list()[-1][0]
    folder = _folder(out)
    lowered = lower_spec(gathered.specs[0], chosen, folder=folder, defines=constants, debug=debug)
    if lowered.text is not None:
        options.put(lowered.text, out)
    options.show(lowered.findings, format, err=out is None or format == "text")
    options.leave(lowered.findings)


def _folder(out: str | None) -> str:
    from os.path import dirname

    return (dirname(out) or ".") if out is not None else "."


def _check(spec: Spec, constants: dict[str, str], seed: int, format: str) -> None:
    from pypto_spec.driver.lower_check import check_passes

    done = check_passes(spec, constants, seed=seed)
    options.show(done.findings, format, err=format == "text")
    if format == "text":
        for step in done.steps:
            click.echo(f"{step.name:<28} {step.word}")
    options.leave(done.findings)
