"""Diagnostics: their rules, their parts, and the sink that collects them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from enum import Enum

from pypto_spec.diagnostics.span import Span
from pypto_spec.records import dataclass


class Severity(Enum):
    """How much a finding matters. Errors stop the build; hints are about speed."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of diagnostic: its stable code, its kebab-case name and its default severity.

    Each rule has a page `diagnostics/pages/CODE.md`, whose bad example is run in the tests.
    """

    code: str
    name: str
    severity: Severity
    summary: str


@dataclass(frozen=True, slots=True)
class Label:
    """A span with the words that stand beside it."""

    span: Span
    text: str = ""


@dataclass(frozen=True, slots=True)
class Fix:
    """A replacement on the user's text; `safe` when the meaning of the kernel is kept."""

    span: Span
    replacement: str
    safe: bool = False


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. `message` stands alone in a log, `primary` stands alone in an editor.

    `figures` holds the numbers of the message for machine formats (bytes, elements, depths).
    """

    rule: Rule
    message: str
    primary: Label
    secondary: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    helps: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    figures: tuple[tuple[str, int | str], ...] = ()
    severity: Severity | None = None

    @property
    def level(self) -> Severity:
        return self.severity if self.severity is not None else self.rule.severity


class CompileError(Exception):
    """Raised where work cannot go on; carries the diagnostics that say why (at least one error)."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("; ".join(f"{d.rule.code}: {d.message}" for d in self.diagnostics))


def has_errors(found: Iterable[Diagnostic]) -> bool:
    """Whether any finding stops the build."""
    return any(d.level is Severity.ERROR for d in found)


@dataclass(slots=True)
class Sink:
    """Collects diagnostics of one compilation, applying the spec's `disable` and `error` lists.

    Errors cannot be disabled. `allow` arguments are the codes a statement itself allows.
    """

    disabled: frozenset[str] = frozenset()
    promoted: frozenset[str] = frozenset()
    found: list[Diagnostic] = field(default_factory=list)
    listener: Callable[[Diagnostic], None] | None = None

    def emit(self, diagnostic: Diagnostic, allow: Iterable[str] = ()) -> None:
        """Record a finding unless it is switched off; promote it where the spec asks for that."""
        names = {diagnostic.rule.code, diagnostic.rule.name}
        if diagnostic.level is not Severity.ERROR:
            if names & self.disabled or names & set(allow):
                return
            if names & self.promoted:
                diagnostic = replace(diagnostic, severity=Severity.ERROR)
        self.found.append(diagnostic)
        if self.listener is not None:
            self.listener(diagnostic)

    def report(
        self,
        rule: Rule,
        span: Span,
        message: str,
        *,
        label: str = "",
        secondary: Iterable[Label] = (),
        notes: Iterable[str] = (),
        helps: Iterable[str] = (),
        fixes: Iterable[Fix] = (),
        figures: Iterable[tuple[str, int | str]] = (),
        allow: Iterable[str] = (),
    ) -> None:
        """Build and record a finding in one call."""
        self.emit(
            diagnose(
                rule,
                span,
                message,
                label=label,
                secondary=secondary,
                notes=notes,
                helps=helps,
                fixes=fixes,
                figures=figures,
            ),
            allow,
        )

    @property
    def has_errors(self) -> bool:
        return has_errors(self.found)

    def stop_on_errors(self) -> None:
        """Raise what was found so far if any of it is an error."""
        if self.has_errors:
            raise CompileError(self.found)


def diagnose(
    rule: Rule,
    span: Span,
    message: str,
    *,
    label: str = "",
    secondary: Iterable[Label] = (),
    notes: Iterable[str] = (),
    helps: Iterable[str] = (),
    fixes: Iterable[Fix] = (),
    figures: Iterable[tuple[str, int | str]] = (),
) -> Diagnostic:
    """A diagnostic from its parts; `raise CompileError([diagnose(...)])` where work cannot go on."""
    return Diagnostic(
        rule, message, Label(span, label), tuple(secondary), tuple(notes), tuple(helps), tuple(fixes), tuple(figures)
    )
