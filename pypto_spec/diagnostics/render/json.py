"""Findings as JSON. `diagnostics.schema.json` beside this file is the contract, and `VERSION` its number."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from pypto_spec.diagnostics.model import Diagnostic, Fix, Label, Severity
from pypto_spec.diagnostics.render.common import count, explain_command, fix_title
from pypto_spec.diagnostics.span import Span

VERSION: Final = 1
"""Raised when a field changes its meaning or goes; a new field does not raise it."""

SCHEMA: Final = Path(__file__).with_name("diagnostics.schema.json")
"""JSON Schema of what `render_json` returns."""


def render_json(diagnostics: Sequence[Diagnostic]) -> str:
    """One ASCII document with all findings; lines and code-point columns count from 1, ends are exclusive."""
    counts = count(diagnostics)
    document = {
        "version": VERSION,
        "diagnostics": [_finding(d) for d in diagnostics],
        "summary": {
            "errors": counts[Severity.ERROR],
            "warnings": counts[Severity.WARNING],
            "hints": counts[Severity.HINT],
            "notes": counts[Severity.NOTE],
        },
    }
    return json.dumps(document, indent=2) + "\n"


def _finding(d: Diagnostic) -> dict[str, Any]:
    return {
        "code": d.rule.code,
        "name": d.rule.name,
        "severity": d.level.value,
        "message": d.message,
        **_label(d.primary),
        "secondary": [_label(label) for label in d.secondary],
        "notes": list(d.notes),
        "helps": list(d.helps),
        "fixes": [_fix(fix) for fix in d.fixes],
        "figures": dict(d.figures),
        "explain": explain_command(d),
    }


def _label(label: Label) -> dict[str, Any]:
    return {"file": label.span.source.name, "span": _span(label.span), "label": label.text}


def _fix(fix: Fix) -> dict[str, Any]:
    place = {"file": fix.span.source.name, "span": _span(fix.span)}
    return {**place, "replacement": fix.replacement, "safe": fix.safe, "title": fix_title(fix)}


def _span(span: Span) -> dict[str, dict[str, int]]:
    return {
        "start": {"line": span.line, "column": span.col},
        "end": {"line": span.end_line, "column": span.end_col},
    }
