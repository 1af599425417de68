"""Every character of every scalar maps back to the place in the file it was written at."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pypto_spec.diagnostics.span import Source
from pypto_spec.spec.load import load
from pypto_spec.spec.positions import scalar_offsets
from pypto_spec.spec.tree import MappingNode, ScalarNode, SequenceNode
from pypto_spec.spec.yaml_loader import load_yaml
from tests.spec.places import cut

# Letters, formula signs, CJK, astral characters, a combining accent, blanks.
ALPHABET = "abz09 +*/(),:[]{}#'\"\\-&!%=.中文𝒳é🚀e\u0301"
WORDS = st.text(alphabet=ALPHABET, min_size=1, max_size=30)
LINE_ENDS = st.sampled_from(["\n", "\r\n", "\r"])


def scalar(text: str, *, format: str = "yaml", key: str = "k") -> ScalarNode:
    root = load(Source(f"spec.{format}", text))
    node = root.get(key)
    assert isinstance(node, ScalarNode)
    return node


def check_every_char(node: ScalarNode, escaped: bool = False) -> None:
    """Each character stands where it is said to; where it does not stand as itself, an escape or a fold does."""
    offsets = scalar_offsets(node)
    assert offsets is not None, (node.text, node.source.text)
    begins, ends = offsets
    raw = node.source.text
    last = 0
    for index, char in enumerate(node.text):
        piece = raw[begins[index] : ends[index]]
        assert last <= begins[index] <= ends[index] <= node.end
        last = begins[index]
        if char == "\n":
            assert piece in ("\n", "\r\n", "\r", "\\n")
        elif piece != char:
            assert piece[:1] in ("\\", "'", "\n", "\r"), (char, piece)
            assert escaped or char in " '", (char, piece)
    if node.text:
        assert cut(node.sub_span(0, 1)) == raw[begins[0] : ends[0]]


def fold_lines(words: list[str], pad: str) -> str:
    return ("\n" + pad).join(words)


PLAIN_WORDS = st.lists(
    st.text(alphabet="abz09+*/()=.中文𝒳🚀[],", min_size=1, max_size=8).map(lambda word: "a" + word),
    min_size=1,
    max_size=5,
)


@given(PLAIN_WORDS, LINE_ENDS, st.booleans())
def test_plain(words: list[str], ends: str, several: bool) -> None:
    body = fold_lines(words, "    ") if several else "  ".join(words)
    node = scalar(f"文: 1\nk:   {body}   # 注\nz: 2\n".replace("\n", ends))
    assert node.text == (" ".join(words) if several else "  ".join(words))
    check_every_char(node)
    start = node.text.index(words[-1])
    assert cut(node.sub_span(start, start + len(words[-1]))) == words[-1]


@given(st.lists(WORDS, min_size=1, max_size=4), LINE_ENDS, st.integers(0, 2))
def test_single_quoted(words: list[str], ends: str, empty: int) -> None:
    body = ("\n" * (empty + 1) + "   ").join(word.replace("'", "''") for word in words)
    check_every_char(scalar(f"k: '{body}'\nz: 1\n".replace("\n", ends)))


@given(st.text(alphabet=ALPHABET + "\x01\t\n\x85\u2028\ufeff", max_size=30), st.booleans(), LINE_ENDS)
def test_double_quoted(text: str, ascii_only: bool, ends: str) -> None:
    body = (
        "".join(
            f"\\U{ord(char):08x}"
            if ascii_only and ord(char) > 0xFFFF
            else json.dumps(char, ensure_ascii=ascii_only)[1:-1]
            for char in text
        )
        .replace("\x85", "\\x85")
        .replace("\u2028", "\\L")
        .replace("\ufeff", "\\ufeff")
        .replace("\x01", "\\x01")
    )
    node = scalar(f'k: "{body}"\nz: 1\n'.replace("\n", ends))
    assert node.text == text
    check_every_char(node, escaped=True)


@given(st.lists(st.text(alphabet="ab ", min_size=1, max_size=5), min_size=1, max_size=4), st.booleans(), LINE_ENDS)
def test_double_quoted_folds(words: list[str], escaped: bool, ends: str) -> None:
    join = "\\\n   " if escaped else "\n   "
    body = join.join("x" + word for word in words)
    node = scalar(f'k: "{body}"\nz: 1\n'.replace("\n", ends))
    check_every_char(node, escaped=True)


@given(
    st.sampled_from("|>"),
    st.sampled_from(["", "-", "+"]),
    st.lists(st.text(alphabet="ab中𝒳 #:'\t", max_size=8), min_size=1, max_size=6),
    st.integers(1, 4),
    st.booleans(),
    LINE_ENDS,
)
@settings(max_examples=300)
def test_block(style: str, chomp: str, lines: list[str], indent: int, explicit: bool, ends: str) -> None:
    lines = ["x" + lines[0], *lines[1:]]
    header = f"{style}{indent if explicit else ''}{chomp}"
    body = "".join(" " * indent + line + "\n" for line in lines)
    node = scalar(f"k: {header}  # 注\n{body}z: 1\n".replace("\n", ends))
    check_every_char(node)
    place = node.text.index("x")
    assert cut(node.sub_span(place, place + 1)) == "x"
    assert not cut(node.span).endswith(("\n", "\r"))


def test_explicit_indentation_below_a_parent() -> None:
    node = load(Source("k", "a:\n  b: |2\n      x\n    y\n")).find("a", "b")
    assert isinstance(node, ScalarNode) and node.text == "  x\ny\n"
    check_every_char(node)


@given(st.text(alphabet=ALPHABET.replace("'", ""), max_size=20))
def test_toml_literal(text: str) -> None:
    node = scalar(f"'文' = 1\nk = '{text}'\n", format="toml")
    assert node.text == text
    check_every_char(node)


@given(st.text(alphabet=ALPHABET + "\t\n\x01", max_size=20))
def test_toml_basic(text: str) -> None:
    node = scalar(f"k = {json.dumps(text, ensure_ascii=False)}\nz = '🚀'\n".replace("\x7f", ""), format="toml")
    assert node.text == text
    check_every_char(node, escaped=True)


@given(
    st.lists(st.text(alphabet="ab 中𝒳", max_size=8), min_size=1, max_size=4),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.sampled_from(["'''", '"""']),
)
def test_toml_long(lines: list[str], ends: str, trimmed: bool, quote: str) -> None:
    join = "\\\n   " if trimmed and quote == '"""' else "\n"
    node = scalar(f"k = {quote}\n{join.join(lines)}{quote}\n".replace("\n", ends), format="toml")
    check_every_char(node, escaped=True)


@pytest.mark.parametrize("pure", [False, True])
def test_byte_order_mark(pure: bool) -> None:
    root = load_yaml(Source("k", "\ufeffk: '中a'\nz: 1\n"), pure=pure)
    node = root.get("k")
    assert isinstance(node, ScalarNode)
    assert cut(node.sub_span(1, 2)) == "a"
    span = root.key_span("z")
    assert span is not None and cut(span) == "z"


def test_aliases_point_at_the_anchor_and_know_the_alias() -> None:
    root = load(Source("k", "base: &b {shape: [1, min2], 中: 'x'}\nuse:\n  one: *b\n  two:\n    <<: *b\n    中: 3\n"))
    one = root.find("use", "one", "shape", 1)
    two = root.find("use", "two", "shape", 1)
    assert isinstance(one, ScalarNode) and isinstance(two, ScalarNode)
    assert cut(one.span) == cut(two.span) == "min2"
    assert [span.start for span in one.alias_spans] == [(3, 8)]
    assert [span.start for span in two.alias_spans] == [(5, 9)]
    own = root.find("use", "two", "中")
    assert isinstance(own, ScalarNode) and own.value == 3 and own.alias_spans == ()
    whole = root.get("use")
    assert whole is not None and cut(whole.span) == "one: *b\n  two:\n    <<: *b\n    中: 3"


def test_an_alias_of_an_alias_knows_both() -> None:
    root = load(Source("k", "a: &a [x]\nb: &b {in: *a}\nc: *b\n"))
    node = root.find("c", "in", 0)
    assert node is not None
    assert [span.start for span in node.alias_spans] == [(2, 12), (3, 4)]


def test_anchored_values_start_behind_their_anchor() -> None:
    root = load(Source("k", "a: &n !!str  'x'\nb: &m\n  c: 1\nd: &l [1]\n"))
    for key, text in {"a": "'x'", "b": "c: 1", "d": "[1]"}.items():
        node = root.get(key)
        assert node is not None and cut(node.span) == text


def test_nested_flow_and_blocks() -> None:
    text = "a:\n  - b: {c: [d, {e: f}], g: 'h'}\n    i:\n      - j\n  - k\nl: m\n"
    root = load(Source("k", text))
    expected = {
        "a.0": "b: {c: [d, {e: f}], g: 'h'}\n    i:\n      - j",
        "a.0.b": "{c: [d, {e: f}], g: 'h'}",
        "a.0.b.c.1.e": "f",
        "a.0.i": "- j",
        "a.1": "k",
        "l": "m",
    }
    for path, piece in expected.items():
        span = root.field_span(path)
        assert span is not None and cut(span) == piece
    assert root.field_span("a.7") is None and root.field_span("zzz") is None


def test_toml_tables() -> None:
    text = "[x.y]\n'中.b' = {p = [1, {q = 'r'}]}\n[x]\ns.t = 1\n[[list]]\nu = 1\n[[list]]\n[list.v]\nw = 2\n"
    root = load(Source("k.toml", text))
    assert root.to_plain() == {
        "x": {"y": {"中.b": {"p": [1, {"q": "r"}]}}, "s": {"t": 1}},
        "list": [{"u": 1}, {"v": {"w": 2}}],
    }
    node = root.find("x", "y", "中.b", "p", 1, "q")
    assert isinstance(node, ScalarNode) and cut(node.span) == "'r'" and cut(node.sub_span(0, 1)) == "r"
    pair = root.find("x")
    assert isinstance(pair, MappingNode) and cut(pair.span) == "[x]\ns.t = 1"
    items = root.get("list")
    assert isinstance(items, SequenceNode) and [item.span.start for item in items] == [(5, 1), (7, 1)]
    key = root.find("x", "s")
    assert isinstance(key, MappingNode) and cut(key.key_span("t") or key.span) == "t"
