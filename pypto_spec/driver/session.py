"""Compiling one spec for a command: its stages, advice on overflows, and a report where the compiler fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from pypto_spec.diagnostics.model import Diagnostic, Severity
from pypto_spec.driver.compile import Compilation, compile_source
from pypto_spec.driver.inputs import Spec
from pypto_spec.records import dataclass

if TYPE_CHECKING:
    from pypto_spec.ir.nodes import Program
    from pypto_spec.passes.base import Pass

INTERNAL = frozenset({"PS9001", "PS9002", "PS9003"})
"""Codes of bugs of the compiler; commands end with exit code 2 on them."""

ADVISED = frozenset({"PS4001", "PS4030", "PH-MR-001"})
"""Codes that get advice with numbers."""


@dataclass(slots=True)
class Compiled:
    """What came of one spec; `stages` holds the program as it was read (None) and after each pass, where wanted."""

    spec: Spec
    compilation: Compilation
    stages: list[tuple[str | None, Program]] = field(default_factory=list)

    @property
    def program(self) -> Program | None:
        """The program after the last pass that ran; None after an error."""
        return self.compilation.program

    @property
    def findings(self) -> list[Diagnostic]:
        """Everything found, in the order in which it was found."""
        return self.compilation.diagnostics

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return self.compilation.ok

    @property
    def frontend(self) -> Program:
        """The program as it was read."""
        return self.stages[0][1]


def compile_spec(
    spec: Spec,
    *,
    defines: Mapping[str, str] | None = None,
    after: str | None = None,
    keep_stages: bool = False,
    advise: bool = True,
    debug: bool = False,
    checkpoint: Callable[[], None] | None = None,
    reports: bool = True,
) -> Compiled:
    """Compile a spec; an overflow gets advice, a failure of the compiler a report folder that its finding names.

    `checkpoint` is called after each pass, and before the advice; what it raises ends the work.
    """
    stages: list[tuple[str | None, Program]] = []

    def keep(step: Pass | None, program: Program) -> None:
        if keep_stages:
            stages.append((step.name if step is not None else None, program))
        if checkpoint is not None:
            checkpoint()

    on_pass = keep if keep_stages or checkpoint is not None else None
    result = compile_source(
        spec.source,
        format=spec.format,
        defines=defines,
        variant=spec.variant,
        after=after,
        on_pass=on_pass,
        debug=debug,
    )
    made = Compiled(spec, result, stages)
    codes = {d.rule.code for d in result.diagnostics}
    if any(d.rule.code in INTERNAL for d in result.diagnostics if d.level is Severity.ERROR):
        if reports:
            _report(made, defines, after)
    elif advise and codes & ADVISED:
        if checkpoint is not None:
            checkpoint()
        from pypto_spec.driver.advice import advise as add_advice

        result.diagnostics[:] = add_advice(spec, result.diagnostics, defines, result.program)
    return made


def _report(made: Compiled, defines: Mapping[str, str] | None, after: str | None) -> None:
    from pypto_spec.driver.crash import write_report

    where = write_report(made.spec, made.compilation, defines, after)
    note = f"a report with the spec and the dumps is in {where}" if where else "no report could be written"
    found = made.compilation.diagnostics
    for place, diagnostic in enumerate(found):
        if diagnostic.rule.code in INTERNAL:
            helps = (*diagnostic.helps, "please report it with that folder") if where else diagnostic.helps
            found[place] = replace(diagnostic, notes=(*diagnostic.notes, note), helps=helps)


def exit_code(findings: Sequence[Diagnostic]) -> int:
    """0 without errors, 1 with errors of the specs, 2 where the compiler itself failed."""
    errors = {d.rule.code for d in findings if d.level is Severity.ERROR}
    return 2 if errors & INTERNAL else 1 if errors else 0
