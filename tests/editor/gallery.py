"""Specs for the tests of the editor: the gallery, spec blocks of the documentation, and a spec with everything."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from pypto_spec.editor.document import Document, open_document

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^```(yaml|toml)\n(spec.*?)^```", re.MULTILINE | re.DOTALL)


@cache
def gallery() -> dict[str, str]:
    """The texts of all specs of the gallery, by their paths there."""
    found = sorted(path for path in (ROOT / "specs").rglob("*") if path.suffix in (".yaml", ".toml"))
    return {str(path.relative_to(ROOT / "specs")): path.read_text() for path in found}


@cache
def documented() -> dict[str, str]:
    """The whole specs of the language reference, by page and number."""
    made: dict[str, str] = {}
    for page in sorted((ROOT / "docs").glob("*.md")):
        for number, match in enumerate(_BLOCK.finditer(page.read_text())):
            made[f"{page.stem}-{number}.{match.group(1)}"] = match.group(2)
    return made


@cache
def specs() -> dict[str, str]:
    """All of them."""
    return {**gallery(), **documented()}


@cache
def opened(name: str) -> Document:
    """The document of one of them."""
    return open_document(name, specs()[name])
