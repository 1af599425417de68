"""The outline of a document: its sections with what they define, the launches, regions, loops and statements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pypto_spec.editor.document import Document
from pypto_spec.editor.model import Kind, Symbol
from pypto_spec.editor.names.details import detail_of, shortened, text_of
from pypto_spec.editor.names.statements import ends_at, keyword_of, starts_at
from pypto_spec.spec.models.keywords import Keyword
from pypto_spec.spec.models.roles import Plan, fields_of
from pypto_spec.spec.models.sections import DocumentModel
from pypto_spec.spec.tree import KeyNode, MappingNode, Node, ScalarNode, SequenceNode, span_between

_KINDS: Mapping[str, Kind] = {
    kind.value: kind for kind in (Kind.CONSTANT, Kind.SYMBOL, Kind.SCALAR, Kind.TENSOR, Kind.BUFFER, Kind.FUNCTION)
}
"""What the keys of a section are, by the mark of the model."""


def outline(document: Document) -> list[Symbol]:
    """The symbols of a document, sections at the top, in the order of the text."""
    root = document.tree
    if root is None:
        return []
    plans = fields_of(DocumentModel)
    return [_section(key, node, plans[key.text]) for key, node in root.items if key.text in plans]


def _section(key: KeyNode, node: Node, plan: Plan) -> Symbol:
    children: tuple[Symbol, ...] = ()
    kind = _KINDS.get(plan.keys.of) if plan.keys is not None else None
    if key.text == "program":
        children = tuple(_block(node))
    elif kind is not None and isinstance(node, MappingNode):
        children = tuple(_declared(name, value, kind) for name, value in node.items if name.text[:2] != "x-")
    detail = shortened(text_of(node)) if isinstance(node, ScalarNode) else ""
    return _symbol(key.text, Kind.SECTION, key, key.start, node, detail, children)


def _declared(key: KeyNode, node: Node, kind: Kind) -> Symbol:
    body = node.get("body") if kind is Kind.FUNCTION and isinstance(node, MappingNode) else None
    return _symbol(key.text, kind, key, key.start, node, detail_of(kind, node), tuple(_block(body)))


def _block(node: Node | None) -> Iterator[Symbol]:
    for item in node.items if isinstance(node, SequenceNode) else ():
        if isinstance(item, MappingNode) and not item.via:
            parts = keyword_of(item)
            if parts is not None:
                yield _statement(item, *parts)


def _statement(item: MappingNode, keyword: Keyword, key: KeyNode, value: Node) -> Symbol:
    arms = {name: list(_block(item.get(name))) for name in keyword.blocks}
    inner: list[Symbol] = []
    for name, found in arms.items():
        place = item.key_node(name)
        if len(keyword.blocks) == 1 or place is None or not found:
            inner += found
        else:  # an `if` shows which arm a statement is in
            node = item.get(name)
            assert node is not None
            inner.append(_symbol(name, Kind.KEYWORD, place, place.start, node, "", tuple(found)))
    region = keyword.opens is not None and isinstance(value, ScalarNode) and bool(value.text)
    name, detail = (text_of(value), keyword.name) if region else (keyword.name, shortened(text_of(value)))
    head = value if region else key
    return _symbol(name, Kind.REGION if region else Kind.KEYWORD, head, key.start, item, detail, tuple(inner))


def _symbol(
    name: str, kind: Kind, head: Node, start: int, node: Node, detail: str, children: tuple[Symbol, ...]
) -> Symbol:
    """A symbol whose span holds its name and all that is in it, in the author's own text."""
    source = node.source
    head_start, head_end = starts_at(head), ends_at(head)
    start = min(start, head_start)
    end = max([ends_at(node), head_end, *(_end(source.line_starts(), child) for child in children)])
    name_span = span_between(source, head_start, head_end)
    return Symbol(name or "?", kind, span_between(source, start, end), name_span, detail, children)


def _end(starts: list[int], symbol: Symbol) -> int:
    return starts[symbol.span.end_line - 1] + symbol.span.end_col - 1
