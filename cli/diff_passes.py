"""`pypto-spec diff-passes`."""

from __future__ import annotations

import click

from pypto_spec.cli import options


@click.command("diff-passes")
@click.argument("spec", type=click.Path(allow_dash=True))
@click.option("-o", "--output", "out", required=True, type=click.Path(dir_okay=False), metavar="FILE", help="The page.")
@options.input_format
@options.debug
@options.defines
@options.variant
def command(spec: str, out: str, input_format: str, debug: bool, defines: tuple[str, ...], variant: str | None) -> None:
    """Write a page that steps through the passes and shows what each changed."""
    from pypto_spec.driver.diff_passes import diff_passes

    constants = options.constants(defines)
    gathered = options.read_one(spec, input_format, constants, variant, "diff-passes")
    findings = list(gathered.findings)
    if gathered.specs:
        made = diff_passes(gathered.specs[0], defines=constants, debug=debug)
        findings += made.findings
        if made.text is not None:
            options.put(made.text, out)
    options.show(findings, "text", err=True)
    options.leave(findings)
