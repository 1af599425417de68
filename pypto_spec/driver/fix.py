"""`pypto-spec fix`: the fixes of findings, applied until nothing changes.

A round takes the fixes of all findings that do not overlap. What came of it is looked at before it is kept: a spec that
cannot be read any more, or has more errors than before, gets its fixes one at a time, without those that did it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final

from pypto_spec.diagnostics.model import CompileError, Diagnostic, Fix, Severity
from pypto_spec.diagnostics.render.common import fix_title
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.inputs import Gathered, Spec
from pypto_spec.driver.rewritten import Rewritten, mark_of
from pypto_spec.driver.session import compile_spec
from pypto_spec.driver.variants import variants_of
from pypto_spec.records import dataclass
from pypto_spec.spec.load import load
from pypto_spec.spec.models.document import load_document

MOST_ROUNDS: Final = 100
"""Rounds after which a spec is left as it is then: each round takes one fix at least, and two could undo each other."""

_KEPT = frozenset({Severity.WARNING, Severity.HINT})


@dataclass(slots=True)
class Fixed(Rewritten):
    """What came of one spec: its texts, the titles of what was done, and what is still found."""

    done: list[str] = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)
    unsafe_left: int = 0
    """Findings that only `--unsafe` would touch."""


@dataclass(frozen=True, slots=True)
class State:
    """How far a text gets, and what is found in it: 0 no tree, 1 no document, 2 no program, 3 no kernel, 4 a kernel."""

    text: str
    stage: int
    findings: tuple[Diagnostic, ...]

    @property
    def errors(self) -> int:
        """How many errors there are."""
        return sum(d.level is Severity.ERROR for d in self.findings)

    def no_worse_than(self, other: State) -> bool:
        """Whether it is readable as far as another one, with no more errors where it gets no further."""
        return self.stage > other.stage or (self.stage == other.stage and self.errors <= other.errors)


def fix_specs(gathered: Gathered, defines: Mapping[str, str] | None = None, *, unsafe: bool = False) -> list[Fixed]:
    """All specs with their fixes applied; files that are no text are findings of `gathered`."""
    return [fix_spec(spec, defines, unsafe=unsafe) for spec in gathered.specs]


def fix_spec(spec: Spec, defines: Mapping[str, str] | None = None, *, unsafe: bool = False) -> Fixed:
    """One spec with its fixes applied, all of its variants alike."""
    fixer = _Fixer(spec, dict(defines or {}), unsafe)
    mark = mark_of(spec)
    before = spec.source.text
    last = fixer.run(before)
    left = sum(not any(f.safe for f in d.fixes) for d in last.findings if d.fixes) if not unsafe else 0
    return Fixed(spec.name, mark + before, mark + last.text, fixer.done, list(last.findings), left)


class _Fixer:
    """Applies the fixes of one spec."""

    def __init__(self, spec: Spec, defines: dict[str, str], unsafe: bool) -> None:
        self.spec = spec
        self.defines = defines
        self.unsafe = unsafe
        self.done: list[str] = []
        self.refused: set[tuple[object, ...]] = set()

    def run(self, text: str) -> State:
        """The text with all fixes."""
        state = self.look(text)
        seen = {text}
        for _ in range(MOST_ROUNDS):
            chosen = self.choose(state)
            if not chosen:
                break
            tried = self.apply(state, chosen)
            if tried is None or tried.text in seen:
                break
            seen.add(tried.text)
            state = tried
        return state

    def apply(self, state: State, chosen: Sequence[tuple[Diagnostic, Fix]]) -> State | None:
        """The state after some fixes; where together they make it worse, after the first that does not."""
        tried = self.look(with_fixes(state.text, [fix for _, fix in chosen]))
        if tried.no_worse_than(state):
            self.done += [fix_title(fix) for _, fix in chosen]
            return tried
        for diagnostic, fix in chosen:
            alone = self.look(with_fixes(state.text, [fix])) if len(chosen) > 1 else tried
            if alone.no_worse_than(state) and alone.text != state.text:
                self.done.append(fix_title(fix))
                return alone
            self.refused.add(_mark(diagnostic, fix))
        return self.apply(state, again) if (again := self.choose(state)) else None

    def choose(self, state: State) -> list[tuple[Diagnostic, Fix]]:
        """A fix for each finding that has one; of two that overlap, the first in the text."""
        found: list[tuple[int, int, Diagnostic, Fix]] = []
        for diagnostic in state.findings:
            for fix in diagnostic.fixes:
                allowed = (fix.safe or self.unsafe) and _mark(diagnostic, fix) not in self.refused
                if allowed and fix.span.source.text == state.text:
                    found.append((*fix.span.offsets, diagnostic, fix))
                    break
        chosen: list[tuple[Diagnostic, Fix]] = []
        end = -1
        for start, stop, diagnostic, fix in sorted(found, key=lambda entry: entry[:2]):
            if start > end or (start == end and not chosen):
                chosen.append((diagnostic, fix))
                end = max(stop, start)
        return chosen

    def look(self, text: str) -> State:
        """How far a text gets. A warning or hint of some variants only is no reason to change the spec."""
        source = Source(self.spec.name, text)
        stage = self._stage(source)
        spec = Spec(source, self.spec.format, text.encode(errors="surrogatepass"))
        found: list[list[Diagnostic]] = []
        reached: list[int] = []
        for one in variants_of(spec, self.defines):
            made = compile_spec(one, defines=self.defines, keep_stages=True)
            found.append(made.findings)
            reached.append(bool(made.stages) + (made.program is not None))
        kept = [d for each in found for d in each if d.level not in _KEPT or all(_has(d, other) for other in found)]
        return State(text, stage + min(reached) if stage == 2 else stage, tuple(_once(kept)))

    def _stage(self, source: Source) -> int:
        """0 for a text without a tree, 1 for a tree that is no document, 2 for a document."""
        try:
            load(source, self.spec.format)
        except CompileError:
            return 0
        try:
            load_document(source, self.spec.format, defines=self.defines)
        except CompileError:
            return 1
        return 2


def with_fixes(text: str, fixes: Sequence[Fix]) -> str:
    """A text with fixes that do not overlap."""
    for start, end, new in sorted(((*fix.span.offsets, fix.replacement) for fix in fixes), reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _mark(diagnostic: Diagnostic, fix: Fix) -> tuple[object, ...]:
    """What stays the same of a fix while lines above it come and go."""
    return diagnostic.rule.code, diagnostic.message, fix.replacement, fix.title


def _has(diagnostic: Diagnostic, findings: Sequence[Diagnostic]) -> bool:
    return any(d.rule is diagnostic.rule and d.primary.span.start == diagnostic.primary.span.start for d in findings)


def _once(findings: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
    seen: set[tuple[object, ...]] = set()
    for d in findings:
        mark = d.rule.code, d.primary.span.start, d.message
        if mark not in seen:
            seen.add(mark)
            yield d
