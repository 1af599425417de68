"""`pypto-spec fmt`: specs in the project's style."""

from __future__ import annotations

from pypto_spec.diagnostics.model import CompileError, Diagnostic
from pypto_spec.driver.inputs import Gathered
from pypto_spec.driver.rewritten import Rewritten, mark_of
from pypto_spec.records import dataclass


@dataclass(slots=True)
class Formatted(Rewritten):
    """One spec in the project's style; `reason` says why one was left alone that has a form without a rule."""

    reason: str = ""


def format_specs(gathered: Gathered) -> tuple[list[Formatted], list[Diagnostic]]:
    """All specs that can be read in the project's style, and findings about the others."""
    from pypto_spec.edit.layout import lay_out

    made: list[Formatted] = []
    findings = list(gathered.findings)
    for spec in gathered.specs:
        mark = mark_of(spec)
        before = spec.source.text
        try:
            done = lay_out(spec.source, spec.format)
        except CompileError as error:
            findings += error.diagnostics
            continue
        made.append(Formatted(spec.name, mark + before, mark + done.text, done.reason))
    return made, findings
