"""Stretches of a document by its tree: what can be folded, and what lies around a place."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_spec.editor.document import Document
from pypto_spec.spec.tree import KeyNode, MappingNode, Node, SequenceNode

Stretch = tuple[int, int]


def folds(document: Document) -> list[tuple[int, int]]:
    """First and last line (from 1) of every entry and item of several lines, in the order of the text, each once."""
    found: dict[int, int] = {}
    for start, end in _folding(document.tree):
        first, last = document.source.position(start)[0], _last_line(document, start, end)
        if last > first:
            found[first] = max(last, found.get(first, 0))
    return sorted(found.items())


def around(document: Document, at: int) -> list[Stretch]:
    """The stretches that hold an offset, from all of the text down to the smallest, each within the one before it."""
    made: list[Stretch] = [(0, len(document.source.text))]
    found = {(start, end) for start, end in _stretches(document.tree) if start <= at <= end}
    for start, end in sorted(found, key=lambda s: (s[0] - s[1], s[0])):
        if made[-1] != (start, end) and made[-1][0] <= start and end <= made[-1][1]:
            made.append((start, end))
    return made


def _last_line(document: Document, start: int, end: int) -> int:
    """The last line with something on it: the tree lets blocks end where the next one begins."""
    text = document.source.text[start:end].rstrip()
    return document.source.position(start + len(text))[0]


def _folding(node: Node | None) -> Iterator[Stretch]:
    """Entries and items, which show their first line when they are folded; a block in them begins too late for that."""
    if isinstance(node, MappingNode):
        for key, value in node.items:
            if not key.via and not value.via:
                yield key.start, value.end
                yield from _folding(value)
    elif isinstance(node, SequenceNode):
        for item in node.items:
            if not item.via:
                yield item.start, item.end
                yield from _folding(item)


def _stretches(node: Node | None) -> Iterator[Stretch]:
    """Of every key, value, entry and item that is written where it stands, not taken over from an anchor."""
    if node is not None and not node.via:
        yield node.start, node.end
        yield from _inner(node)


def _inner(node: Node | None) -> Iterator[Stretch]:
    """Of what a node holds."""
    if isinstance(node, MappingNode):
        for key, value in node.items:
            if not key.via:
                yield from _entry(key, value)
    elif isinstance(node, SequenceNode):
        for item in node.items:
            yield from _stretches(item)


def _entry(key: KeyNode, value: Node) -> Iterator[Stretch]:
    yield key.start, key.end
    if not value.via and value.end >= key.start:
        yield key.start, value.end
    yield from _stretches(value)
