"""Facts seen from a text, which may be a later one than theirs: what has changed since has none."""

from __future__ import annotations

from pypto_spec.diagnostics.span import Source
from pypto_spec.editor.cursor import Written
from pypto_spec.editor.facts.model import At, Facts


class View:
    """The facts of one variant for one text."""

    __slots__ = ("facts", "unchanged")

    def __init__(self, facts: Facts, source: Source) -> None:
        self.facts = facts
        self.unchanged = facts.on(source)

    def at(self, statement: Written) -> At | None:
        """The place of a statement in the text of the facts; None where it is not as it was."""
        line = self.unchanged.before(*statement.lines)
        return None if line is None else (line, statement.at[1])

    def line(self, line: int) -> int | None:
        """The line of the present text that a line of the facts' text is; None where it is not as it was."""
        return self.unchanged.now(line)

    def lines(self, lines: tuple[int, ...]) -> str:
        """Lines in words, those that are still there; empty where there is none."""
        found = [str(now) for line in lines if (now := self.line(line)) is not None]
        return f"line{'s' * (len(found) != 1)} {', '.join(found)}" if found else ""


def views(facts: Facts | None, source: Source) -> list[View]:
    """A view for each variant; none without facts."""
    return [] if facts is None else [View(one, source) for one in (facts, *facts.others)]
