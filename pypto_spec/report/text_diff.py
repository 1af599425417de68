"""The difference of two texts, for people: lines that changed are paired, and in a pair the words that changed.

Programs have thousands of lines, of which many are alike (`src: [14, 17]`), so no step compares each with each unless
there are few.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from pypto_spec.records import dataclass

_WORD = re.compile(r"\w+|\s+|.")

ALIKE = 0.45
"""Two lines are shown as one that changed where they have at least this share of their words in common."""

MOST_PAIRS = 3_600
"""Pairs of lines that are compared in one stretch, each with each."""

AHEAD = 24
"""How many lines are looked ahead where there are more."""

Range = tuple[int, int]

Marks = tuple[tuple[int, int], ...]
"""Stretches of a line, in UTF-16 units as browsers count them."""


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the diff: a line before, one after, or both; `words` says what changed in a line that is in both."""

    old: int | None
    new: int | None
    words: tuple[Marks, Marks] | None = None


Row = Line | tuple[int, int, int]
"""A changed line, or an unchanged stretch: where it begins before and after, and how long it is."""


@dataclass(frozen=True, slots=True)
class Diff:
    """The rows of a diff, by places of lines in the two texts, and how many lines came and went."""

    rows: tuple[Row, ...]
    added: int
    removed: int


def diff(old: Sequence[str], new: Sequence[str]) -> Diff:
    """How one text became the other.

    Lines that stand once in either text and in the same order are fixed first. What lies between two of them is
    compared line by line; where that is much, by going through both sides and looking a little ahead.
    """
    rows: list[Row] = []
    i = j = 0
    for a, b in [*_anchors(old, new), (len(old), len(new))]:
        rows += _between(old, new, (i, a), (j, b))
        if a < len(old):
            rows.append((a, b, 1))
        i, j = a + 1, b + 1
    merged = _merged(rows)
    stayed = sum(row[2] for row in merged if not isinstance(row, Line))
    return Diff(tuple(merged), len(new) - stayed, len(old) - stayed)


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Lines that are unique on both sides: the longest run of them that has one order."""
    once, other = _places(old), _places(new)
    pairs = [(i, other[line]) for line, i in once.items() if line in other]
    ends: list[int] = []  # the least last place of a run of each length
    tails: list[int] = []  # which pair that is
    before: list[int] = []
    for number, (_, j) in enumerate(pairs):
        at = bisect_left(ends, j)
        ends[at : at + 1], tails[at : at + 1] = [j], [number]
        before.append(tails[at - 1] if at else -1)
    found: list[tuple[int, int]] = []
    number = tails[-1] if tails else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]


def _places(text: Sequence[str]) -> dict[str, int]:
    """Where the lines stand that a text has once, in its order."""
    counts = Counter(text)
    return {line: number for number, line in enumerate(text) if counts[line] == 1}


def _merged(rows: Sequence[Row]) -> list[Row]:
    """The rows with unchanged stretches that follow each other as one."""
    made: list[Row] = []
    for row in rows:
        last = made[-1] if made else None
        if isinstance(row, Line) or last is None or isinstance(last, Line):
            made.append(row)
        else:
            made[-1] = (last[0], last[1], last[2] + row[2])
    return [row for row in made if isinstance(row, Line) or row[2]]


def _between(old: Sequence[str], new: Sequence[str], before: Range, after: Range) -> list[Row]:
    """What happened between two fixed lines."""
    (a, b), (c, d) = before, after
    if (b - a) * (d - c) > MOST_PAIRS:
        return _walk(old, new, before, after)
    rows: list[Row] = []
    for tag, i, j, k, m in SequenceMatcher(None, old[a:b], new[c:d], autojunk=False).get_opcodes():
        if tag == "equal":
            rows.append((a + i, c + k, j - i))
        else:
            rows += _changed(old, new, (a + i, a + j), (c + k, c + m))
    return rows


def _walk(old: Sequence[str], new: Sequence[str], before: Range, after: Range) -> list[Row]:
    """Go through both sides: equal lines stay, lines that are alike changed; else to the nearest such two ahead."""
    (a, b), (c, d) = before, after
    rows: list[Row] = []
    while a < b and c < d:
        found = _ahead(old[a : min(b, a + AHEAD)], new[c : min(d, c + AHEAD)])
        i, j = found or (min(b - a, AHEAD), min(d - c, AHEAD))
        rows += [*(Line(n, None) for n in range(a, a + i)), *(Line(None, n) for n in range(c, c + j))]
        a, c = a + i, c + j
        if found is not None:
            rows.append((a, c, 1) if old[a] == new[c] else Line(a, c, _marks(old[a], new[c])))
            a, c = a + 1, c + 1
    return rows + [Line(n, None) for n in range(a, b)] + [Line(None, n) for n in range(c, d)]


def _ahead(old: Sequence[str], new: Sequence[str]) -> tuple[int, int] | None:
    """The nearest two lines that are equal or alike, None where there are none."""
    for both in range(len(old) + len(new) - 1):
        for j in range(max(0, both - len(old) + 1), min(both + 1, len(new))):
            i = both - j
            if old[i] == new[j] or _likeness(old[i], new[j]) >= ALIKE:
                return i, j
    return None


def _changed(old: Sequence[str], new: Sequence[str], before: Range, after: Range) -> list[Line]:
    """A changed stretch: pairs of lines that are alike, the others before and behind them in their order."""
    rows: list[Line] = []
    (a, b), (c, d) = before, after
    for i, j in [*_pairs(old[a:b], new[c:d]), (b - a, d - c)]:
        rows += [Line(n, None) for n in range(a, before[0] + i)]
        rows += [Line(None, n) for n in range(c, after[0] + j)]
        a, c = before[0] + i, after[0] + j
        if a < b and c < d:
            rows.append(Line(a, c, _marks(old[a], new[c])))
            a, c = a + 1, c + 1
    return rows


def _pairs(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Which lines are paired, in order: the choice with the most words in common."""
    if not old or not new:
        return []
    width = len(new) + 1
    best = [[0.0] * width for _ in range(len(old) + 1)]
    for i in reversed(range(len(old))):
        for j in reversed(range(len(new))):
            both = _likeness(old[i], new[j])
            together = both + best[i + 1][j + 1] if both >= ALIKE else 0.0
            best[i][j] = max(together, best[i + 1][j], best[i][j + 1])
    found: list[tuple[int, int]] = []
    i = j = 0
    while i < len(old) and j < len(new):
        both = _likeness(old[i], new[j])
        if both >= ALIKE and best[i][j] == both + best[i + 1][j + 1]:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return found


@lru_cache(maxsize=65_536)
def _words(line: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(line.strip()))


@lru_cache(maxsize=65_536)
def _likeness(old: str, new: str) -> float:
    """The share of words that two lines have in common; statements of different keywords are not alike."""
    a, b = _words(old), _words(new)
    if a[:3] != b[:3]:
        return 0.0
    return SequenceMatcher(None, a, b, autojunk=False).quick_ratio()


def _marks(old: str, new: str) -> tuple[Marks, Marks]:
    """The words that two lines do not have in common."""
    a, b = _WORD.findall(old), _WORD.findall(new)
    starts_a, starts_b = _starts(a), _starts(b)
    gone: list[tuple[int, int]] = []
    come: list[tuple[int, int]] = []
    for tag, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag != "equal":
            if j > i:
                gone.append((starts_a[i], starts_a[j]))
            if m > k:
                come.append((starts_b[k], starts_b[m]))
    return tuple(gone), tuple(come)


def _starts(words: Sequence[str]) -> list[int]:
    places = [0]
    for word in words:
        places.append(places[-1] + len(word.encode("utf-16-le", "surrogatepass")) // 2)
    return places
