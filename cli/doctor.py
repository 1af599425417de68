"""`pypto-spec doctor`."""

from __future__ import annotations

import click


@click.command("doctor")
@click.option("--cann", type=click.Path(), metavar="DIR", help="Folder of a CANN toolkit to look at.")
def command(cann: str | None) -> None:
    """Show what this machine has, and what each part is needed for."""
    from pypto_spec.driver.doctor import examine

    for part in examine(cann):
        click.echo(f"{part.name:<13} {part.found or 'not found'}")
        click.echo(f"{'':<13} needed for: {part.needed}" + ("" if part.found else f"; {part.how}"))
