"""The outline and the semantic tokens."""

from __future__ import annotations

import pytest

from pypto_spec.editor.document import open_document
from pypto_spec.editor.model import Kind, Symbol
from pypto_spec.editor.outline import outline
from pypto_spec.editor.tokens import tokens
from pypto_spec.spec.models.keywords import default_table
from tests.editor.gallery import opened, specs
from tests.editor.test_names import DOCUMENT, SPEC
from tests.editor.toml_spec import TABLES


def tree(symbols: list[Symbol] | tuple[Symbol, ...], depth: int = 0) -> list[str]:
    """An outline as lines."""
    lines = []
    for symbol in symbols:
        lines.append("  " * depth + f"{symbol.name} ({symbol.kind.value}) {symbol.detail}".rstrip())
        lines += tree(symbol.children, depth + 1)
    return lines


def test_outline() -> None:
    lines = tree(outline(DOCUMENT))
    assert lines[:8] == [
        "spec (section) v1",
        "name (section) everything",
        "constants (section)",
        "  TR (constant) = 64",
        "  TC (constant) = 128",
        "  HALF (constant) = TR // 2",
        "  mode (constant) = rint",
        "  kind (constant) = fp32",
    ]
    assert "  scaled (function) (v, by) -> y" in lines
    assert "    let (keyword) y = v * by" in lines
    at = lines.index("  first (region) region")
    assert lines[at + 1] == "    for (keyword) {index: i, range: [0, ceil_div(M, TR)]}"
    assert lines[at + 2].startswith("      load (keyword) {into: t, from: x")
    at = lines.index("    if (keyword) M > TR")
    assert lines[at + 1 : at + 7 : 3] == ["      then (keyword)", "      else (keyword)"]


def test_outline_of_toml() -> None:
    lines = tree(outline(open_document("tables.toml", TABLES)))
    assert "  x (tensor) fp32 [4 * TR, TC] in" in lines
    at = lines.index("  tables (region) region")
    assert lines[at + 3] == "      let (keyword) y = exp(t)"


@pytest.mark.parametrize("name", specs())
def test_symbols_hold_their_names_and_what_is_in_them(name: str) -> None:
    def check(symbols: list[Symbol] | tuple[Symbol, ...], start: tuple[int, int], end: tuple[int, int]) -> None:
        for symbol in symbols:
            span, name_span = symbol.span, symbol.name_span
            last = (span.end_line, span.end_col)
            assert start <= span.start <= name_span.start
            assert (name_span.end_line, name_span.end_col) <= last <= end
            check(symbol.children, span.start, last)

    found = outline(opened(name))
    assert "program" in [symbol.name for symbol in found]
    check(found, (1, 1), (1 << 30, 1))


@pytest.mark.parametrize("name", specs())
def test_tokens_are_in_order_and_do_not_overlap(name: str) -> None:
    document = opened(name)
    last = 0
    for token in tokens(document):
        assert last <= token.start < token.end
        assert "\n" not in document.source.text[token.start : token.end]
        last = token.end


@pytest.mark.parametrize("name", specs())
def test_every_keyword_has_a_token(name: str) -> None:
    document = opened(name)
    text = document.source.text
    found = [text[t.start : t.end] for t in tokens(document) if t.kind is Kind.KEYWORD]
    keywords = [keyword.name for keyword in default_table()]
    assert [word for word in found if word not in keywords and word not in ("body", "then", "else")] == []
    if name.endswith(".yaml"):
        assert found.count("load") == text.count("load:")
        assert found.count("region") == text.count("region:")


def test_tokens_of_a_formula() -> None:
    at = SPEC.index("- let: w = ")
    end = SPEC.index("\n", at)
    found = [(SPEC[t.start : t.end], t.kind, t.declares) for t in tokens(DOCUMENT) if at <= t.start < end]
    assert found == [
        ("let", Kind.KEYWORD, False),
        ("w", Kind.TILE, True),
        ("scaled", Kind.FUNCTION, False),
        ("z", Kind.TILE, False),
        ("by", Kind.ARGUMENT, False),
        ("eps", Kind.SCALAR, False),
        ("gelu", Kind.FUNCTION, False),
        ("z", Kind.TILE, False),
        ("approximate", Kind.FIELD, False),
        ("tanh", Kind.WORD, False),
    ]


def test_tokens_of_declarations_and_parameters() -> None:
    found = {(SPEC[t.start : t.end], t.kind) for t in tokens(DOCUMENT) if t.declares}
    assert {("TR", Kind.CONSTANT), ("M", Kind.SYMBOL), ("eps", Kind.SCALAR), ("x", Kind.TENSOR)} <= found
    assert {("ub", Kind.BUFFER), ("scaled", Kind.FUNCTION), ("i", Kind.INDEX), ("row", Kind.NUMBER)} <= found
    at = SPEC.index("$kind") + 1
    assert next(t for t in tokens(DOCUMENT) if t.start == at).kind is Kind.CONSTANT


def test_no_tree_no_answers() -> None:
    for text in ("", "- a", "just words", "\x00", "a: &x [*x]"):
        document = open_document("a.yaml", text)
        assert tree(outline(document)) == [] or document.tree is not None
        assert tokens(document) == [] or document.tree is not None
