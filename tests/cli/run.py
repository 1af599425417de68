"""Running commands: in this process through click, and as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

from click.testing import CliRunner, Result

from pypto_spec.cli.main import cli
from tests.cli.specs import ROOT

MAIN = "from pypto_spec.cli.main import main; main()"


def run(*args: str, input: str | bytes | None = None) -> Result:
    """A command in this process."""
    return CliRunner().invoke(cli, list(args), input=input, prog_name="pypto-spec")


def process(*args: str, cwd: str | os.PathLike[str] | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    """A command as a process of its own; the library is this checkout's."""
    return subprocess.run(
        [sys.executable, "-c", MAIN, *args],
        capture_output=True, text=True, check=False, cwd=cwd, stdin=subprocess.DEVNULL, timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
    )  # fmt: skip
