"""The part of a source line that is shown, and where its characters stand on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from sys import maxsize
from typing import Final

from pypto_spec.diagnostics.render.width import char_width, show, text_width
from pypto_spec.records import dataclass

LIMIT: Final = 120
"""Columns of source text shown per line; longer lines are cut around the marks."""

_CONTEXT: Final = 20
"""Characters shown before the first mark of a line that is cut."""

_CUT: Final = "..."
_ENDLESS: Final = maxsize


@dataclass(frozen=True, slots=True)
class Window:
    """A line from its character `first` on: `text` as printed, `columns[i]` the column of character `first + i`.

    `whole` says that the end of the line is shown. Marks that start in `owned` (start, end exclusive) are drawn here;
    the windows of a line own all of it between them, and none of it twice.
    """

    first: int
    text: str
    columns: tuple[int, ...]
    whole: bool
    owned: tuple[int, int]

    def column(self, index: int) -> int:
        """Terminal column of the character at a 0-based index of the line; the nearest edge for one that was cut off.

        Past the end of a line that is shown to its end, columns go on, so that an empty place there can be marked.
        """
        offset = max(index - self.first, 0)
        beyond = offset - (len(self.columns) - 1)
        if beyond <= 0:
            return self.columns[offset]
        return self.columns[-1] + (beyond if self.whole else 0)

    def holds(self, index: int) -> bool:
        """Whether a mark that starts at this index of the line is drawn here."""
        return self.owned[0] <= index < self.owned[1]


def windows(line: str, stretches: Sequence[tuple[int, int]]) -> list[Window]:
    """The windows that show all `stretches` (start, end) of a line, from left to right; at least one."""
    if len(line) <= LIMIT and text_width(line) <= LIMIT:
        return [_window(line, 0, (0, _ENDLESS))]
    groups: list[tuple[int, int]] = []
    for start, end in sorted(stretches):
        if groups and _fits(line, groups[-1][0], end):
            groups[-1] = (groups[-1][0], max(groups[-1][1], end))
        elif groups and start < groups[-1][1] and _fits(line, groups[-1][0], start + 1):
            continue
        else:
            groups.append((start, end))
    groups = groups or [(0, 0)]
    bounds = [0, *(start for start, _ in groups[1:]), _ENDLESS]
    return [
        _window(line, 0 if _fits(line, 0, end) else max(start - _CONTEXT, 0), owned)
        for (start, end), owned in zip(groups, pairwise(bounds), strict=True)
    ]


def _fits(line: str, start: int, end: int) -> bool:
    """Whether one window with its context can show characters `start` to `end`."""
    return end - start <= LIMIT and text_width(line[start:end]) <= LIMIT - 2 * _CONTEXT


def _window(line: str, first: int, owned: tuple[int, int]) -> Window:
    prefix = _CUT if first else ""
    column = len(prefix)
    shown: list[str] = [prefix]
    columns = [column]
    last = first
    while last < len(line):
        piece = show(line[last])
        if column + char_width(piece) > LIMIT:
            break
        column += char_width(piece)
        shown.append(piece)
        columns.append(column)
        last += 1
    whole = last == len(line)
    return Window(first, "".join(shown) + ("" if whole else _CUT), tuple(columns), whole, owned)
