"""The map as JSON. `map.schema.json` beside this file is the contract, and `VERSION` its number."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from pypto_spec.report.map.model import MappedProgram

_NUMBERS = re.compile(r"\[[\s\d,-]+\]")

VERSION: Final = 1
"""Raised when a field changes its meaning or goes; a new field does not raise it."""

SCHEMA: Final = Path(__file__).with_name("map.schema.json")
"""JSON Schema of what `map_text` returns."""


def map_document(programs: Sequence[MappedProgram], file: str) -> dict[str, Any]:
    """The document: the version, the file that was given, and a map for each program it stands for."""
    return {"map": VERSION, "file": file, "programs": [asdict(program) for program in programs]}


def map_text(programs: Sequence[MappedProgram], file: str) -> str:
    """The document as ASCII text, lists of numbers on one line."""
    text = json.dumps(map_document(programs, file), indent=2)
    return _NUMBERS.sub(lambda found: " ".join(found[0].split()).replace("[ ", "[").replace(" ]", "]"), text) + "\n"
