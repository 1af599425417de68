"""`pypto-spec check`."""

from __future__ import annotations

import click

from pypto_spec.cli import options


@click.command("check")
@options.specs
@options.output_format
def command(
    specs: tuple[str, ...], input_format: str, defines: tuple[str, ...], variants: tuple[str, ...], format: str
) -> None:
    """Say everything there is to say about specs, without building them.

    SPECS are files, folders that are searched for specs, or `-` for standard input.
    """
    from pypto_spec.driver.check import check_specs

    constants = options.constants(defines)
    gathered = options.read(specs, input_format, constants, variants)
    findings = check_specs(gathered, constants)
    options.show(findings, format)
    if not findings and format == "text":
        options.say(f"{options.count(len(gathered.specs), 'spec')} checked: no findings")
    options.leave(findings)
