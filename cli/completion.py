"""`pypto-spec completion`."""

from __future__ import annotations

import click


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print a completion script for a shell.

    For bash: `pypto-spec completion bash > ~/.local/share/bash-completion/completions/pypto-spec`.
    """
    from click.shell_completion import get_completion_class

    from pypto_spec.cli.main import cli

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(cli, {}, "pypto-spec", "_PYPTO_SPEC_COMPLETE").source())
