"""The names of a spec: what is bound where, and which texts mean it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import field
from typing import Literal, TypeAlias

from pypto_spec.diagnostics.span import Source, Span
from pypto_spec.editor.model import Kind
from pypto_spec.records import dataclass
from pypto_spec.spec.tree import span_between

Space: TypeAlias = Literal["names", "buffers", "functions", "launches"]
"""Where a name must be the only one."""


@dataclass(slots=True, eq=False)
class Extent:
    """A stretch of the text that is one scope.

    It goes from `start` to `end`, and on to `limit`, where the next thing stands, on lines that are indented by at
    least `indent` columns (None: on all of them): there the next statement of the scope will be written.
    """

    start: int
    end: int
    limit: int
    indent: int | None = None

    def holds(self, offset: int, column: int) -> bool:
        """Whether what is written at an offset, on a line indented to `column`, is in the scope."""
        if not self.start <= offset <= self.limit:
            return False
        return offset <= self.end or self.indent is None or column >= self.indent


@dataclass(slots=True, eq=False)
class Use:
    """One place where a name is written.

    `text[start:end]` is the name without a version (`t` of `t.1`) or a `$`; `stop` is where the whole of it ends.
    `site` is the place that binds what is read here: the nearest one above it that reaches it.
    """

    start: int
    end: int
    stop: int
    binding: Binding
    declares: bool
    site: Use | None = None


@dataclass(slots=True, eq=False)
class Binding:
    """One thing with a name, whatever number of times it is bound again: its versions have one name."""

    name: str
    kind: Kind
    space: Space
    source: Source
    detail: str = ""
    uses: list[Use] = field(default_factory=list)
    ranges: list[tuple[int, Extent]] = field(default_factory=list)
    """Where it can be read: from an offset on, within a scope."""

    @property
    def declaration(self) -> Use:
        """The first place that binds it."""
        return min((u for u in self.uses if u.declares), key=lambda u: u.start, default=self.uses[0])

    @property
    def span(self) -> Span:
        """Where it is declared."""
        found = self.declaration
        return span_between(self.source, found.start, found.end)

    def scope_at(self, offset: int, column: int) -> int | None:
        """Where the innermost scope begins in which it can be read at an offset, on a line indented to `column`."""
        found = (extent.start for start, extent in self.ranges if start <= offset and extent.holds(offset, column))
        return max(found, default=None)


@dataclass(frozen=True, slots=True)
class Mark:
    """A part of a formula that is no name of the spec: a function of the language, a word, a named argument."""

    start: int
    end: int
    kind: Kind


@dataclass(frozen=True, slots=True)
class Unknown:
    """A name that nothing binds. `word` holds where it may be a word instead, as `fp32` in `cast(x, fp32)`."""

    text: str
    start: int
    end: int
    word: bool


@dataclass(slots=True, eq=False)
class Index:
    """All names of a document; lists are in the order of the text."""

    source: Source
    bindings: list[Binding] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    unknown: list[Unknown] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    arguments: dict[str, list[Binding]] = field(default_factory=dict)
    """The arguments of each function of the spec, in their order."""
    _starts: list[int] = field(default_factory=list)

    def at(self, offset: int) -> Use | None:
        """The use whose text an offset is in, or stands right behind."""
        if len(self._starts) != len(self.uses):
            self._starts[:] = [use.start for use in self.uses]
        place = bisect_right(self._starts, offset) - 1
        if place >= 0 and offset <= self.uses[place].stop:
            return self.uses[place]
        return None

    def visible(self, offset: int) -> list[Binding]:
        """The names that can be read at an offset, nearest first: a name that hides another one hides it here too."""
        column = self.column(offset)
        near: list[tuple[int, int, Binding]] = []
        for binding in self.bindings:
            scope = binding.scope_at(offset, column)
            if scope is not None:
                near.append((-scope, -binding.uses[0].start, binding))
        found: dict[tuple[Space, str], Binding] = {}
        for _, _, binding in sorted(near, key=lambda entry: entry[:2]):
            found.setdefault((binding.space, binding.name), binding)
        return list(found.values())

    def column(self, offset: int) -> int:
        """To which column the line of an offset is indented, as far as it is written in front of the offset."""
        text = self.source.text
        row, _ = self.source.position(offset)
        start = self.source.line_starts()[row - 1]
        at = start
        while at < offset and text[at] in " \t":
            at += 1
        return at - start
