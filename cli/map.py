"""`pypto-spec map`."""

from __future__ import annotations

import click

from pypto_spec.cli import options


@click.command("map")
@click.argument("spec", type=click.Path(allow_dash=True))
@click.option("-o", "--output", "out", type=click.Path(dir_okay=False), metavar="FILE", help="Write to a file.")
@click.option(
    "--format",
    "format",
    type=click.Choice(["html", "json", "svg"]),
    default="html",
    show_default=True,
    help="A page, the data behind it, or the drawings alone; a page needs -o.",
)
@options.input_format
@options.debug
@options.defines
@options.variants
def command(
    spec: str,
    out: str | None,
    format: str,
    input_format: str,
    debug: bool,
    defines: tuple[str, ...],
    variants: tuple[str, ...],
) -> None:
    """Draw what lives where on chip, and when.

    Across are the addresses of a memory, down the statements; the spec and the program after the last pass stand
    beside. A dump whose addresses are wrong is drawn too, with what is wrong in red.
    """
    from pypto_spec.driver.inputs import UsageError
    from pypto_spec.driver.map import map_specs
    from pypto_spec.driver.variants import merged

    if format == "html" and out is None:
        raise UsageError("name a file for the page with -o, or choose --format json or svg")
    constants = options.constants(defines)
    gathered = options.read([spec], input_format, constants, variants)
    if len({one.name for one in gathered.specs}) > 1:
        raise UsageError(f"{spec} holds several specs; `map` takes one")
    findings = list(gathered.findings)
    if gathered.specs:
        made = map_specs(gathered.specs, format, defines=constants, debug=debug)
        findings += merged(made.findings)
        if made.text is not None:
            options.put(made.text, out)
    options.show(findings, "text", err=True)
    options.leave(findings)
