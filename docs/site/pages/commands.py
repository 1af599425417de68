"""The reference of the command line, from the commands themselves."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import cleandoc

import click

from docs.site.model import Page
from pypto_spec.cli.main import COMMANDS, cli


def pages() -> Iterator[Page]:
    """One page with all commands."""
    context = click.Context(cli, info_name="pypto-spec")
    overview = "".join(f"| [`{name}`](#pypto-spec-{name}) | {text} |\n" for name, text in sorted(COMMANDS.items()))
    parts = [
        "# Command line\n",
        _text(cli.help or ""),
        f"| command | what it does |\n| --- | --- |\n{overview}",
        _options(cli, context),
    ]
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context)
        usage = " ".join(["pypto-spec", name, *command.collect_usage_pieces(inner)])
        parts += [
            f"## pypto-spec {name}\n",
            f"```text\n{usage}\n```\n",
            _text(command.help or ""),
            _options(command, inner),
        ]
    yield Page("cli.md", "\n".join(parts), "cli/main.py", stands_for={})


def _text(help_text: str) -> str:
    return cleandoc(help_text.replace("\b\n", "")).strip() + "\n"


def _options(command: click.Command, context: click.Context) -> str:
    rows = []
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            names, text = record
            rows.append(f"| `{_cell(names)}` | {_cell(text)} |\n")
    return "| option | meaning |\n| --- | --- |\n" + "".join(rows)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
