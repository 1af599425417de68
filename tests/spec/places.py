"""Helpers of the tests about positions."""

from __future__ import annotations

from pypto_spec.diagnostics.span import Span


def cut(span: Span) -> str:
    """The text a span covers."""
    starts = span.source.line_starts()
    return span.source.text[starts[span.line - 1] + span.col - 1 : starts[span.end_line - 1] + span.end_col - 1]
