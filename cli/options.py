"""What several commands share: options, colour, and printing findings."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from pypto_spec.diagnostics.model import Diagnostic
    from pypto_spec.driver.inputs import Gathered

F = TypeVar("F", bound=Callable[..., Any])

FORMATS = ("text", "json", "sarif", "github")


def specs(command: F) -> F:
    """`SPECS...`, `--input-format`, `-D` and `--variant`."""
    for option in (
        click.argument("specs", nargs=-1, required=True, type=click.Path(allow_dash=True), metavar="SPECS..."),
        input_format,
        defines,
        variants,
    ):
        command = option(command)
    return command


def input_format(command: F) -> F:
    """The language of standard input."""
    return click.option(
        "--input-format", type=click.Choice(["yaml", "toml"]), default="yaml", help="Language of standard input (`-`)."
    )(command)


def defines(command: F) -> F:
    """Constants from the command line."""
    return click.option(
        "-D",
        "defines",
        multiple=True,
        metavar="NAME=VALUE",
        help="Replace the value of a constant, or, with @FILE, of those in a file; may be repeated, the last counts.",
    )(command)


def variants(command: F) -> F:
    """Which variants of a spec."""
    return click.option(
        "--variant", "variants", multiple=True, metavar="KEY", help="Only this variant of a spec; may be repeated."
    )(command)


def variant(command: F) -> F:
    """Which variant of a spec, for commands that take one."""
    return click.option("--variant", "variant", metavar="KEY", help="Which variant of the spec.")(command)


def debug(command: F) -> F:
    """What is shown from inside kernels."""
    return click.option("--debug", is_flag=True, help="Keep `debug` statements: kernels print and dump.")(command)


def output_format(command: F) -> F:
    """How findings are printed."""
    return click.option(
        "--format", "format", type=click.Choice(FORMATS), default="text", help="How findings are printed."
    )(command)


def read(
    paths: Sequence[str], kind: str, defines: Mapping[str, str] | None = None, variants: Sequence[str] = ()
) -> Gathered:
    """The specs behind the arguments, each of their variants by itself."""
    from pypto_spec.driver.inputs import gather
    from pypto_spec.driver.variants import expand

    return expand(gather(paths, "toml" if kind == "toml" else "yaml"), defines or {}, variants)


def read_one(path: str, kind: str, defines: Mapping[str, str], variant: str | None, command: str) -> Gathered:
    """The one spec, or the one variant of it, that a command works on. Raises UsageError where there are several."""
    from pypto_spec.driver.inputs import UsageError

    gathered = read([path], kind, defines, [variant] if variant is not None else ())
    if len(gathered.specs) > 1:
        keys = [one.variant for one in gathered.specs if one.variant is not None]
        way = f"choose one with --variant: {', '.join(keys)}" if keys else f"`{command}` takes one"
        raise UsageError(f"{path} holds several {'variants' if keys else 'specs'}; {way}")
    return gathered


def constants(words: Sequence[str]) -> dict[str, str]:
    """`-D` options as a mapping."""
    from pypto_spec.driver.defines import parse_defines

    return parse_defines(words)


def wants_colour(stream: IO[Any]) -> bool:
    """Colour only on a terminal, and not where NO_COLOR is set."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()


def show(findings: Sequence[Diagnostic], format: str, *, err: bool = False) -> None:
    """Print findings: text to one of the two streams, documents for machines always in full."""
    if not findings and format == "text":
        return
    from pypto_spec.diagnostics.render import render

    stream = sys.stderr if err else sys.stdout
    stream.write(render(findings, format, colour=format == "text" and wants_colour(stream)))
    stream.flush()


def put(text: str, out: str | None) -> None:
    """What a command makes: into a file, or on standard output."""
    if out is None:
        click.echo(text, nl=False)
        return
    from pypto_spec.driver.files import write_file

    write_file(out, text)
    say(f"written: {out}")


def say(text: str) -> None:
    """A line about progress, on standard error."""
    click.echo(text, err=True)


def leave(findings: Sequence[Diagnostic]) -> None:
    """End with the exit code that the findings ask for."""
    from pypto_spec.driver.session import exit_code

    code = exit_code(findings)
    if code:
        raise click.exceptions.Exit(code)


def runs_long() -> None:
    """Turn the collector of cyclic garbage on again, which a short command does without (see `main.py`)."""
    import gc

    gc.enable()


def count(number: int, word: str) -> str:
    """`1 spec`, `3 specs`."""
    return f"{number} {word}{'s' * (number != 1)}"
