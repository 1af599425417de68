"""`pypto-spec convert`."""

from __future__ import annotations

from typing import Literal

import click

from pypto_spec.cli import options


@click.command("convert")
@click.argument("spec", type=click.Path(allow_dash=True))
@options.input_format
@click.option("--to", type=click.Choice(["yaml", "toml"]), help="The format to write.  [default: the other one]")
@click.option(
    "-o", "--output", "out", type=click.Path(dir_okay=False), metavar="FILE", help="Write to a file; its ending counts."
)
@options.output_format
def command(spec: str, input_format: str, to: str | None, out: str | None, format: str) -> None:
    """Write a spec in the other format: YAML as TOML, TOML as YAML. Order and comments stay.

    Without -o it goes to standard output. Anchors, aliases and merge keys are written out in TOML, which has none; a
    line on standard error says where.
    """
    from pypto_spec.driver.convert_format import convert_format

    wanted = None if to is None else _format(to)
    done = convert_format(spec, wanted, out, _format(input_format))
    for note in done.notes:
        options.say(note)
    options.show(done.findings, format, err=True)
    if done.text is not None:
        options.put(done.text, out)
    options.leave(done.findings)


def _format(word: str) -> Literal["yaml", "toml"]:
    return "toml" if word == "toml" else "yaml"
