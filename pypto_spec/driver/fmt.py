"""`pypto-spec fmt`: specs in the project's style."""

from __future__ import annotations

from difflib import unified_diff

from pypto_spec.diagnostics.model import CompileError, Diagnostic
from pypto_spec.driver.files import write_file
from pypto_spec.driver.inputs import STDIN, Gathered
from pypto_spec.records import dataclass

_MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class Formatted:
    """One spec with its text before and after; `reason` says why one was left alone that has a form without a rule."""

    name: str
    before: str
    after: str
    reason: str = ""

    @property
    def changed(self) -> bool:
        """Whether its layout was another."""
        return self.before != self.after

    @property
    def standard_input(self) -> bool:
        """Whether it came from there, and goes to standard output."""
        return self.name == STDIN

    def diff(self) -> str:
        """What changes, as a unified diff."""
        before, after = (text.splitlines(keepends=True) for text in (self.before, self.after))
        lines = unified_diff(before, after, self.name, self.name)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def format_specs(gathered: Gathered) -> tuple[list[Formatted], list[Diagnostic]]:
    """All specs that can be read in the project's style, and findings about the others."""
    from pypto_spec.edit.layout import lay_out

    made: list[Formatted] = []
    findings = list(gathered.findings)
    for spec in gathered.specs:
        mark = _MARK if spec.data.startswith(_MARK.encode()) else ""  # the source of a file is without it
        before = spec.source.text
        try:
            done = lay_out(spec.source, spec.format)
        except CompileError as error:
            findings += error.diagnostics
            continue
        made.append(Formatted(spec.name, mark + before, mark + done.text, done.reason))
    return made, findings


def write(made: Formatted) -> None:
    """Replace the file of a spec by its text in the project's style. Raises UsageError."""
    write_file(made.name, made.after)
