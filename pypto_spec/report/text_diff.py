"""The difference of two texts, for people: lines that changed are paired, and in a pair the words that changed.

Texts are lists of numbers: each distinct line has one, so that a program's text after twenty passes is stored once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from pypto_spec.records import dataclass

_WORD = re.compile(r"\w+|\s+|.")

ALIKE = 0.45
"""Two lines are shown as one that changed where they have at least this share of their words in common."""

MOST_PAIRS = 3_600
"""Pairs of lines that are compared in one changed stretch; a larger one is paired from its top."""

Marks = tuple[tuple[int, int], ...]
"""Stretches of a line, in UTF-16 units as browsers count them."""


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the diff: a line before, one after, or both; `words` says what changed in a line that is in both."""

    old: int | None
    new: int | None
    words: tuple[Marks, Marks] | None = None


@dataclass(frozen=True, slots=True)
class Diff:
    """The rows of a diff, by places of lines in the two texts; unchanged stretches are runs `(old, new, length)`."""

    rows: tuple[Line | tuple[int, int, int], ...]
    added: int
    removed: int


def diff(old: Sequence[str], new: Sequence[str]) -> Diff:
    """How one text became the other."""
    rows: list[Line | tuple[int, int, int]] = []
    added = removed = 0
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            rows.append((a, c, b - a))
            continue
        added, removed = added + d - c, removed + b - a
        rows += _changed(old, new, (a, b), (c, d))
    return Diff(tuple(rows), added, removed)


def _changed(
    old: Sequence[str], new: Sequence[str], before: tuple[int, int], after: tuple[int, int]
) -> list[Line]:  # fmt: skip
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
    if len(old) * len(new) > MOST_PAIRS:
        return [(n, n) for n in range(min(len(old), len(new))) if _likeness(old[n], new[n]) >= ALIKE]
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
