"""`pypto-spec lsp`."""

from __future__ import annotations

import click

from pypto_spec.cli import options


@click.command("lsp")
@click.option("--tcp", metavar="HOST:PORT", help="Wait for one editor at an address instead, for debugging.")
@click.option("--log", "log", type=click.Path(dir_okay=False), help="Write the log to a file, not to standard error.")
@click.option("--verbose", is_flag=True, help="Log what is done, not only what goes wrong.")
def command(tcp: str | None, log: str | None, verbose: bool) -> None:
    """Serve an editor: the language server, over standard input and output.

    Editors start this command themselves; docs/editor.md says how to set them up.
    """
    from pypto_spec.lsp.start import serve

    address = _address(tcp) if tcp is not None else None
    options.runs_long()
    try:
        serve(address, log, verbose)
    except OSError as error:
        raise click.UsageError(f"cannot serve: {(error.strerror or str(error)).lower()}") from error


def _address(word: str) -> tuple[str, int]:
    host, colon, port = word.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise click.UsageError(f"--tcp {word}: write HOST:PORT, such as localhost:2087")
    return host or "localhost", int(port)
