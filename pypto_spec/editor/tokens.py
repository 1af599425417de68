"""Semantic tokens: names by what they stand for, the words of formulas, and the keys that are keywords."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_spec.editor import names
from pypto_spec.editor.document import Document
from pypto_spec.editor.model import Kind, Token
from pypto_spec.editor.names.statements import keyword_of
from pypto_spec.spec.models.keywords import BLOCK_KEYS
from pypto_spec.spec.models.roles import fields_of
from pypto_spec.spec.models.sections import DocumentModel
from pypto_spec.spec.tree import KeyNode, MappingNode, Node, SequenceNode


def tokens(document: Document) -> list[Token]:
    """The tokens of a document in the order of the text; none overlaps another, none has a line end in it."""
    index = names.index(document)
    found = [Token(use.start, use.stop, use.binding.kind, use.declares) for use in index.uses]
    found += [Token(mark.start, mark.end, mark.kind) for mark in index.marks]
    if document.tree is not None:
        found += [Token(key.start, key.end, kind) for key, kind in _keys(document.tree) if not key.via]
    text = document.source.text
    made: list[Token] = []
    for token in sorted(found, key=lambda t: (t.start, -t.end)):
        if made and token.start < made[-1].end:
            continue
        if token.start < token.end and not any(char in "\r\n" for char in text[token.start : token.end]):
            made.append(token)
    return made


def _keys(root: MappingNode) -> Iterator[tuple[KeyNode, Kind]]:
    """Section keys and the keywords of statements."""
    sections = fields_of(DocumentModel)
    for key, node in root.items:
        if key.text in sections:
            yield key, Kind.SECTION
        if key.text == "program":
            yield from _block(node)
        elif key.text == "functions" and isinstance(node, MappingNode):
            for _, value in node.items:
                body = value.get("body") if isinstance(value, MappingNode) else None
                if body is not None:
                    yield from _block(body)


def _block(node: Node) -> Iterator[tuple[KeyNode, Kind]]:
    for item in node.items if isinstance(node, SequenceNode) else ():
        parts = keyword_of(item) if isinstance(item, MappingNode) else None
        if parts is None or not isinstance(item, MappingNode):
            continue
        yield parts[1], Kind.KEYWORD
        for key, value in item.items:
            if key.text in BLOCK_KEYS:
                yield key, Kind.KEYWORD
                yield from _block(value)
