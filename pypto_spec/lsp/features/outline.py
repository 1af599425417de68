"""The outline of a document, what can be folded in it, and what a growing selection takes in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsprotocol import types

from pypto_spec.diagnostics.span import Span
from pypto_spec.editor.model import Symbol
from pypto_spec.editor.outline import outline
from pypto_spec.editor.stretches import around, folds
from pypto_spec.lsp.documents import Open
from pypto_spec.lsp.kinds import KINDS
from pypto_spec.lsp.server import SpecServer


def answer_symbols(
    server: SpecServer, opened: Open, params: types.DocumentSymbolParams
) -> Sequence[types.DocumentSymbol] | Sequence[types.SymbolInformation]:
    """The outline, as a tree where the client can show one."""
    found = outline(opened.document)
    if server.client.tree_outline:
        return [_tree(opened, symbol) for symbol in found]
    return [one for symbol in found for one in _flat(opened, symbol, None)]


def _tree(opened: Open, symbol: Symbol) -> types.DocumentSymbol:
    whole, name = opened.places.of_span(symbol.span), opened.places.of_span(symbol.name_span)
    if not _within(symbol.name_span, symbol.span):  # editors refuse an outline with such an entry
        whole = name
    return types.DocumentSymbol(
        name=symbol.name or "?",  # some refuse an empty name too
        kind=KINDS[symbol.kind][1],
        range=whole,
        selection_range=name,
        detail=symbol.detail or None,
        children=[_tree(opened, child) for child in symbol.children],
    )


def _within(inner: Span, outer: Span) -> bool:
    starts = (outer.line, outer.col) <= (inner.line, inner.col)
    return starts and (inner.end_line, inner.end_col) <= (outer.end_line, outer.end_col)


def _flat(opened: Open, symbol: Symbol, parent: str | None) -> Iterator[types.SymbolInformation]:
    place = types.Location(opened.uri, opened.places.of_span(symbol.span))
    yield types.SymbolInformation(
        name=symbol.name or "?", kind=KINDS[symbol.kind][1], location=place, container_name=parent
    )
    for child in symbol.children:
        yield from _flat(opened, child, symbol.name)


def answer_folds(server: SpecServer, opened: Open, params: types.FoldingRangeParams) -> list[types.FoldingRange]:
    """Blocks of more than one line."""
    return [types.FoldingRange(start_line=first - 1, end_line=last - 1) for first, last in folds(opened.document)]


def answer_selections(
    server: SpecServer, opened: Open, params: types.SelectionRangeParams
) -> list[types.SelectionRange]:
    """For each place the word, the value, the entry, the block around it, and so on."""
    return [_selection(opened, opened.places.offset(position)) for position in params.positions]


def _selection(opened: Open, at: int) -> types.SelectionRange:
    made: types.SelectionRange | None = None
    for start, end in around(opened.document, at):
        made = types.SelectionRange(opened.places.range(start, end), made)
    return made if made is not None else types.SelectionRange(opened.places.range(at, at))
