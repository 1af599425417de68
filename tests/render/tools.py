"""Running the C++ tools of this machine in tests."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STUBS = Path(__file__).with_name("stubs")


def clang_format(text: str, name: str = "kernel.cpp") -> str:
    """What the project's clang-format makes of a text."""
    tool = Path(sys.executable).with_name("clang-format")
    if not tool.exists():
        pytest.skip("clang-format is not installed in this environment")
    command = [str(tool), f"--style=file:{ROOT / '.clang-format'}", f"--assume-filename={name}"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return done.stdout


def compile_and_run(folder: Path, sources: list[Path], includes: list[Path]) -> str:
    """Output of a program made of these sources, compiled with warnings as errors."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("g++ is not installed")
    program = folder / "program"
    command = [compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-o", str(program)]
    done = subprocess.run(
        [*command, *(f"-I{i}" for i in includes), *map(str, sources)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
