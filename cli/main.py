"""The command `pypto-spec`: a group whose commands are imported when they are used."""

from __future__ import annotations

import errno
import os
import sys
from importlib import import_module
from typing import IO, Any

import click

from pypto_spec import __version__

COMMANDS = {
    "build": "write kernels and host code of specs",
    "check": "say everything there is to say about specs",
    "completion": "print a completion script for a shell",
    "convert": "write a spec in the other format, YAML or TOML",
    "doctor": "show what this machine has",
    "diff-passes": "step through what each pass changes, on a page",
    "explain": "say what a code, a keyword, a field or a function means",
    "explain-tiling": "show how a matmul is cut for L0, and why",
    "fix": "apply the fixes of findings",
    "fmt": "put specs into the project's style",
    "lsp": "serve an editor: diagnostics, completion, hover and more",
    "lower": "show the program after a pass, or find the pass that changed a result",
    "map": "draw what lives where on chip, and when",
    "mutate": "drop every flag and barrier in turn and see who objects",
    "new": "write a starting spec",
    "schema": "print the JSON Schema of the language",
    "test": "run goldens: the rendered C++ against torch",
    "tune": "find the constants with the smallest modelled makespan",
}
"""The commands with the line that the group's help shows; each is `cli/NAME.py`, with `_` for `-`."""


_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class Misused(click.ClickException):
    """Wrong usage: one line for each thing that is wrong, exit code 2."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        """Print it on standard error."""
        click.echo("\n".join(f"pypto-spec: {line}" for line in self.message.splitlines()), file=file, err=file is None)


class LazyGroup(click.Group):
    """Imports a command's module when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in order."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command's own module, imported now."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"pypto_spec.cli.{cmd_name.replace('-', '_')}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, with the nearest name where there is none."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS and not ctx.resilient_parsing:
            from pypto_spec.diagnostics.suggest import did_you_mean

            near = did_you_mean(args[0], COMMANDS)
            ctx.fail(f"there is no command `{args[0]}`" + (f"; {near}" if near else ""))
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Wrong usage that a command finds out later ends like the one that click finds out."""
        from pypto_spec.driver.inputs import UsageError

        try:
            return super().invoke(ctx)
        except UsageError as error:
            raise Misused(str(error)) from error
        except BrokenPipeError:
            raise click.exceptions.Exit(_silent()) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table above, without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="pypto-spec", message="%(prog)s %(version)s")
def cli() -> None:
    """Compile kernel specs (YAML or TOML) to Ascend C, and prove the C++ against torch on any machine.

    Exit codes: 0 good, 1 findings of level error, 2 wrong usage or a failure of the compiler itself.
    """


def main() -> None:
    """Run the command line; what may go wrong outside of specs ends in one line, never in a traceback."""
    _start_fast()
    try:
        code = cli.main(prog_name="pypto-spec", standalone_mode=False)
        _leave(code if isinstance(code, int) else 0)  # a command that ends with an exit code hands it back
    except click.ClickException as error:
        error.show()
        _leave(2)
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        _leave(130)
    except BrokenPipeError:
        _leave(_silent())
    except Exception as error:
        _say_failure(error)
        _leave(2)


def _start_fast() -> None:
    """What takes time at the start and does nothing for us; this process is ours, so nobody else misses it.

    Pydantic looks for plugins among all installed packages, which imports half of the standard library; the collector
    of cyclic garbage walks over modules that all stay.
    """
    import gc
    from types import ModuleType

    gc.disable()
    loader = ModuleType("pydantic.plugin._loader")
    loader.get_plugins = tuple  # type: ignore[attr-defined]
    sys.modules.setdefault(loader.__name__, loader)


def _leave(code: int) -> None:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = _silent()
    except OSError as error:
        _say_failure(error)
        _drop(sys.stdout)
        code = 2
    sys.exit(code)


def _silent() -> int:
    """Whoever read our output has gone. The exit code a signal gives."""
    _drop(sys.stdout)
    return 141


def _drop(stream: IO[str]) -> None:
    """What is still in the buffer has nowhere to go: without this, Python would try again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _say_failure(error: Exception) -> None:
    try:
        click.echo(_failure(error), err=True)
    except OSError:  # not even that can be written: the exit code has to do
        _drop(sys.stderr)


def _failure(error: Exception) -> str:
    """A full disk; or an exception nobody expected, with the place of a file that holds the traceback."""
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        name = error.filename if isinstance(error.filename, str) else "the output"
        return f"pypto-spec: cannot write {name}: {(error.strerror or str(error)).lower()}"
    from pypto_spec.driver.crash import write_traceback

    where = write_traceback(error)
    text = f"pypto-spec: internal error: {type(error).__name__}: {error}"
    return f"{text}\nplease report it with {where}" if where else text
