"""Findings as text for people and as JSON, SARIF and workflow commands for machines.

`render` is the one entry; the module of a format is imported when that format is asked for, so that a cold
`pypto-spec check` pays for one of them only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pypto_spec.diagnostics.model import Diagnostic
from pypto_spec.diagnostics.render.common import arrange, summary

__all__ = ["FORMATS", "arrange", "render", "summary"]

FORMATS: Final = ("text", "json", "sarif", "github")
"""The values of the command line's `--format`."""


def render(diagnostics: Iterable[Diagnostic], format: str = "text", *, colour: bool = False) -> str:
    r"""The findings in one of `FORMATS`, merged and ordered as `arrange` says; ends with "\n" unless it is empty.

    `colour` matters to `text` alone; whether the terminal wants colour is the caller's business. Text is empty without
    findings; JSON and SARIF are complete documents even then. An unknown format is a ValueError.
    """
    found = arrange(diagnostics)
    if format == "text":
        from pypto_spec.diagnostics.render.text import render_text

        return render_text(found, colour=colour)
    if format == "json":
        from pypto_spec.diagnostics.render.json import render_json

        return render_json(found)
    if format == "sarif":
        from pypto_spec.diagnostics.render.sarif import render_sarif

        return render_sarif(found)
    if format == "github":
        from pypto_spec.diagnostics.render.github import render_github

        return render_github(found)
    raise ValueError(f"unknown format {format!r}; the formats are {', '.join(FORMATS)}")
