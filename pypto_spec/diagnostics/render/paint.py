"""Rows of styled text, and the one place where styles become escape sequences."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Final

from pypto_spec.diagnostics.model import Severity

PLAIN: Final = ""
FRAME: Final = "frame"
SECONDARY: Final = "secondary"
STRONG: Final = "strong"

_ESCAPES: Final = {
    FRAME: "1;34",
    SECONDARY: "1;34",
    STRONG: "1",
    Severity.ERROR.value: "1;31",
    Severity.WARNING.value: "1;33",
    Severity.HINT.value: "1;36",
    Severity.NOTE.value: "1;32",
}


class Row:
    """One line of output, filled by column. Text put at a column overwrites what stood there."""

    __slots__ = ("_cells",)

    def __init__(self) -> None:
        self._cells: list[tuple[str, str]] = []

    def put(self, column: int, text: str, style: str = PLAIN) -> None:
        """Put one-column characters at a 0-based column."""
        self._pad(column)
        self._cells[column : column + len(text)] = [(char, style) for char in text]

    def end_with(self, column: int, text: str, style: str = PLAIN) -> None:
        """Put text of any width at a column, as the last thing of the row."""
        self._pad(column)
        self._cells[column:] = [(text, style)]

    def paint(self, colour: bool) -> str:
        """The row as it is printed, without blanks at its end."""
        runs = ((style, "".join(text for text, _ in run)) for style, run in groupby(self._cells, key=lambda c: c[1]))
        return join(runs, colour).rstrip()

    def _pad(self, column: int) -> None:
        if len(self._cells) < column:
            self._cells += [(" ", PLAIN)] * (column - len(self._cells))


def join(runs: Iterable[tuple[str, str]], colour: bool) -> str:
    """Pieces of (style, text), with escape sequences if `colour`."""
    return "".join(_escape(text, style) if colour else text for style, text in runs)


def _escape(text: str, style: str) -> str:
    if style == PLAIN or not text.strip():
        return text
    return f"\x1b[{_ESCAPES[style]}m{text}\x1b[0m"
