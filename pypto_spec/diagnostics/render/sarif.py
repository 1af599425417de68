"""Findings as SARIF 2.1.0, for code scanning services and editors."""

from __future__ import annotations

import json
import posixpath
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final
from urllib.parse import quote

from pypto_spec import __version__
from pypto_spec.diagnostics.model import Diagnostic, Fix, Label, Rule, Severity
from pypto_spec.diagnostics.pages import load_page
from pypto_spec.diagnostics.render.common import explain_command, fix_text, paragraphs
from pypto_spec.diagnostics.span import Span

_LEVELS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "note", Severity.NOTE: "note"}


def render_sarif(diagnostics: Sequence[Diagnostic]) -> str:
    """One SARIF log with one run; only rules that were broken are listed."""
    rules = sorted({d.rule.code: d.rule for d in diagnostics}.values(), key=lambda r: r.code)
    index = {rule.code: number for number, rule in enumerate(rules)}
    seen: Counter[str] = Counter()
    run = {
        "tool": {
            "driver": {
                "name": "pypto-spec",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule(rule) for rule in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(d, index[d.rule.code], seen) for d in diagnostics],
    }
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }
    return json.dumps(log, indent=2) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    page = load_page(rule.code)
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "help": {"text": f"pypto-spec explain {rule.code}", **({"markdown": page.text} if page else {})},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(d: Diagnostic, index: int, seen: Counter[str]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": d.rule.code,
        "ruleIndex": index,
        "level": _LEVELS[d.level],
        "message": {"text": "\n".join([*paragraphs(d), explain_command(d)])},
        "locations": [{"physicalLocation": _place(d.primary.span)}],
        "partialFingerprints": {"pyptoSpec/v1": _fingerprint(d, seen)},
    }
    if d.secondary:
        result["relatedLocations"] = [_related(number, label) for number, label in enumerate(d.secondary)]
    if d.fixes:
        result["fixes"] = [_fix(fix) for fix in d.fixes]
    if d.figures:
        result["properties"] = {"figures": dict(d.figures)}
    return result


def _fingerprint(d: Diagnostic, seen: Counter[str]) -> str:
    """What stays the same when lines are added above: the rule, the file and the text of the line.

    Equal findings on equal lines are told apart by their order.
    """
    span = d.primary.span
    parts = (d.rule.code, _uri(span.source.name), span.source.line(span.line).strip())
    digest = sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    seen[digest] += 1
    return f"{digest}:{seen[digest]}"


def _related(number: int, label: Label) -> dict[str, Any]:
    related: dict[str, Any] = {"id": number, "physicalLocation": _place(label.span)}
    if label.text:
        related["message"] = {"text": label.text}
    return related


def _fix(fix: Fix) -> dict[str, Any]:
    replacement = {"deletedRegion": _region(fix.span), "insertedContent": {"text": fix.replacement}}
    change = {"artifactLocation": _artifact(fix.span), "replacements": [replacement]}
    return {"description": {"text": fix_text(fix)}, "artifactChanges": [change]}


def _place(span: Span) -> dict[str, Any]:
    return {"artifactLocation": _artifact(span), "region": _region(span)}


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.col,
        "endLine": span.end_line,
        "endColumn": span.end_col,
    }


def _artifact(span: Span) -> dict[str, str]:
    uri = _uri(span.source.name)
    return {"uri": uri} if uri.startswith("file:") else {"uri": uri, "uriBaseId": "%SRCROOT%"}


def _uri(name: str) -> str:
    """A path as a URI: relative ones stay relative to where the command ran, standard input is `stdin`."""
    if name == "-":
        return "stdin"
    path = quote(posixpath.normpath(name), safe="/", errors="surrogatepass")
    return f"file://{path}" if path.startswith("/") else path
