"""`pypto-spec explain`."""

from __future__ import annotations

import shutil
import sys

import click
from click.shell_completion import CompletionItem


def _words(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from pypto_spec.driver.explain import words

    wanted = incomplete.casefold()
    deep = "." in incomplete
    return [CompletionItem(w) for w in words() if w.casefold().startswith(wanted) and (deep or "." not in w)]


@click.command("explain")
@click.argument("word", required=False, shell_complete=_words)
@click.option(
    "--list",
    "kind",
    type=click.Choice(["codes", "keywords", "functions", "fields"]),
    help="List all diagnostics, keywords of statements, functions of formulas, or paths of fields.",
)
def command(word: str | None, kind: str | None) -> None:
    """Show what a word means: the page of a diagnostic, or the reference of a keyword, a field or a function.

    WORD is a code or name (`PS2001`, `undefined-name`), a keyword (`load`), a path of keys (`tensors.x.access`,
    `load.at`, with any name for yours) or a function of formulas (`softmax`). Without one, all diagnostics are listed.
    """
    from pypto_spec.driver.explain import LISTS, explain
    from pypto_spec.driver.inputs import UsageError

    if word is not None and kind is not None:
        raise UsageError("`explain` takes a word or `--list`, not both")
    text = LISTS[kind or "codes"]() if word is None else explain(word)
    if word is not None and sys.stdout.isatty():
        from pypto_spec.driver.wrap import wrapped

        text = wrapped(text, shutil.get_terminal_size().columns)
    click.echo(text, nl=False)
