"""`pypto-spec doctor`: what this machine has, and what each part is needed for."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from importlib import metadata
from importlib.util import find_spec

from pypto_spec import __version__
from pypto_spec.diagnostics.model import CompileError
from pypto_spec.records import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """One thing a machine may have: `found` is None where it has not."""

    name: str
    found: str | None
    needed: str
    how: str


def examine(cann: str | None = None) -> list[Part]:
    """Every part, found or not."""
    return [
        Part("python", f"{platform.python_version()} ({sys.executable})", "everything", "Python 3.11 or newer"),
        Part("pypto-spec", f"{__version__} ({_home()})", "everything", "pip install pypto-spec"),
        Part("C++ compiler", _compiler(), "test, mutate, build --typecheck", "apt-get install g++, or set CXX"),
        Part("torch", _package("torch"), "test, mutate, lower --check", "pip install 'pypto-spec[golden]'"),
        Part("OR-tools", _package("ortools"), "placing buffers exactly where heuristics fail", "pip install "
             "'pypto-spec[exact]'"),
        Part("torch_npu", _package("torch_npu"), "calling kernels from torch on a device", "comes from the vendor"),
        Part("CANN", _toolkit(cann), "build --typecheck, compiling for a device", "name it with --cann DIR or set "
             "ASCEND_HOME_PATH"),
    ]  # fmt: skip


def _home() -> str:
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _compiler() -> str | None:
    program = os.environ.get("CXX", "g++")
    path = shutil.which(program)
    if path is None:
        return None
    try:
        done = subprocess.run([path, "-dumpfullversion"], capture_output=True, text=True, check=False, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return f"{program} {done.stdout.strip()} ({path})"


def _package(name: str) -> str | None:
    """The version of a package that can be imported; it is not imported."""
    try:
        if find_spec(name) is None:
            return None
        return metadata.version(name)
    except (ImportError, ValueError):
        return "found, version unknown"


def _toolkit(cann: str | None) -> str | None:
    from pypto_spec.render.toolkit import find_toolkit

    try:
        toolkit = find_toolkit(cann)
    except CompileError:
        return None
    return f"layout of {toolkit.layout} ({toolkit.root})"
