"""Places: code-point offsets and spans of a source, and the protocol's lines and columns in its unit.

A column of the protocol counts UTF-16 units, or what the client and the server have agreed on. A line ends with LF,
CRLF or CR, as in YAML and TOML and in the protocol; what else Python takes for a line's end (a form feed, U+2028) ends
none.
"""

from __future__ import annotations

from bisect import bisect_right

from lsprotocol import types

from pypto_spec.diagnostics.span import Source, Span
from pypto_spec.records import dataclass

_SIZES = {"utf-8": (1, 2, 3, 4), "utf-16": (1, 1, 1, 2), "utf-32": (1, 1, 1, 1)}
"""Units of a character below U+0080, U+0800, U+10000, and of the others."""


@dataclass(frozen=True, slots=True)
class Places:
    """The places of one source in one encoding."""

    source: Source
    encoding: str

    def position(self, offset: int) -> types.Position:
        """Where an offset stands; offsets outside of the text are its ends."""
        starts = self.source.line_starts()
        offset = min(max(offset, 0), len(self.source.text))
        row = bisect_right(starts, offset) - 1
        return types.Position(row, units(self.source.text[starts[row] : offset], self.encoding))

    def offset(self, position: types.Position) -> int:
        """The offset of a position; a column past the end of its line is the end, as the protocol has it."""
        starts = self.source.line_starts()
        if position.line >= len(starts):
            return len(self.source.text)
        line = self.source.line(position.line + 1)
        return starts[position.line] + points(line, position.character, self.encoding)

    def range(self, start: int, end: int) -> types.Range:
        """The range between two offsets."""
        return types.Range(self.position(start), self.position(end))

    def of_span(self, span: Span) -> types.Range:
        """The range of a span of this source."""
        return types.Range(self._place(span.line, span.col), self._place(span.end_line, span.end_col))

    def _place(self, line: int, col: int) -> types.Position:
        starts = self.source.line_starts()
        if not 1 <= line <= len(starts):
            return self.position(len(self.source.text))
        return self.position(starts[line - 1] + col - 1)


def units(text: str, encoding: str) -> int:
    """How many units a text has."""
    if text.isascii() or encoding == "utf-32":
        return len(text)
    return sum(_size(char, encoding) for char in text)


def points(line: str, column: int, encoding: str) -> int:
    """How many characters stand before a column; one that the column cuts through is not among them."""
    if line.isascii() or encoding == "utf-32":
        return min(column, len(line))
    left = column
    for count, char in enumerate(line):
        left -= _size(char, encoding)
        if left < 0:
            return count
    return len(line)


def _size(char: str, encoding: str) -> int:
    code = ord(char)
    sizes = _SIZES[encoding]
    return sizes[0] if code < 0x80 else sizes[1] if code < 0x800 else sizes[2] if code < 0x10000 else sizes[3]
