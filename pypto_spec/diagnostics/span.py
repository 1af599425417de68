"""Where something stands in a user's file: sources, spans, and the location every IR node carries."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import field
from typing import Protocol

from pypto_spec.records import dataclass

_LINE_END = re.compile(r"\r\n|\n|\r")
"""What ends a line of YAML 1.2 and TOML; `str.splitlines` knows more (form feed, U+2028), which end none there."""


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """One spec file as it was read.

    `name` is the path as the user gave it (`-` for standard input); `text` is the decoded text with its line ends
    untouched, so that offsets into it are code-point offsets of the file.
    """

    name: str
    text: str
    _starts: list[int] = field(default_factory=list, repr=False)

    def line_starts(self) -> list[int]:
        """Code-point offsets at which lines begin (LF, CRLF and lone CR all end a line)."""
        if not self._starts:
            self._starts.append(0)
            self._starts.extend(end.end() for end in _LINE_END.finditer(self.text))
        return self._starts

    def position(self, offset: int) -> tuple[int, int]:
        """1-based (line, column) of a code-point offset."""
        starts = self.line_starts()
        row = bisect_right(starts, offset) - 1
        return row + 1, offset - starts[row] + 1

    def line(self, number: int) -> str:
        """Text of a 1-based line without its line end; empty past the end."""
        starts = self.line_starts()
        if not 1 <= number <= len(starts):
            return ""
        end = starts[number] if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r\n")


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a source: 1-based lines and code-point columns, the end exclusive."""

    source: Source
    line: int
    col: int
    end_line: int
    end_col: int

    @property
    def start(self) -> tuple[int, int]:
        return self.line, self.col

    @property
    def offsets(self) -> tuple[int, int]:
        """Code-point offsets of its start and end in the text of its source.

        A dump names places of a file that may not be there any more: what its text does not have is its end.
        """
        starts, last = self.source.line_starts(), len(self.source.text)
        places = ((self.line, self.col), (self.end_line, self.end_col))
        start, end = (min(starts[row - 1] + col - 1, last) if row <= len(starts) else last for row, col in places)
        return start, end

    def part(self, start: int, end: int) -> Span:
        """The span of two offsets of the same source."""
        return Span(self.source, *self.source.position(start), *self.source.position(end))

    def __str__(self) -> str:
        return f"{self.source.name}:{self.line}:{self.col}"


class Located(Protocol):
    """What a diagnostic may ask of the tree node behind an IR node: the span of one of its fields."""

    def field_span(self, name: str) -> Span | None:
        """Span of the value of field `name` of the statement, or None where it was not written."""


@dataclass(frozen=True, slots=True)
class Loc:
    """The origin of an IR node.

    `span` is the statement in the user's own file: for a program loaded from a dump, the place named by the dump's
    `src`, and then `dump` is the dump's own line. `fields` finds the span of one written field, where there is one.
    """

    span: Span
    fields: Located | None = None
    dump: Span | None = None

    def field(self, name: str) -> Span:
        """Span of field `name`, or of the whole statement where that field was not written."""
        found = self.fields.field_span(name) if self.fields is not None else None
        return found if found is not None else self.span


NOWHERE = Span(Source("<none>", ""), 1, 1, 1, 1)
"""Span of things that no file holds, for tests only."""
