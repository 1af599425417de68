"""`pypto-spec tune`."""

from __future__ import annotations

import sys

import click

from pypto_spec.cli import options
from pypto_spec.cli.bar import Bar
from pypto_spec.driver.tuning.space import MOST


@click.command("tune")
@click.argument("spec", type=click.Path(allow_dash=True))
@click.option(
    "-D",
    "defines",
    multiple=True,
    metavar="NAME=VALUES",
    help="Values to try for a constant: A..B or A..B:STEP (B included), or a list a,b,c. With one value, or from "
    "@FILE, it is the same for all.",
)
@click.option(
    "-o",
    "--output",
    "out",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Where the best values are written, for -D @FILE.  [default: NAME.defines]",
)
@click.option(
    "--goldens",
    type=click.IntRange(0),
    default=3,
    show_default=True,
    help="How many of the best have to pass their golden; 0 runs none, and needs neither torch nor g++.",
)
@click.option("--most", type=click.IntRange(1), default=MOST, show_default=True, help="Most candidates to try.")
@click.option(
    "--rows", type=click.IntRange(0), default=20, show_default=True, help="Candidates and reasons to print; 0 for all."
)
@click.option(
    "-j", "--jobs", type=click.IntRange(0), default=0, help="Candidates to try side by side.  [default: cores]"
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the goldens' inputs.")
@click.option(
    "--format", "format", type=click.Choice(["text", "json"]), default="text", help="A table, or all the figures."
)
@options.input_format
@options.variant
def command(
    spec: str,
    defines: tuple[str, ...],
    out: str | None,
    goldens: int,
    most: int,
    rows: int,
    jobs: int,
    seed: int,
    format: str,
    input_format: str,
    variant: str | None,
) -> None:
    """Find the constants of a spec with the smallest modelled makespan.

    Every combination is compiled and modelled, the goldens of the best run on the host model, and the best whose golden
    is good is written as a file that every command takes with -D @FILE.
    """
    from pypto_spec.diagnostics.model import CompileError
    from pypto_spec.driver.tune import TuneOptions, tune_spec
    from pypto_spec.driver.tuning.document import defines_path, document_text, winner_text
    from pypto_spec.driver.tuning.space import parse_space
    from pypto_spec.driver.tuning.text import text

    options.runs_long()
    space = parse_space(defines, most)
    gathered = options.read_one(spec, input_format, space.fixed, variant, "tune")
    if not gathered.specs:
        options.show(gathered.findings, "text", err=True)
        options.leave(gathered.findings)
        return
    one = gathered.specs[0]
    bar = Bar()
    try:
        path = out if out is not None else defines_path(one)
        made = tune_spec(one, space, TuneOptions(goldens, jobs, seed), bar.show if sys.stderr.isatty() else None)
    except CompileError as error:
        options.show(error.diagnostics, "text", err=True)
        options.leave(error.diagnostics)
        return
    finally:
        bar.clear()
    file = path if made.winner is not None else None
    if file is not None:
        from pypto_spec.driver.files import write_file

        write_file(file, winner_text(made))
    click.echo(document_text(made, file) if format == "json" else text(made, rows), nl=False)
    options.show(made.findings, "text", err=True)
    if file is not None:
        only = f" --variant {variant}" if variant is not None else ""
        options.say(f"written: {file}; next: pypto-spec build {spec}{only} -D @{file}")
    if made.failed:
        raise click.exceptions.Exit(2)
    if made.winner is None:
        raise click.exceptions.Exit(1)
