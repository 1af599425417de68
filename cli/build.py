"""`pypto-spec build`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pypto_spec.cli import options

if TYPE_CHECKING:
    from pypto_spec.diagnostics.model import Diagnostic
    from pypto_spec.driver.build import BuildOptions


@click.command("build")
@options.specs
@click.option(
    "-o",
    "--output",
    "out",
    type=click.Path(),
    metavar="DIR",
    help="Output folder of one spec; of several, the folder that holds theirs.  [default: build/NAME]",
)
@click.option("--stdout", is_flag=True, help="Print the kernels and write nothing.")
@click.option("--watch", is_flag=True, help="Build again whenever a spec changes.")
@click.option("--dump-passes", type=click.Path(), metavar="DIR", help="Write the program after every pass.")
@click.option("--typecheck", is_flag=True, help="Compile each kernel against the headers of a CANN toolkit.")
@click.option("--cann", type=click.Path(), metavar="DIR", help="Folder of the CANN toolkit for --typecheck.")
@click.option("--timings", is_flag=True, help="Write report/timings.txt (differs from run to run).")
@options.debug
@options.output_format
def command(
    specs: tuple[str, ...],
    input_format: str,
    defines: tuple[str, ...],
    variants: tuple[str, ...],
    out: str | None,
    stdout: bool,
    watch: bool,
    dump_passes: str | None,
    typecheck: bool,
    cann: str | None,
    timings: bool,
    debug: bool,
    format: str,
) -> None:
    """Write kernels, launcher, build projects, binding and manifest of specs.

    SPECS are files, folders that are searched for specs, or `-` for standard input. An output folder is replaced as a
    whole, and only if a build wrote it.
    """
    from pypto_spec.driver.build import BuildOptions
    from pypto_spec.driver.inputs import UsageError

    if stdout and out is not None:
        raise UsageError("--stdout writes nothing, so -o DIR makes no sense beside it")
    chosen = BuildOptions(out, stdout, dump_passes, typecheck, cann, timings, options.constants(defines), debug)
    if not watch:
        options.leave(_once(specs, input_format, variants, chosen, format))
        return
    if "-" in specs:
        raise UsageError("--watch watches files, standard input cannot change")
    _watch(specs, input_format, variants, chosen, format)


def _once(
    specs: tuple[str, ...], input_format: str, variants: tuple[str, ...], chosen: BuildOptions, format: str
) -> list[Diagnostic]:
    """Build everything, print the findings and what was written."""
    from pypto_spec.driver.build import build_specs
    from pypto_spec.driver.overview import overview
    from pypto_spec.driver.variants import merged

    gathered = options.read(specs, input_format, chosen.defines, variants)
    built = list(build_specs(gathered, chosen))
    findings = [*gathered.findings, *merged((one.spec, one.findings) for one in built)]
    for one in built:
        if chosen.stdout and one.ok:
            click.echo("\n".join(one.texts), nl=False)
    # With --stdout the kernels have standard output for themselves.
    options.show(findings, format, err=chosen.stdout or format == "text")
    for one in built:
        if one.folder is not None:
            options.say(f"{one.spec.title}: {options.count(len(one.kernels), 'kernel')} in {one.folder}")
    for line in overview(built):
        options.say(line)
    return findings


def _watch(
    specs: tuple[str, ...], input_format: str, variants: tuple[str, ...], chosen: BuildOptions, format: str
) -> None:
    from pypto_spec.driver.inputs import UsageError
    from pypto_spec.driver.watch import changes

    options.runs_long()
    for _ in changes(specs):
        try:
            _once(specs, input_format, variants, chosen, format)
        except UsageError as error:  # a file may be away for a moment while an editor saves it
            options.say(f"pypto-spec: {error}")
        options.say("waiting for changes; end with Ctrl-C")
