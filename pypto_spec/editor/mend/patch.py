"""Repairs of a text, with the way back from the offsets of the repaired text to those of the text itself."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from pypto_spec.diagnostics.span import Source
from pypto_spec.records import dataclass
from pypto_spec.spec.tree import MappingNode, Node, SequenceNode, Via


@dataclass(frozen=True, slots=True)
class Repair:
    """`text[start:end]` is read as `new`."""

    start: int
    end: int
    new: str


class Patch:
    """A text with repairs, which are in the offsets of the text and do not overlap: a later one takes their place."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.repairs: list[Repair] = []
        self._froms: list[int] = [0]
        self._tos: list[int] = [0]

    def put(self, start: int, end: int, new: str) -> bool:
        """Add a repair; False where it changes nothing."""
        within = [r for r in self.repairs if (r.start < end and start < r.end) or start == end == r.start == r.end]
        if within == [Repair(start, end, new)] or (not within and self.text[start:end] == new):
            return False
        if start == end and within:  # two things are missing at one place
            new = "".join(r.new for r in within if r.start == r.end) + new
        self.repairs = sorted(
            [*(r for r in self.repairs if r not in within), Repair(start, end, new)], key=lambda r: (r.start, r.end)
        )
        return True

    def insert(self, found: Iterable[tuple[int, str]]) -> None:
        """Put texts in at offsets, each behind what was put in at the same place."""
        known = {r.start: r.new for r in self.repairs if r.start == r.end}
        for at, new in found:
            known[at] = known.get(at, "") + new
        inserts = [Repair(at, at, new) for at, new in known.items()]
        others = [r for r in self.repairs if r.start < r.end]
        self.repairs = sorted([*others, *inserts], key=lambda r: (r.start, r.end))

    def drop(self, start: int, end: int) -> None:
        """Take back what was put in from `start` to `end`, at both ends too."""
        self.repairs = [r for r in self.repairs if not (r.start == r.end and start <= r.start <= end)]

    def within(self, start: int, end: int) -> list[Repair]:
        """The repairs of a stretch, in offsets that count from its start."""
        within = (r for r in self.repairs if start <= r.start and r.end <= end)
        return [Repair(r.start - start, r.end - start, r.new) for r in within]

    def replace(self, start: int, end: int, repairs: list[Repair]) -> None:
        """Take other repairs of a stretch, whose offsets count from its start."""
        moved = [Repair(r.start + start, r.end + start, r.new) for r in repairs]
        self.repairs = sorted(
            [*(r for r in self.repairs if not (start <= r.start and r.end <= end)), *moved],
            key=lambda r: (r.start, r.end),
        )

    def blank(self, start: int, end: int) -> bool:
        """Read blanks there; line ends stay, and so does what was put in behind."""
        return self.put(start, end, "".join(c if c in "\r\n" else " " for c in self.text[start:end]))

    def repaired(self) -> str:
        """The text with the repairs."""
        parts: list[str] = []
        self._froms, self._tos = [0], [0]
        at = length = 0
        for repair in self.repairs:
            parts += (self.text[at : repair.start], repair.new)
            length += repair.start - at
            if len(repair.new) != repair.end - repair.start:
                # Offsets within what is put in stand for the place where it is put in.
                self._froms += (length, length + len(repair.new))
                self._tos += (repair.start - (1 << 60), repair.end)
            length += len(repair.new)
            at = repair.end
        parts.append(self.text[at:])
        return "".join(parts)

    def back(self, offset: int) -> int:
        """The offset in the text that one of the repaired text stands for."""
        place = bisect_right(self._froms, offset) - 1
        to = self._tos[place]
        return to + (1 << 60) if to < 0 else to + offset - self._froms[place]

    def forward(self, offset: int) -> int:
        """Where an offset of the text is in the repaired text, in front of what is put in there."""
        return offset + sum(
            len(r.new) - (r.end - r.start) for r in self.repairs if r.end <= offset and r.start < offset
        )

    def restore(self, root: Node, source: Source) -> None:
        """Give the nodes of the repaired text's tree the offsets of the text, and its source."""
        moved = len(self._froms) > 1
        back = self.back
        pending: list[Node] = [root]
        while pending:
            node = pending.pop()
            node.source = source
            if moved:
                node.start, node.end = back(node.start), back(node.end)
                if node.via:
                    node.via = self._via(node.via)
            if isinstance(node, MappingNode):
                for key, value in node.entries.values():
                    pending += (key, value)
            elif isinstance(node, SequenceNode):
                pending += node.items

    def _via(self, via: Via) -> Via:
        return tuple((self.back(start), self.back(end)) for start, end in via)
