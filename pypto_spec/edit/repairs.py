"""From what findings want repaired to replacements of the author's text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pypto_spec.diagnostics.model import CompileError, Diagnostic, Fix, Repair
from pypto_spec.diagnostics.span import Source, Span
from pypto_spec.edit.changes import Change, Changes, Format, joined
from pypto_spec.spec.flow import is_plain, is_plain_in_block
from pypto_spec.spec.flow import quoted as in_quotes
from pypto_spec.spec.load import format_of, load
from pypto_spec.spec.models.keywords import BLOCK_KEYS, default_table
from pypto_spec.spec.models.statement import SIBLINGS
from pypto_spec.spec.tree import MappingNode, Node, ScalarNode, SequenceNode, span_between

PLATFORM = "platform"
"""What `target` means where it is a word."""


def repaired(found: Sequence[Diagnostic], source: Source, format: Format | None = None) -> list[Diagnostic]:
    """The findings with a fix for each repair that the text allows; repairs of other files are left out."""
    if not any(d.repairs or any(map(_may_need_quotes, d.fixes)) for d in found):
        return list(found)
    form = format or format_of(source.name)
    try:
        root = load(source, form)
    except CompileError:
        return list(found)
    editor = Repairs(Changes(root, form))
    made: list[Diagnostic] = []
    for diagnostic in found:
        fixes = [fix for repair in diagnostic.repairs if (fix := editor.fix(repair)) is not None]
        written = [quoted for fix in diagnostic.fixes if (quoted := editor.quoted(fix)) is not None]
        made.append(replace(diagnostic, fixes=(*written, *fixes), repairs=()))
    return made


def _may_need_quotes(fix: Fix) -> bool:
    """Whether a replacement within a scalar may end it, or be read in another way."""
    return any(char in fix.replacement for char in ",[]{}:#\"'\\")


@dataclass(frozen=True)
class Spot:
    """An entry of the tree, or an item of a list, with all that it stands in, the innermost last."""

    chain: tuple[tuple[MappingNode | SequenceNode, str | int], ...]
    start: int
    value: Node


class Repairs:
    """Makes the fixes of one text."""

    def __init__(self, changes: Changes) -> None:
        self.changes = changes
        self.root = changes.root
        self._spots: list[Spot] | None = None

    def fix(self, repair: Repair) -> Fix | None:
        """The fix of a repair; None where it cannot be made in this text."""
        source = self.root.source
        if repair.at is not None and repair.at.source.text != source.text:
            return None
        change = self._change(repair)
        if change is None:
            return None
        also = [Change(*span.offsets, text) for span, text in repair.also]
        whole = joined(source.text, [change, *also])
        if whole is None:
            return None
        span = span_between(source, whole.start, whole.end)
        return Fix(span, whole.text, repair.safe, repair.title)

    def quoted(self, fix: Fix) -> Fix | None:
        """A fix of a part of a scalar so that the scalar stays one; None where that takes more than quotes."""
        if fix.span.source.text != self.root.source.text or not _may_need_quotes(fix):
            return fix
        start, end = fix.span.offsets
        spot = self.spot(fix.span)
        node = spot.value if spot is not None else None
        if not isinstance(node, ScalarNode) or not node.start <= start <= end <= node.end or node.via:
            return fix
        if (start, end) in ((node.start, node.end), (node.start, node.start)):
            return fix  # all of it, or something in front of it
        text = self.root.source.text
        style = node.style.lstrip("=")
        if style:
            return None if style[0] in fix.replacement or ("\\" in fix.replacement and style != "'") else fix
        new = text[node.start : start] + fix.replacement + text[end : node.end]
        parent = spot.chain[-1][0] if spot is not None else self.root
        if is_plain(new) or (not parent.flow and is_plain_in_block(new)):
            return fix
        return replace(fix, span=span_between(self.root.source, node.start, node.end), replacement=in_quotes(new))

    def _change(self, repair: Repair) -> Change | None:
        spot = self.spot(repair.at) if repair.at is not None else None
        if repair.at is not None and spot is None:
            return None
        if repair.action in ("before", "after"):
            return self._insert(spot, repair)
        if repair.action == "remove" and not repair.path:
            return self._drop(spot)
        base, path = self._base(spot, repair.path), repair.path
        if base is None:
            return None
        if repair.action == "set":
            return self.set(base, path, repair.value)
        parent = base.find(*path[:-1]) if len(path) > 1 else base
        if repair.action == "rename":
            return (
                self.changes.rename(parent, str(path[-1]), str(repair.value))
                if isinstance(parent, MappingNode)
                else None
            )
        return self._without(base, path, repair.value)

    # --- where ---

    def spot(self, span: Span) -> Spot | None:
        """The innermost entry or item that starts at or before a place."""
        at = span.offsets[0]
        if self._spots is None:
            self._spots = sorted(self._walk(self.root, ()), key=lambda spot: spot.start)
        found = [spot for spot in self._spots if spot.start <= at]
        return found[-1] if found else None

    def _walk(self, node: Node, chain: tuple[tuple[MappingNode | SequenceNode, str | int], ...]) -> Iterator[Spot]:
        if isinstance(node, MappingNode):
            for name, (key, value) in node.entries.items():
                if not key.via:
                    inner = (*chain, (node, name))
                    yield Spot(inner, key.start, value)
                    if not value.via:
                        yield from self._walk(value, inner)
        elif isinstance(node, SequenceNode):
            for index, item in enumerate(node.items):
                if not item.via:
                    inner = (*chain, (node, index))
                    yield Spot(inner, item.start, item)
                    yield from self._walk(item, inner)

    def statement(self, spot: Spot | None) -> tuple[SequenceNode, int] | None:
        """The list and number of the innermost statement around a spot."""
        chain = spot.chain if spot is not None else ()
        for place in range(len(chain) - 1, 0, -1):
            (parent, name), (before, key) = chain[place], chain[place - 1]
            blocks = isinstance(before, MappingNode) and key in (*BLOCK_KEYS, "program")
            if isinstance(parent, SequenceNode) and isinstance(name, int) and blocks:
                return parent, name
        return None

    def _base(self, spot: Spot | None, path: tuple[str | int, ...]) -> MappingNode | None:
        """The mapping in which a path starts."""
        if spot is None:
            return self.root
        parent, name = spot.chain[-1]
        item = spot.value
        if isinstance(parent, SequenceNode):
            return item if isinstance(item, MappingNode) else None
        beside = bool(path) and self._beside(str(name), str(path[0]))
        if isinstance(item, MappingNode) and not beside:
            return item
        if not beside and self._is_statement(spot):
            return None  # `let` has no fields
        return parent

    def _is_statement(self, spot: Spot) -> bool:
        """Whether a spot is the keyword of a statement."""
        place, (parent, name) = self.statement(spot), spot.chain[-1]
        return place is not None and place[0].items[place[1]] is parent and str(name) in default_table()

    def _beside(self, keyword: str, key: str) -> bool:
        """Whether a key stands beside a keyword and not in its mapping."""
        known = default_table().get(keyword)
        return known is not None and (
            key == keyword or key in known.options or (key in SIBLINGS and key in known.siblings)
        )

    # --- what ---

    def set(self, base: MappingNode, path: Sequence[str | int], value: object) -> Change | None:
        """The change that puts a value at a path, with the mappings that are missing on the way."""
        node: Node = base
        for place, step in enumerate(path):
            rest = path[place + 1 :]
            if isinstance(node, SequenceNode):
                if not isinstance(step, int) or step >= len(node.items):
                    return None
                node = node.items[step]
                continue
            if not isinstance(node, MappingNode):
                return None
            entry = node.entries.get(str(step))
            if entry is None:
                return self.changes.add(node, str(step), _nested(rest, value))
            if entry[0].via:
                return None
            key, node = entry
            if rest and isinstance(node, ScalarNode) and key.text == "target":
                return self.changes.value(node, {PLATFORM: node.value, **_mapping(rest, value)})
            if rest and isinstance(node, ScalarNode) and node.value is None:
                return None
        return self.changes.value(node, value)

    def _insert(self, spot: Spot | None, repair: Repair) -> Change | None:
        place = self.statement(spot)
        if place is None or not isinstance(repair.value, dict):
            return None
        return self.changes.insert(*place, repair.value, repair.action == "after")

    def _drop(self, spot: Spot | None) -> Change | None:
        """Take the item at a spot away: one of a list of words, else the statement around it."""
        if spot is None:
            return None
        parent, name = spot.chain[-1]
        if isinstance(parent, SequenceNode) and isinstance(name, int) and not isinstance(spot.value, MappingNode):
            if len(parent.items) == 1 and len(spot.chain) > 1:
                return self._drop_empty(spot)
            return self.changes.drop(parent, name)
        place = self.statement(spot)
        if place is not None:
            return self.changes.drop(*place)
        return self.changes.drop(parent, name) if isinstance(parent, SequenceNode) and isinstance(name, int) else None

    def _without(self, base: MappingNode, path: Sequence[str | int], others: object) -> Change | None:
        """Take an entry away, and with it `others`, keys beside it that mean nothing without it."""
        first = self._remove(base, path)
        more = [self.changes.remove(base, key) for key in others if key in base] if isinstance(others, tuple) else []
        if first is None or not more:
            return first
        return joined(self.changes.text, [first, *(change for change in more if change is not None)])

    def _drop_empty(self, spot: Spot) -> Change | None:
        """The key of a list that would be empty goes with its last item."""
        before = [key for _, key in spot.chain[:-1]]
        return self._remove(self.root, before)

    def _remove(self, base: MappingNode, path: Sequence[str | int]) -> Change | None:
        """Take an entry away, and the mapping that would be empty without it."""
        parent = base.find(*path[:-1]) if len(path) > 1 else base
        if not isinstance(parent, MappingNode) or str(path[-1]) not in parent.entries:
            return None
        alone = len(parent.entries) == 1 and len(path) > 1 and not isinstance(path[-2], int)
        if alone and (whole := self._remove(base, path[:-1])) is not None:
            return whole
        return self.changes.remove(parent, str(path[-1]))


def _mapping(path: Sequence[str | int], value: object) -> dict[str, object]:
    return {str(path[0]): _nested(path[1:], value)}


def _nested(path: Sequence[str | int], value: object) -> object:
    return _mapping(path, value) if path else value
