"""Changes of a spec's text in terms of its tree: an entry or an item more or less, in the style of what is around.

Each function gives the replacement of one stretch, or None where the text is written in a way that it does not handle
(merged and aliased parts, tables that stand only in the names of others): a wrong edit would be worse than none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from pypto_spec.spec.flow import flow, is_plain, key_text, quoted
from pypto_spec.spec.tree import KeyNode, MappingNode, Node, ScalarNode, SequenceNode

Format = Literal["yaml", "toml"]


@dataclass(frozen=True)
class Change:
    """`text[start:end]` becomes `text`, in code-point offsets."""

    start: int
    end: int
    text: str


def joined(source: str, changes: Iterable[Change]) -> Change | None:
    """One change that does what several do; None where they overlap."""
    ordered = sorted(changes, key=lambda c: (c.start, c.end))
    if not ordered:
        return None
    text, at = "", ordered[0].start
    for change in ordered:
        if change.start < at:
            return None
        text += source[at : change.start] + change.text
        at = change.end
    return Change(ordered[0].start, at, text)


class Changes:
    """Makes changes of one text."""

    def __init__(self, root: MappingNode, format: Format) -> None:
        self.root = root
        self.format: Format = format
        self.text = root.source.text
        self.line_end = "\r\n" if "\r\n" in self.text else "\n"

    # --- values ---

    def value(self, node: Node, value: object) -> Change | None:
        """Another value in the place of one, on one line."""
        if node.via or node.start < 0:
            return None
        if isinstance(node, ScalarNode) and node.style in ("|", ">"):
            return None
        if isinstance(node, (MappingNode, SequenceNode)) and not node.flow:
            return None
        return Change(node.start, node.end, self.scalar(node, value))

    def scalar(self, node: Node, value: object) -> str:
        """A value as it is written where a node stands: in the same quotes, if those are not needed no more."""
        style = node.style.lstrip("=") if isinstance(node, ScalarNode) else ""
        if isinstance(value, str) and len(style) == 1 and style not in value and "\\" not in value:
            return f"{style}{value}{style}"
        return flow(value, self.format)

    # --- entries of a mapping ---

    def add(self, mapping: MappingNode, key: str, value: object) -> Change | None:
        """An entry more."""
        if mapping.via or mapping.start < 0:
            return None
        sign = " = " if self.format == "toml" else ": "
        entry = f"{key_text(key, self.format)}{sign}{flow(value, self.format)}"
        own = _own(mapping)
        if mapping.flow:
            return self._add_in_flow(mapping, own, entry)
        if self.format == "toml":
            return self._add_line(mapping, own, entry)
        return self._add_in_block(own, entry)

    def _add_in_flow(self, mapping: MappingNode, own: list[tuple[KeyNode, Node]], entry: str) -> Change | None:
        if own:
            at = max(max(key.end, value.end) for key, value in own)
            return Change(at, at, f", {entry}")
        inner = self.text[mapping.start + 1 : mapping.end - 1]
        return None if inner.strip() else Change(mapping.start, mapping.end, f"{{{entry}}}")

    def _add_in_block(self, own: list[tuple[KeyNode, Node]], entry: str) -> Change | None:
        if not own:
            return None
        first = own[0][0]
        indent = " " * self._column(first.start)
        simple = [pair for pair in own if self._on_one_line(*pair)]
        if not simple:
            return Change(first.start, first.start, f"{entry}{self.line_end}{indent}")
        key, value = simple[-1]
        at = self._line_end(max(key.end, value.end))
        return Change(at, at, f"{self.line_end}{indent}{entry}")

    def _add_line(self, mapping: MappingNode, own: list[tuple[KeyNode, Node]], entry: str) -> Change | None:
        """A line of a table: behind its other ones, else behind its header, else at the start of the text."""
        lines = [max(key.end, value.end) for key, value in own if self._is_pair(key)]
        if lines:
            at = self._line_end(max(lines))
            return Change(at, at, f"{self.line_end}{entry}")
        if mapping is self.root:
            return Change(mapping.start, mapping.start, f"{entry}{self.line_end}")
        if self.text[mapping.start : mapping.start + 1] != "[":
            return None
        at = self._line_end(mapping.start)
        return Change(at, at, f"{self.line_end}{entry}")

    def remove(self, mapping: MappingNode, key: str) -> Change | None:
        """An entry less."""
        entry = mapping.entries.get(key)
        if entry is None or mapping.via or entry[0].via or mapping.start < 0:
            return None
        start, end = entry[0].start, max(entry[0].end, self.end_of(entry[1]))
        if entry[1].via:
            end = self._value_end(entry[0])
        own = _own(mapping)
        if mapping.flow:
            return self._without(start, end, [(k.start, max(k.end, v.end)) for k, v in own])
        if self.format == "toml":
            return self._without_lines(start, end) if self._is_pair(entry[0]) else None
        if len(own) == 1:
            return None
        if self._starts_line(start):
            return self._without_lines(start, end)
        following = own[1][0].start  # the first entry of a list item, behind its dash
        return Change(start, following, "")

    def rename(self, mapping: MappingNode, key: str, new: str) -> Change | None:
        """An entry under another key."""
        node = mapping.key_node(key)
        return None if node is None or node.via else Change(node.start, node.end, key_text(new, self.format))

    # --- items of a list ---

    def drop(self, sequence: SequenceNode, index: int) -> Change | None:
        """An item less; None for the last one of a block, which could not stay empty."""
        item = sequence.items[index]
        if sequence.via or item.via or item.start < 0:
            return None
        if sequence.flow:
            return self._without(item.start, item.end, [(i.start, i.end) for i in sequence.items])
        if self.format == "toml":
            whole = len(sequence.items) > 1 and self.text.startswith("[[", item.start)
            return self._without_lines(item.start, self.end_of(item)) if whole else None
        dash = self._dash(item)
        if dash is None or len(sequence.items) == 1:
            return None
        return self._without_lines(dash, self.end_of(item))

    def insert(
        self, sequence: SequenceNode, index: int, item: dict[str, object], behind: bool = False
    ) -> Change | None:
        """A statement more, before the one at `index` or `behind` it."""
        near = sequence.items[index]
        if sequence.via or near.via or near.start < 0:
            return None
        if sequence.flow:
            return self._insert_in_flow(near, flow(item, self.format), behind)
        if self.format == "toml":
            return self._insert_table(near, item, behind)
        dash = self._dash(near)
        if dash is None:
            return None
        indent = " " * self._column(dash)
        text = f"- {flow(item)[1:-1]}"
        if not behind:
            return Change(dash, dash, f"{text}{self.line_end}{indent}")
        at = self._line_end(self.end_of(near))
        return Change(at, at, f"{self.line_end}{indent}{text}")

    def _insert_in_flow(self, near: Node, text: str, behind: bool) -> Change:
        gap = f"{self.line_end}{' ' * self._column(near.start)}" if self._starts_line(near.start) else " "
        if behind:
            return Change(near.end, near.end, f",{gap}{text}")
        return Change(near.start, near.start, f"{text},{gap}")

    def _insert_table(self, near: Node, item: dict[str, object], behind: bool) -> Change | None:
        """A table of an array more; its header is that of the neighbour."""
        if not self.text.startswith("[[", near.start):
            return None
        begin = self._line_start(near.start)
        header = self.text[begin : self._line_end(near.start)]
        indent = header[: len(header) - len(header.lstrip())]
        lines = [header, *(f"{indent}{key} = {flow(value, 'toml')}" for key, value in item.items())]
        text = self.line_end.join(lines)
        if not behind:
            return Change(begin, begin, f"{text}{self.line_end}")
        at = self._line_end(self.end_of(near))
        return Change(at, at, f"{self.line_end}{text}")

    # --- places ---

    def end_of(self, node: Node) -> int:
        """Where the text of a node ends: of a block with the last of what is in it."""
        if isinstance(node, ScalarNode):
            return node.start + len(self.text[node.start : node.end].rstrip())
        if isinstance(node, MappingNode) and not node.flow:
            return max([max(k.end, self.end_of(v)) for k, v in _own(node)], default=node.end)
        if isinstance(node, SequenceNode) and not node.flow:
            return max([self.end_of(item) for item in node.items if not item.via], default=node.end)
        return node.end

    def _value_end(self, key: KeyNode) -> int:
        """The end of the line on which an alias stands behind a key."""
        at = self._line_end(key.end)
        remark = self.text.find(" #", key.end, at)
        return len(self.text[: remark if remark >= 0 else at].rstrip())

    def _without(self, start: int, end: int, stretches: list[tuple[int, int]]) -> Change:
        """Take one of several stretches away with the comma that belongs to it, and its line where it has one."""
        ordered = sorted(stretches)
        place = ordered.index(next(s for s in ordered if s[0] == start))
        if place + 1 < len(ordered):
            return Change(start, ordered[place + 1][0], "")
        if place > 0:
            return Change(ordered[place - 1][1], end, "")
        return Change(start, end, "")

    def _without_lines(self, start: int, end: int) -> Change:
        """Take whole lines away."""
        begin, stop = self._line_start(start), self._line_end(end)
        if stop < len(self.text):
            stop += 2 if self.text.startswith("\r\n", stop) else 1
        return Change(begin, stop, "")

    def _dash(self, item: Node) -> int | None:
        """The `-` of a block item, where it leads its line."""
        at = item.start - 1
        while at >= 0 and self.text[at] == " ":
            at -= 1
        return at if at >= 0 and self.text[at] == "-" and self._starts_line(at) else None

    def _is_pair(self, key: KeyNode) -> bool:
        """Whether a key of TOML leads a line `key = value`, and stands in no header and no dotted key."""
        at = key.start - (self.text[key.start - 1 : key.start] in ("'", '"') and key.start > 0)
        behind = self.text[key.end :].lstrip("'\" \t")
        return self._starts_line(at) and behind.startswith("=")

    def _on_one_line(self, key: KeyNode, value: Node) -> bool:
        if isinstance(value, ScalarNode):
            return value.style not in ("|", ">") and not value.via
        return isinstance(value, (MappingNode, SequenceNode)) and value.flow and not value.via

    def _starts_line(self, at: int) -> bool:
        return not self.text[self._line_start(at) : at].strip(" ")

    def _line_start(self, at: int) -> int:
        return max(self.text.rfind("\n", 0, at), self.text.rfind("\r", 0, at)) + 1

    def _line_end(self, at: int) -> int:
        ends = [end for end in (self.text.find("\n", at), self.text.find("\r", at)) if end >= 0]
        return min(ends, default=len(self.text))

    def _column(self, at: int) -> int:
        return at - self._line_start(at)


def _own(mapping: MappingNode) -> list[tuple[KeyNode, Node]]:
    """The entries that are written in a mapping itself, by place."""
    own = [(key, value) for key, value in mapping.entries.values() if len(key.via) <= len(mapping.via)]
    return sorted(own, key=lambda pair: pair[0].start)


def as_text(value: str, format: Format) -> str:
    """A word as a value of a format."""
    return value if format == "yaml" and is_plain(value) else quoted(value)
