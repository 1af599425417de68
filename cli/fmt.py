"""`pypto-spec fmt`."""

from __future__ import annotations

import click

from pypto_spec.cli import options
from pypto_spec.cli.rewriting import deliver, rewriting


@click.command("fmt")
@click.argument("specs", nargs=-1, required=True, type=click.Path(allow_dash=True), metavar="SPECS...")
@options.input_format
@rewriting
@options.output_format
def command(specs: tuple[str, ...], input_format: str, check: bool, diff: bool, format: str) -> None:
    """Put specs into the project's style: spaces, indentation, quotes. What they say stays the same.

    SPECS are files, folders that are searched for specs, or `-` for standard input, which goes to standard output. A
    file that cannot be read is reported and left alone.
    """
    from pypto_spec.driver.fmt import format_specs
    from pypto_spec.driver.inputs import gather

    made, findings = format_specs(gather(specs, "toml" if input_format == "toml" else "yaml"))
    changed = [one for one in made if one.changed]
    for one in made:
        if one.reason:
            options.say(f"left as it is: {one.name} ({one.reason})")
        if deliver(one, check=check, diff=diff):
            options.say(f"formatted: {one.name}")
    options.show(findings, format, err=True)
    if not findings and not any(one.standard_input for one in made):
        did = "would change" if check or diff else "formatted"
        options.say(f"{options.count(len(made), 'spec')}: {len(changed)} {did}")
    options.leave(findings)
    if check and changed:
        raise click.exceptions.Exit(1)
