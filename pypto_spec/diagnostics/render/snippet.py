"""Lines of one file with the marks and labels under them.

Columns here are 0-based. `Mark` counts code points of the file; what is drawn counts terminal columns, which differ
where the file has tabs or CJK text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pypto_spec.diagnostics.model import Label
from pypto_spec.diagnostics.render.paint import FRAME, Row
from pypto_spec.diagnostics.render.width import show_text
from pypto_spec.diagnostics.render.window import Window, windows
from pypto_spec.diagnostics.span import Source
from pypto_spec.records import dataclass

_WHOLE: Final = 5
"""Spans of up to this many lines are shown whole; of longer ones the first two lines and the last."""


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """A label to draw: its stretch of the file, the character that underlines it, its words and its style."""

    line: int
    start: int
    end_line: int
    end: int
    char: str
    text: str
    style: str

    @classmethod
    def of(cls, label: Label, char: str, style: str) -> Mark:
        """The mark of a label, without the blank space that block nodes of YAML end with; at least one column wide."""
        span = label.span
        line, start, end_line, end = span.line, span.col - 1, span.end_line, span.end_col - 1
        while end_line > line and not span.source.line(end_line)[:end].strip():
            end_line -= 1
            end = len(span.source.line(end_line).rstrip())
        if end_line <= line:
            end_line, end = line, max(end, start + 1)
        return cls(line, start, end_line, end, char, show_text(label.text), style)

    @property
    def multi(self) -> bool:
        return self.end_line > self.line


class Snippet:
    """The lines of one file that a finding talks about. Without marks it is empty (`number_width` is 0)."""

    def __init__(self, source: Source, marks: Sequence[Mark]) -> None:
        self._source = source
        self._flat = [mark for mark in marks if not mark.multi]
        self._multi = sorted((mark for mark in marks if mark.multi), key=lambda m: (m.line, -m.end_line, m.start))
        self._slots = _slots(self._multi)
        self._margin = 2 * (max(self._slots.values()) + 1) if self._slots else 0
        self._open: set[Mark] = set()
        self.number_width = len(str(max((mark.end_line for mark in marks), default=0))) if marks else 0

    def lines(self, gutter: int, colour: bool) -> list[str]:
        """The printed lines; `gutter` is the width of the column of line numbers."""
        out: list[str] = []
        previous = 0
        for number in self._numbers():
            if previous and number > previous + 1:
                row = self._row("...".ljust(gutter + 3))
                self._draw_margin(row, gutter + 3)
                out.append(row.paint(colour))
            out += [row.paint(colour) for row in self._line(number, gutter)]
            previous = number
        return out

    def _numbers(self) -> list[int]:
        """The lines to show; a gap of one line is filled, for `...` would take as much room."""
        wanted = {mark.line for mark in self._flat}
        for mark in self._multi:
            whole = mark.end_line - mark.line < _WHOLE
            wanted |= set(range(mark.line, mark.end_line + 1)) if whole else {mark.line, mark.line + 1, mark.end_line}
        return sorted(wanted | {n + 1 for n in wanted if n + 2 in wanted})

    def _line(self, number: int, gutter: int) -> Iterator[Row]:
        """A source line and the rows under it; a very long line comes once per stretch that has marks."""
        text = self._source.line(number)
        flat = [mark for mark in self._flat if mark.line == number]
        begin = [mark for mark in self._multi if mark.line == number]
        finish = [mark for mark in self._multi if mark.end_line == number]
        stretches = [(mark.start, mark.end) for mark in flat]
        stretches += [(mark.start, mark.start + 1) for mark in begin]
        stretches += [(max(mark.end - 1, 0), mark.end) for mark in finish]
        left = gutter + 3
        base = left + self._margin
        for window in windows(text, stretches):
            row = self._row(f"{number:>{gutter}} | ")
            flush = {mark for mark in begin if _is_flush(text, mark)}
            for mark in flush - self._open:
                row.put(left + 2 * self._slots[mark], "/", mark.style)
            self._draw_margin(row, left)
            row.end_with(base, window.text)
            yield row
            self._open |= flush
            for content in _labels([mark for mark in flat if window.holds(mark.start)], window):
                yield self._under(content, gutter)
            for mark in begin:
                if mark not in self._open and window.holds(mark.start):
                    yield self._rule(mark, window.column(mark.start), gutter, "")
                    self._open.add(mark)
            for mark in sorted(finish, key=lambda m: -self._slots[m]):
                if window.holds(max(mark.end - 1, 0)):
                    yield self._rule(mark, window.column(max(mark.end - 1, 0)), gutter, mark.text)
                    self._open.discard(mark)

    def _row(self, head: str) -> Row:
        row = Row()
        row.put(0, head, FRAME)
        return row

    def _draw_margin(self, row: Row, left: int) -> None:
        for mark in self._open:
            row.put(left + 2 * self._slots[mark], "|", mark.style)

    def _under(self, content: list[tuple[int, str, str]], gutter: int) -> Row:
        """A row under a source line: pieces of (column, text, style), the last one of any width."""
        row = self._row(" " * gutter + " | ")
        self._draw_margin(row, gutter + 3)
        base = gutter + 3 + self._margin
        *marks, last = content
        for column, text, style in marks:
            row.put(base + column, text, style)
        row.end_with(base + last[0], last[1], last[2])
        return row

    def _rule(self, mark: Mark, column: int, gutter: int, text: str) -> Row:
        """The line that leads from the margin to the first or last character of a span of several lines."""
        row = self._row(" " * gutter + " | ")
        start = gutter + 3 + 2 * self._slots[mark]
        stop = gutter + 3 + self._margin + column
        self._draw_margin(row, gutter + 3)
        row.put(start + 1, "_" * (stop - start - 1) + mark.char, mark.style)
        if text:
            row.end_with(stop + 2, text, mark.style)
        return row


def _is_flush(text: str, mark: Mark) -> bool:
    """Whether a span starts with the line, the dash of a list item aside: then a `/` in the margin says enough."""
    return not text[: mark.start].strip(" \t-")


def _slots(marks: Sequence[Mark]) -> dict[Mark, int]:
    """A column of the left margin for each span of several lines; spans that share a line never share a column."""
    slots: dict[Mark, int] = {}
    for mark in marks:
        taken = {slots[other] for other in slots if other.line <= mark.end_line and mark.line <= other.end_line}
        slots[mark] = next(n for n in range(len(marks)) if n not in taken)
    return slots


def _labels(marks: Sequence[Mark], window: Window) -> Iterator[list[tuple[int, str, str]]]:
    """The rows under a source line: the underlines, then labels that found no room beside them, rightmost first."""
    if not marks:
        return
    placed = [(window.column(m.start), max(window.column(m.end), window.column(m.start) + 1), m) for m in marks]
    placed.sort(key=lambda item: (item[0], item[2].char == "^"))
    # Secondary marks first, and long ones before short ones: where marks overlap, the finer one stays visible.
    order = sorted(placed, key=lambda item: (item[2].char == "^", item[0] - item[1]))
    row = [(start, m.char * (end - start), m.style) for start, end, m in order]
    _, last_end, last = placed[-1]
    beside = last.text and all(end <= last_end for _, end, _ in placed)
    yield [*row, (last_end + 1, last.text, last.style)] if beside else [*row, (max(e for _, e, _ in placed), "", "")]
    hung = [(start, m) for start, _, m in placed if m.text and not (beside and m is last)]
    if hung:
        yield [(start, "|", m.style) for start, m in hung]
    while hung:
        start, mark = hung.pop()
        yield [*((s, "|", m.style) for s, m in hung if s < start), (start, mark.text, mark.style)]
