"""Findings of the compiler as diagnostics of the protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.uris import from_fs_path

from pypto_spec.diagnostics.model import Diagnostic, Fix, Label, Severity
from pypto_spec.diagnostics.pages import FOLDER
from pypto_spec.diagnostics.span import Source
from pypto_spec.lsp.positions import Places

SOURCE = "pypto-spec"

LEVELS = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.HINT: types.DiagnosticSeverity.Information,
    Severity.NOTE: types.DiagnosticSeverity.Hint,
}
"""Hints are about speed: the protocol's own hints are all but invisible in most editors."""

_TAGS = (("unused-", types.DiagnosticTag.Unnecessary), ("deprecated-", types.DiagnosticTag.Deprecated))
"""By how the name of a rule begins."""


def diagnostic(found: Diagnostic, places: Places, uri: str) -> types.Diagnostic:
    """One finding. What lies in another file (of a dump) is shown at the top, with its place in words."""
    span = found.primary.span
    here = is_here(span.source, places)
    page = FOLDER / f"{found.rule.code}.md"
    link = from_fs_path(str(page)) if page.exists() else None
    related = [_related(label, places, uri) for label in found.secondary]
    return types.Diagnostic(
        range=places.of_span(span) if here else places.range(0, 0),
        message=message(found) if here else f"{span}: {message(found)}",
        severity=LEVELS[found.level],
        code=found.rule.code,
        code_description=types.CodeDescription(link) if link else None,
        source=SOURCE,
        tags=[tag for start, tag in _TAGS if found.rule.name.startswith(start)] or None,
        related_information=[one for one in related if one is not None] or None,
        data=_data(found, places),
    )


def message(found: Diagnostic) -> str:
    """The finding in lines: what it is, what its place is, the notes, and the ways out.

    The label is left out where the first line says it already.
    """
    label = found.primary.text
    lines = [found.message]
    if label and label.casefold() not in found.message.casefold():
        lines.append(label)
    lines += [f"note: {note}" for note in found.notes]
    lines += [f"help: {text}" for text in found.helps]
    return "\n".join(lines)


def is_here(source: Source, places: Places) -> bool:
    """Whether a span of this source lies in the document itself."""
    return source.text == places.source.text


def _related(label: Label, places: Places, uri: str) -> types.DiagnosticRelatedInformation | None:
    span = label.span
    text = label.text or "see here"
    if is_here(span.source, places):
        return types.DiagnosticRelatedInformation(types.Location(uri, places.of_span(span)), text)
    file = Path(span.source.name)
    link = from_fs_path(str(file.absolute())) if file.is_file() else None
    if link is None:
        return None
    start = types.Position(span.line - 1, span.col - 1)
    return types.DiagnosticRelatedInformation(types.Location(link, types.Range(start, start)), text)


def _data(found: Diagnostic, places: Places) -> dict[str, Any]:
    """For clients that apply fixes by themselves: the rule's name, and each fix as an edit."""
    return {"name": found.rule.name, "fixes": [_fix(fix, places) for fix in found.fixes]}


def _fix(fix: Fix, places: Places) -> dict[str, Any]:
    place = places.of_span(fix.span)
    return {
        "range": {
            "start": {"line": place.start.line, "character": place.start.character},
            "end": {"line": place.end.line, "character": place.end.character},
        },
        "newText": fix.replacement,
        "safe": fix.safe,
    }
