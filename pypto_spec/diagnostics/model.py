"""Diagnostics: their rules, their parts, and the sink that collects them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace
from enum import Enum
from typing import Literal

from pypto_spec.diagnostics.span import Span
from pypto_spec.diagnostics.suggest import Meant
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
    """A replacement on the user's text; `safe` when the meaning of the kernel is kept.

    Several of one finding are alternatives, the best first. `title` says what it does where the texts do not.
    """

    span: Span
    replacement: str
    safe: bool = False
    title: str = ""


@dataclass(frozen=True, slots=True)
class Repair:
    """A fix in terms of keys and statements, for who finds something without seeing how the text is written.

    The driver makes a `Fix` of it (`edit/repairs.py`), in the format and style of the text around; where that cannot
    be done, there is none. `at` is the place of a statement, of a key or of a value, None is the whole document.

    * `set`: what stands at `path` below the place is `value` (plain data), with whatever is missing on the way;
    * `remove`: the key at `path`, or with an empty one the statement or item at the place;
    * `rename`: the key at `path` is called `value`;
    * `before`, `after`: `value`, a mapping with one keyword, is a statement before or behind the one at the place.

    `also` are replacements of text that belong to it.
    """

    action: Literal["set", "remove", "rename", "before", "after"]
    at: Span | None = None
    path: tuple[str | int, ...] = ()
    value: object = None
    safe: bool = False
    title: str = ""
    also: tuple[tuple[Span, str], ...] = ()


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
    repairs: tuple[Repair, ...] = ()
    severity: Severity | None = None

    @property
    def level(self) -> Severity:
        return self.severity if self.severity is not None else self.rule.severity


def accessed(tensor: str, access: str) -> Repair:
    """Another `access` of an argument of the program."""
    return Repair("set", None, ("tensors", tensor, "access"), access, title=f"declare `{tensor}` as `access: {access}`")


ALIASED = "used here through this alias"
"""The label of an alias that brought a part of the text to where it is wrong: an edit there changes more places."""


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
        fixes: Iterable[Fix | Repair] = (),
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
    fixes: Iterable[Fix | Repair] = (),
    figures: Iterable[tuple[str, int | str]] = (),
) -> Diagnostic:
    """A diagnostic from its parts; `raise CompileError([diagnose(...)])` where work cannot go on."""
    ways, labels, ways_out = tuple(fixes), tuple(secondary), tuple(helps)
    if not ways and not any(found.text == ALIASED for found in labels):
        ways = tuple(fix for text in ways_out if isinstance(text, Meant) for fix in _meant(span, text))
    return Diagnostic(
        rule,
        message,
        Label(span, label),
        labels,
        tuple(notes),
        ways_out,
        tuple(way for way in ways if isinstance(way, Fix)),
        tuple(figures),
        tuple(way for way in ways if isinstance(way, Repair)),
    )


def _meant(span: Span, meant: Meant) -> Iterator[Fix]:
    """The fix that a suggestion is, where it is the only one and the misspelt word is what stands at the place."""
    if len(meant.names) != 1 or span.line != span.end_line:
        return
    start, end = span.offsets
    text = span.source.text[start:end]
    word = text.strip("'\"$")
    if word == meant.word and text.count(word) == 1:
        at = start + text.index(word)
        yield Fix(span.part(at, at + len(word)), meant.names[0])
