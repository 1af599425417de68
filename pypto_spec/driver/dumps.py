"""Dumps: the program after a pass as spec text, with the header that lets a later run go on from there."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pypto_spec.convert.to_spec import to_spec
from pypto_spec.driver.inputs import STDIN, Spec
from pypto_spec.ir.nodes import Dump

if TYPE_CHECKING:
    from pypto_spec.ir.nodes import Program

FRONTEND = "frontend"
"""Stands for the program as it was read, before any pass; its text is an ordinary spec."""


def dump_text(program: Program, after: str | None, spec: Spec, folder: str | os.PathLike[str] = ".") -> str:
    """The program after a pass as a dump that will stand in `folder`; None is the program as it was read."""
    if after is None:
        return to_spec(program)
    old = program.dump
    if old is not None:
        named = os.path.join(os.path.dirname(spec.name), old.source) if spec.name != STDIN else old.source
        header = Dump(after, _relative(named, folder), old.sha256)
    else:
        header = Dump(after, _relative(spec.name, folder), spec.sha256)
    return to_spec(replace(program, dump=header))


def dump_files(
    spec: Spec, stages: Sequence[tuple[str | None, Program]], folder: str | os.PathLike[str], *, first: int = 0
) -> dict[str, str]:
    """`NN_PASS.yaml` for every stage that was kept, the program as it was read first."""
    made: dict[str, str] = {}
    for number, (name, program) in enumerate(stages, first):
        made[f"{number:02}_{name or FRONTEND}.yaml"] = dump_text(program, name, spec, folder)
    return made


def _relative(name: str, folder: str | os.PathLike[str]) -> str:
    """A spec's name as seen from a folder; what is already relative to the current folder stays as it is there.

    Bytes of it that are no UTF-8 are spelt out: a dump is UTF-8.
    """
    name = name.encode("utf-8", "backslashreplace").decode()
    if name == STDIN or os.fspath(folder) in ("", "."):
        return name
    return Path(os.path.relpath(os.path.realpath(name), os.path.realpath(folder))).as_posix()
