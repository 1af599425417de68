"""`pypto-spec new`."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from pypto_spec.cli import options


def _templates(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from pypto_spec.driver.new import template_list

    return [CompletionItem(name, help=about) for name, about in template_list() if name.startswith(incomplete)]


@click.command("new")
@click.argument("name", required=False)
@click.option(
    "--from",
    "template",
    default="add",
    show_default=True,
    metavar="TEMPLATE",
    shell_complete=_templates,
    help="The gallery spec to start from.",
)
@click.option("--list", "listed", is_flag=True, help="List the templates.")
def command(name: str | None, template: str, listed: bool) -> None:
    """Write a starting spec NAME.yaml from a gallery spec; a file that exists is left alone."""
    from pypto_spec.driver.inputs import UsageError
    from pypto_spec.driver.new import new_spec, template_list

    if listed:
        for word, about in template_list():
            click.echo(f"{word:<20} {about}")
        return
    if name is None:
        raise UsageError("name the new spec, or list the templates with --list")
    path = new_spec(name, template)
    options.say(f"written: {path}; next: pypto-spec check {path}")
