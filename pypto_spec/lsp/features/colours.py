"""Semantic tokens: which name is what, inside formulas too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lsprotocol import types

from pypto_spec.editor.model import Token
from pypto_spec.editor.tokens import tokens
from pypto_spec.lsp.documents import Open
from pypto_spec.lsp.kinds import READONLY, TOKEN_OF
from pypto_spec.lsp.positions import units
from pypto_spec.lsp.server import SpecServer


def answer_all(server: SpecServer, opened: Open, params: types.SemanticTokensParams) -> types.SemanticTokens:
    """The tokens of the document."""
    return types.SemanticTokens(list(_encoded(opened, tokens(opened.document))))


def answer_some(server: SpecServer, opened: Open, params: types.SemanticTokensRangeParams) -> types.SemanticTokens:
    """The tokens of a range."""
    start, end = opened.places.offset(params.range.start), opened.places.offset(params.range.end)
    found = [token for token in tokens(opened.document) if token.end > start and token.start < end]
    return types.SemanticTokens(list(_encoded(opened, found)))


def _encoded(opened: Open, found: Iterable[Token]) -> Iterator[int]:
    """Five numbers for each: lines and units since the one before, units, type, modifiers. None reaches over a line."""
    line = column = 0
    for token in sorted(found, key=lambda t: (t.start, t.end)):
        place = opened.places.range(token.start, token.end)
        length = units(opened.source.text[token.start : token.end], opened.encoding)
        if place.start.line != place.end.line or not length:
            continue
        if (place.start.line, place.start.character) < (line, column):  # clients draw no two tokens over each other
            continue
        same = place.start.line == line
        before = line, column
        line, column = place.start.line, place.start.character
        modifiers = token.declares | (token.kind in READONLY) << 1
        yield from (line - before[0], column - before[1] if same else column, length, TOKEN_OF[token.kind], modifiers)
