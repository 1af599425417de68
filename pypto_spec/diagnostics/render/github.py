"""Findings as GitHub workflow commands, which become annotations on a pull request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pypto_spec.diagnostics.model import Diagnostic, Severity
from pypto_spec.diagnostics.render.common import explain_command, paragraphs

_COMMANDS: Final = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.HINT: "notice",
    Severity.NOTE: "notice",
}


def render_github(diagnostics: Sequence[Diagnostic]) -> str:
    """One command per line; empty without findings."""
    return "".join(f"{_command(d)}\n" for d in diagnostics)


def _command(d: Diagnostic) -> str:
    span = d.primary.span
    properties = {} if span.source.name == "-" else {"file": span.source.name}
    properties["title"] = f"{d.rule.code} {d.rule.name}"
    properties["line"] = str(span.line)
    properties["endLine"] = str(max(span.end_line, span.line))
    if span.end_line <= span.line:
        # Columns of a span of several lines make the service refuse the annotation.
        properties["col"] = str(span.col)
        properties["endColumn"] = str(max(span.end_col, span.col))
    shown = ",".join(f"{key}={_escape_property(value)}" for key, value in properties.items())
    return f"::{_COMMANDS[d.level]} {shown}::" + _escape_data("\n".join([*paragraphs(d), explain_command(d)]))


def _escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")
