"""Places in the text of a test, by what stands there."""

from __future__ import annotations

import re

from pypto_spec.diagnostics.span import Span
from pypto_spec.editor import names
from pypto_spec.editor.document import Document, open_document
from pypto_spec.editor.model import Edit


def place(text: str, line: str, word: str, number: int = 0) -> int:
    """The offset of a word in the first line that has `line` in it; `number` counts its occurrences there."""
    at = text.index(line)
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    found = [m.start() for m in re.finditer(rf"(?<![A-Za-z0-9_]){re.escape(word)}(?![A-Za-z0-9_])", text[start:end])]
    return start + found[number]


def shown(span: Span | None) -> str:
    """A span as `LINE:TEXT`."""
    if span is None:
        return ""
    line = span.source.line(span.line)
    return f"{span.line}:{line[span.col - 1 : span.end_col - 1]}"


def lines_of(text: str, at: int, declaration: bool = True) -> list[int]:
    """The lines of all references to what stands at an offset."""
    return [span.line for span in names.references(open_document("a.yaml", text), at, declaration)]


def line_of(text: str, line: str) -> int:
    """The number of the first line that has `line` in it."""
    return text.count("\n", 0, text.index(line)) + 1


def edited(text: str, edits: list[Edit]) -> str:
    """The text after edits that do not overlap."""
    for edit in sorted(edits, key=lambda e: -e.start):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def visible(document: Document, at: int) -> dict[str, str]:
    """The names in force at an offset, with their kinds."""
    return {b.name: b.kind.value for b in names.index(document).visible(at)}
