"""`pypto-spec explain`."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem


def _words(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from pypto_spec.driver.explain import rule_words

    wanted = incomplete.casefold()
    return [CompletionItem(word) for word in rule_words() if word.casefold().startswith(wanted)]


@click.command("explain")
@click.argument("code", required=False, shell_complete=_words)
def command(code: str | None) -> None:
    """Show the page of a diagnostic, by its code or name; without one, list them all."""
    from pypto_spec.driver.explain import explain, rule_list

    click.echo(explain(code) if code is not None else rule_list(), nl=False)
