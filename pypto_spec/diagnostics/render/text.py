"""Findings as rustc prints them: headline, the user's lines with labels, notes, ways out."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_spec.diagnostics.model import Diagnostic, Label
from pypto_spec.diagnostics.render.common import explain_command, fix_text, summary
from pypto_spec.diagnostics.render.paint import FRAME, PLAIN, SECONDARY, STRONG, join
from pypto_spec.diagnostics.render.snippet import Mark, Snippet
from pypto_spec.diagnostics.render.width import show_text


def render_text(diagnostics: Sequence[Diagnostic], *, colour: bool) -> str:
    """All findings, a blank line after each, and the summary line; empty without findings."""
    if not diagnostics:
        return ""
    blocks = [_block(d, colour) for d in diagnostics]
    return "\n\n".join([*blocks, summary(diagnostics)]) + "\n"


def _block(d: Diagnostic, colour: bool) -> str:
    severity = d.level.value
    snippets = _snippets(d)
    gutter = max(1, *(snippet.number_width for _, snippet in snippets))
    margin = " " * gutter
    lines = [join([(severity, f"{severity}[{d.rule.code}]"), (STRONG, f": {show_text(d.message)}")], colour)]
    for number, (first, snippet) in enumerate(snippets):
        if number:
            lines.append(join([(FRAME, f"{margin} |")], colour))
        arrow = ":::" if number else "-->"
        span = first.span
        where = f"{show_text(span.source.name)}:{span.line}:{span.col}"
        lines.append(join([(FRAME, f"{margin}{arrow}"), (PLAIN, f" {where}")], colour))
        if snippet.number_width:
            lines.append(join([(FRAME, f"{margin} |")], colour))
            lines += snippet.lines(gutter, colour)
    remarks = [("note", text) for text in d.notes] + [("help", text) for text in d.helps]
    remarks += [("fix" if fix.safe else "fix (unsafe)", fix_text(fix)) for fix in d.fixes]
    remarks.append(("explain", explain_command(d)))
    for kind, text in remarks:
        lines += _remark(kind, text, margin, colour)
    return "\n".join(lines)


def _snippets(d: Diagnostic) -> list[tuple[Label, Snippet]]:
    """One snippet per file, the file of the primary label first, each with the label its header points at."""
    by_file: dict[tuple[str, str], list[tuple[Label, Mark]]] = {}
    for label in (d.primary, *d.secondary):
        primary = label is d.primary
        mark = Mark.of(label, "^" if primary else "-", d.level.value if primary else SECONDARY)
        source = label.span.source
        by_file.setdefault((source.name, source.text), []).append((label, mark))
    return [
        (labels[0][0], Snippet(labels[0][0].span.source, [mark for _, mark in labels] if text else []))
        for (_, text), labels in by_file.items()
    ]


def _remark(kind: str, text: str, margin: str, colour: bool) -> list[str]:
    head = f"{margin} = "
    first, *rest = [show_text(line) for line in text.splitlines()] or [""]
    lines = [join([(FRAME, head), (STRONG, f"{kind}:"), (PLAIN, f" {first}")], colour)]
    indent = " " * (len(head) + len(kind) + 2)
    return lines + [f"{indent}{line}".rstrip() for line in rest]
