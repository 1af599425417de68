"""The page of `pypto-spec diff-passes`: the program as it was read and after each pass, and what each pass changed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from pypto_spec.records import dataclass
from pypto_spec.report.pages import data, lines, page
from pypto_spec.report.text_diff import Diff, Line, diff


@dataclass(frozen=True, slots=True)
class Stage:
    """The program behind one pass: the pass's name, what it does in one line, and the program as text."""

    name: str
    about: str
    text: str


@dataclass(frozen=True, slots=True)
class Title:
    """What stands above the page; `trouble` says why the passes end early, where they do."""

    program: str
    file: str
    trouble: str


def passes_page(stages: Sequence[Stage], title: Title) -> str:
    """The page of these stages, the first of which is where the passes began."""
    texts = [lines(stage.text) for stage in stages]
    diffs = [diff([], []), *(diff(a, b) for a, b in pairwise(texts))]
    table: dict[str, int] = {}
    numbered = [[table.setdefault(line, len(table)) for line in text] for text in texts]
    steps = [
        {"number": n, "name": s.name, "about": s.about, "added": d.added, "removed": d.removed}
        for n, (s, d) in enumerate(zip(stages, diffs, strict=True))
    ]
    document = {"lines": list(table), "texts": numbered, "diffs": [_rows(d) for d in diffs]}
    return page("passes.html.j2", title=title, steps=steps, data=data(document))


def _rows(found: Diff) -> list[Any]:
    """Rows as short lists: `[old, new, length]` of what stayed, `[old, new]` of what did not, with -1 for none.

    A changed line has the marks of both sides behind its two places.
    """
    return [_row(row) if isinstance(row, Line) else list(row) for row in found.rows]


def _row(row: Line) -> list[Any]:
    made: list[Any] = [-1 if row.old is None else row.old, -1 if row.new is None else row.new]
    return [*made, *row.words] if row.words is not None else made
