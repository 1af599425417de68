"""Which lines of a text are those of an earlier one: facts outlive edits elsewhere, and never an edit of their own."""

from __future__ import annotations

from itertools import takewhile

from pypto_spec.diagnostics.span import Source


class Unchanged:
    """The lines that two texts begin with in common, and those that they end with in common."""

    __slots__ = ("_grown", "_head", "_old", "_tail", "same")

    def __init__(self, old: Source, new: Source) -> None:
        self.same = old is new or old.text == new.text
        was, now = len(old.line_starts()), len(new.line_starts())
        self._old, self._grown = was, now - was
        self._head = self._tail = 0
        if not self.same:
            limit = min(was, now)
            pairs = ((old.line(n), new.line(n)) for n in range(1, limit + 1))
            self._head = sum(1 for _ in takewhile(_alike, pairs))
            ends = ((old.line(was - n), new.line(now - n)) for n in range(limit - self._head))
            self._tail = sum(1 for _ in takewhile(_alike, ends))

    def before(self, first: int, last: int) -> int | None:
        """The line at which lines `first` to `last` of the new text began in the old one; None if one has changed."""
        if self.same or last <= self._head:
            return first
        if first > self._old + self._grown - self._tail:
            return first - self._grown
        return None

    def now(self, line: int) -> int | None:
        """The line of the new text that a line of the old one is; None where it has changed or is gone."""
        if self.same or line <= self._head:
            return line
        return line + self._grown if line > self._old - self._tail else None


def _alike(pair: tuple[str, str]) -> bool:
    return pair[0] == pair[1]
