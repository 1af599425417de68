"""What the kinds of things are called in the protocol: icons of completions, of the outline, and colours."""

from __future__ import annotations

from lsprotocol import types

from pypto_spec.editor.model import Kind

_ITEM, _SYMBOL, _TOKEN = types.CompletionItemKind, types.SymbolKind, types.SemanticTokenTypes

KINDS: dict[Kind, tuple[types.CompletionItemKind, types.SymbolKind, types.SemanticTokenTypes]] = {
    Kind.SECTION: (_ITEM.Module, _SYMBOL.Namespace, _TOKEN.Keyword),
    Kind.KEYWORD: (_ITEM.Keyword, _SYMBOL.Key, _TOKEN.Keyword),
    Kind.FIELD: (_ITEM.Field, _SYMBOL.Field, _TOKEN.Property),
    Kind.WORD: (_ITEM.EnumMember, _SYMBOL.EnumMember, _TOKEN.EnumMember),
    Kind.CONSTANT: (_ITEM.Constant, _SYMBOL.Constant, _TOKEN.EnumMember),
    Kind.SYMBOL: (_ITEM.Constant, _SYMBOL.Constant, _TOKEN.TypeParameter),
    Kind.SCALAR: (_ITEM.Value, _SYMBOL.Number, _TOKEN.Variable),
    Kind.TENSOR: (_ITEM.Class, _SYMBOL.Array, _TOKEN.Class),
    Kind.TILE: (_ITEM.Variable, _SYMBOL.Variable, _TOKEN.Variable),
    Kind.INDEX: (_ITEM.Variable, _SYMBOL.Variable, _TOKEN.Parameter),
    Kind.NUMBER: (_ITEM.Value, _SYMBOL.Number, _TOKEN.Number),
    Kind.BUFFER: (_ITEM.Struct, _SYMBOL.Struct, _TOKEN.Struct),
    Kind.FUNCTION: (_ITEM.Function, _SYMBOL.Function, _TOKEN.Function),
    Kind.ARGUMENT: (_ITEM.TypeParameter, _SYMBOL.Variable, _TOKEN.Parameter),
    Kind.REGION: (_ITEM.Event, _SYMBOL.Event, _TOKEN.Namespace),
    Kind.VARIANT: (_ITEM.Enum, _SYMBOL.Enum, _TOKEN.Enum),
    Kind.OPERATOR: (_ITEM.Operator, _SYMBOL.Operator, _TOKEN.Operator),
    Kind.SNIPPET: (_ITEM.Snippet, _SYMBOL.Object, _TOKEN.Macro),
}
"""For each kind: the icon of a completion, that of the outline, and the type of a token."""

TOKEN_TYPES = list(dict.fromkeys(token for _, _, token in KINDS.values()))
"""The legend: a token's type is its place here."""

TOKEN_OF = {kind: TOKEN_TYPES.index(token) for kind, (_, _, token) in KINDS.items()}

READONLY = frozenset({Kind.CONSTANT, Kind.SYMBOL})
MODIFIERS = [types.SemanticTokenModifiers.Declaration, types.SemanticTokenModifiers.Readonly]
"""The legend of modifiers: the n-th is bit n."""
