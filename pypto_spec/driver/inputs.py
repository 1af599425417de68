"""Which specs a command works on: files, folders searched for specs, and standard input."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from pypto_spec.diagnostics.model import CompileError, Diagnostic
from pypto_spec.records import dataclass

if TYPE_CHECKING:
    from pypto_spec.diagnostics.span import Source
    from pypto_spec.spec.load import Format

STDIN = "-"
ENDINGS = (".yaml", ".yml", ".toml")
MARKER = ".pypto-spec"
"""Stands in folders that a build wrote (see `render/write.py`); they are not searched."""

_SKIPPED = frozenset({"__pycache__", "node_modules"})
_YAML = re.compile(rb"""(?m)^(?:\{\s*)?(?:spec|"spec"|'spec')\s*:""")
_TOML = re.compile(rb"""(?m)^(?:spec|"spec"|'spec')\s*=""")


class UsageError(Exception):
    """A command was asked for something impossible; the text says what, and it ends with exit code 2."""


@dataclass(frozen=True, slots=True)
class Spec:
    """One spec to work on, or one `variant` of it; `data` are the bytes of its file."""

    source: Source
    format: Format
    data: bytes
    variant: str | None = None

    @property
    def name(self) -> str:
        """The path as the user gave it, or `-`."""
        return self.source.name

    @property
    def title(self) -> str:
        """The path, and the variant where it is one."""
        return self.name if self.variant is None else f"{self.name} [{self.variant}]"

    @property
    def sha256(self) -> str:
        """Hash of the file's bytes."""
        from hashlib import sha256

        return sha256(self.data).hexdigest()


@dataclass(slots=True)
class Gathered:
    """The specs in order, and findings about files that are no text. `folders`: whether any folder was searched."""

    specs: list[Spec] = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)
    folders: bool = False


def gather(paths: Sequence[str], stdin_format: Format | None = None) -> Gathered:
    """The specs behind a command's arguments, each once. Raises UsageError with everything that cannot be read."""
    from pypto_spec.spec.load import format_of

    made = Gathered()
    problems: list[str] = []
    seen: set[str] = set()
    for path in paths:
        if path == STDIN:
            if STDIN not in seen:
                seen.add(STDIN)
                _add(made, STDIN, sys.stdin.buffer.read(), stdin_format or "yaml")
            continue
        if os.path.isdir(path):
            made.folders = True
            found = list(search(path))
            if not found:
                problems.append(f"no specs in the folder {path} (looked for {', '.join(ENDINGS)} with a `spec` key)")
        else:
            found = [path]
        for file in found:
            real = os.path.realpath(file)
            if real in seen:
                continue
            seen.add(real)
            try:
                data = Path(file).read_bytes()
            except OSError as error:
                problems.append(f"cannot read {file}: {_reason(error)}")
                continue
            _add(made, file, data, format_of(file))
    if problems:
        raise UsageError("\n".join(problems))
    return made


def _add(made: Gathered, name: str, data: bytes, format: Format) -> None:
    from pypto_spec.spec.reader import decode

    try:
        made.specs.append(Spec(decode(name, data), format, data))
    except CompileError as error:
        made.findings += error.diagnostics


def _reason(error: OSError) -> str:
    return "there is no such file" if isinstance(error, FileNotFoundError) else (error.strerror or str(error)).lower()


def search(folder: str) -> Iterator[str]:
    """The specs in a folder and below it, in the order of their paths; hidden and built folders are left out."""
    for path, folders, files in os.walk(folder):
        folders[:] = sorted(
            f
            for f in folders
            if f[0] != "." and f not in _SKIPPED and not os.path.exists(os.path.join(path, f, MARKER))
        )
        for name in sorted(files):
            if name.lower().endswith(ENDINGS) and name[0] != ".":
                file = os.path.join(path, name)
                if is_spec(file):
                    yield os.path.normpath(file)


def is_spec(file: str | os.PathLike[str]) -> bool:
    """Whether a file has a `spec` key at its top level, as far as a look at its lines can tell."""
    try:
        data = Path(file).read_bytes()
    except OSError:
        return False
    pattern = _TOML if os.fspath(file).lower().endswith(".toml") else _YAML
    return pattern.search(data.removeprefix(b"\xef\xbb\xbf")) is not None
