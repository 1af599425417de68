"""What the commands share that rewrite specs: their options, and where the new text goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from pypto_spec.driver.rewritten import Rewritten

F = TypeVar("F", bound=Callable[..., Any])


def rewriting(command: F) -> F:
    """`--check` and `--diff`."""
    for option in (
        click.option("--diff", is_flag=True, help="Write nothing; show what would change."),
        click.option("--check", is_flag=True, help="Write nothing; list the files that would change, and exit with 1."),
    ):
        command = option(command)
    return command


def deliver(made: Rewritten, *, check: bool, diff: bool) -> bool:
    """Show a spec or write it, as the options ask for; whether its file was written."""
    if diff:
        click.echo(made.diff(), nl=False)
    elif check:
        if made.changed:
            click.echo(made.name)
    elif made.standard_input:
        click.echo(made.after, nl=False)
    elif made.changed:
        made.write()
        return True
    return False
