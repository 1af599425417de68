"""`pypto-spec schema`."""

from __future__ import annotations

import click

from pypto_spec.cli import options


@click.command("schema")
@click.option("-o", "--output", "out", type=click.Path(dir_okay=False), metavar="FILE", help="Write it to a file.")
@click.option("--path", is_flag=True, help="Print where the installed schema is, for the settings of an editor.")
def command(out: str | None, path: bool) -> None:
    """Print the JSON Schema of the language, which editors use to complete and check specs."""
    from pypto_spec.driver.files import write_file
    from pypto_spec.driver.schema import FILE, schema_text

    if path:
        click.echo(FILE)
    elif out is not None:
        write_file(out, schema_text())
        options.say(f"written: {out}")
    else:
        click.echo(schema_text(), nl=False)
