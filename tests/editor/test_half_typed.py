"""Texts that are not finished: a tree of what can be read, and the names above the cursor stay known."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pypto_spec.diagnostics.span import Source
from pypto_spec.editor import names
from pypto_spec.editor.document import Document, open_document
from pypto_spec.editor.mend.patch import Patch
from pypto_spec.editor.outline import outline
from pypto_spec.editor.tokens import tokens
from pypto_spec.spec.load import load
from pypto_spec.spec.tree import KeyNode, MappingNode, Node, SequenceNode
from tests.editor.gallery import gallery, specs
from tests.editor.toml_spec import TABLES

ALL = {**gallery(), "tables.toml": TABLES}


def all_features(document: Document, at: int) -> None:
    """Whatever the text is, nothing raises, and every place is one of the text."""
    index = names.index(document)
    length = len(document.source.text)
    for use in index.uses:
        assert 0 <= use.start < use.end <= use.stop <= length
    index.visible(at)
    index.at(at)
    names.definition(document, at)
    outline(document)
    last = 0
    for token in tokens(document):
        assert last <= token.start < token.end <= length
        last = token.end


def nodes(root: Node | None) -> list[Node]:
    """All nodes of a tree."""
    found: list[Node] = []
    pending = [root] if root is not None else []
    while pending:
        node = pending.pop()
        found.append(node)
        if isinstance(node, MappingNode):
            pending += [part for entry in node.entries.values() for part in entry]
        elif isinstance(node, SequenceNode):
            pending += node.items
    return found


def offsets(name: str, count: int) -> list[int]:
    text = ALL[name]
    return sorted(random.Random(name).sample(range(len(text) + 1), min(count, len(text))))


def check_cuts(name: str, count: int) -> None:
    """Cut a text off at an offset, or to the end of its line: what stands above the line is known as before."""
    text = ALL[name]
    whole = names.index(open_document(name, text))
    for at in offsets(name, count):
        line = text.rfind("\n", 0, at) + 1
        end = text.find("\n", at)
        for cut in (text[:at], text[:at] + text[end:] if end >= 0 else text[:at]):
            document = open_document(name, cut)
            all_features(document, at)
            known = {(use.start, use.stop) for use in names.index(document).uses}
            above = [u for u in whole.uses if u.stop < line and u.binding.declaration.start < line]
            assert [u.binding.name for u in above if (u.start, u.stop) not in known] == [], at


@pytest.mark.parametrize("name", ALL)
def test_cut_off(name: str) -> None:
    check_cuts(name, 3)


@pytest.mark.long
@pytest.mark.parametrize("name", ALL)
def test_cut_off_at_many_places(name: str) -> None:
    check_cuts(name, 150)


HEAD = """\
spec: v1
name: half
tensors:
  x: {dtype: fp32, shape: [64, 128]}
  out: {dtype: fp32, shape: [64, 128], access: out}
program:
  - region: r
    body:
      - load: {into: t, from: x, at: [0, 0], shape: [64, 128]}
"""
TAIL = """\
      - store: {from: t, to: out, at: [0, 0]}
golden: {expect: {out: x}}
"""
FOR = "      - for:"
BODY = "        body:\n          - let: q = t"
QUARTER = {"body": [{"let": "q = t"}]}
STORE = {"store": {"from": "t", "to": "out", "at": [0, 0]}}


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("      - ", [None]),
        ("      - lo", ["lo"]),
        ("      - load:", [{"load": None}]),
        ("      - load: {", [{"load": {}}]),
        ("      - load: {into: u, fr", [{"load": {"into": "u", "fr": None}}]),
        ("      - load: {into: u, from: ", [{"load": {"into": "u", "from": None}}]),
        ("      - load: {into: u, from: x, at: [i", [{"load": {"into": "u", "from": "x", "at": ["i"]}}]),
        ("      - load: {into: u, from: x, at: [0, ", [{"load": {"into": "u", "from": "x", "at": [0]}}]),
        ('      - load: {into: u, from: "x', [{"load": {"into": "u", "from": "x"}}]),
        ("      - load: {into: u, from: @}", [{"load": {"into": "u", "from": None}}]),
        ("      - load: {into: u,, from: x}", [{"load": {"into": "u", "from": "x"}}]),
        ("      - load: {into: u, from: x}}", [{"load": {"into": "u", "from": "x"}}]),
        ("      - let: y = exp(", [{"let": "y = exp("}]),
        ('      - let: "y = exp(', [{"let": "y = exp("}]),
        ("      - let: y = t[0 : 4, :]", [{"let": "y = t[0   4, :]"}]),
        ("      - exp: *", [{"exp": None}]),
        ("       - exp: {into: u, x: t}", [{"exp": {"into": "u", "x": "t"}}]),
        ("     - exp: {into: u, x: t}", [{"exp": {"into": "u", "x": "t"}}]),
        ("      ex", []),
        (f"{FOR} {{index: i, cou\n{BODY}", [{"for": {"index": "i", "cou": None}, **QUARTER}]),
        (f"{FOR}\n          index: i\n          cou\n{BODY}", [{"for": {"index": "i", "cou": None}, **QUARTER}]),
        (f"{FOR} {{index: i}}\n        bo\n          - let: q = t", [{"for": {"index": "i"}, "bo": QUARTER["body"]}]),
        ("      - let: y = t\x00", [{"let": "y = t"}]),
    ],
)  # fmt: skip
def test_typing_a_line(line: str, read: list[object]) -> None:
    document = open_document("a.yaml", HEAD + line + "\n" + TAIL)
    assert document.tree is not None
    body = document.tree.find("program", 0, "body")
    assert isinstance(body, SequenceNode)
    plain = body.to_plain()
    assert plain[1:-1] == read
    assert plain[-1] == STORE
    assert document.tree.find("golden", "expect", "out") is not None


@pytest.mark.parametrize(
    "line", ["  y: {dtype: ", "  y", "  y:", "  y: {dtype: fp32, shape: [64", '  "y', "  y: @", " y: 1", "\ty: 1"]
)
def test_typing_in_a_section(line: str) -> None:
    head, tail = HEAD.split("program:")
    document = open_document("a.yaml", f"{head}{line}\nprogram:{tail}{TAIL}")
    assert document.tree is not None
    assert document.tree.keys() == ["spec", "name", "tensors", "program", "golden"]
    known = [b.name for b in names.index(document).bindings]
    assert known[:2] == ["x", "out"]
    assert "t" in known


def test_a_copied_line_keeps_its_names() -> None:
    document = open_document("a.yaml", HEAD.replace("  out:", "  x: {dtype: fp32, shape: [N]}\n  out:") + TAIL)
    assert not document.whole
    assert [u.text for u in names.index(document).unknown if not u.word] == []
    assert [u.text for u in names.index(document).unknown] == ["N"]


@pytest.mark.parametrize("name", specs())
def test_the_tree_of_a_whole_text_is_that_of_the_loader(name: str) -> None:
    document = open_document(name, specs()[name])
    wanted = load(Source(name, specs()[name]))
    assert document.whole
    places = [(type(n), n.start, n.end, getattr(n, "text", "")) for n in nodes(document.tree)]
    assert places == [(type(n), n.start, n.end, getattr(n, "text", "")) for n in nodes(wanted)]


@pytest.mark.parametrize("name", ALL)
def test_nodes_of_a_repaired_text_stand_where_they_are_written(name: str) -> None:
    text = ALL[name]
    for at in offsets(name, 6):
        document = open_document(name, text[:at] + '{["' + text[at:])
        for node in nodes(document.tree):
            assert node.source is document.source
            assert 0 <= node.start <= node.end <= len(document.source.text)
            if isinstance(node, KeyNode) and node.text.isidentifier():
                assert node.text in document.source.text[node.start : node.end]


SNIPPETS = [
    "", "{", "[", '"', "'", ": ", "- ", "\n", "  ", "x", "*a", "&a", "#", "|", "]", "}", ",", "=", "🙂", "漢", "\t",
    "@", "[[", "$TR", "<<: *a\n",
]  # fmt: skip
EDITS = st.lists(
    st.tuples(st.integers(0, 10_000), st.integers(0, 12), st.sampled_from(SNIPPETS)), min_size=1, max_size=6
)


@settings(max_examples=80)
@given(name=st.sampled_from(sorted(ALL)), edits=EDITS)
def test_random_edits(name: str, edits: list[tuple[int, int, str]]) -> None:
    text = ALL[name]
    at = 0
    for place, length, new in edits:
        at = place % (len(text) + 1)
        text = text[:at] + new + text[at + length :]
    all_features(open_document(name, text), min(at, len(text)))


@settings(max_examples=80)
@given(text=st.text(alphabet="ab: -\n[]{}\"'#,|>&*=\\\t\r.<", max_size=80), form=st.sampled_from(["a.yaml", "a.toml"]))
def test_any_text(text: str, form: str) -> None:
    all_features(open_document(form, text), len(text) // 2)


@given(text=st.text(alphabet="abc\n ", min_size=4, max_size=30), data=st.data())
def test_offsets_come_back(text: str, data: st.DataObject) -> None:
    patch = Patch(text)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, len(text)))
        patch.put(start, end, data.draw(st.sampled_from(["", "x", "yz"])))
    repaired = patch.repaired()
    for offset in range(len(repaired)):
        back = patch.back(offset)
        assert 0 <= back <= len(text)
        if repaired[offset] not in "xyz":
            assert text[back] == repaired[offset]


def large(lines: int) -> str:
    """A text of many regions."""
    made = [HEAD.rstrip()]
    for number in range(lines // 12):
        made += [f"  - region: r{number}", "    body:"]
        made += [f"      - let: y{k} = exp(x) * {k} + maximum(x, {number})" for k in range(10)]
    return "\n".join(made) + "\n"


@pytest.mark.parametrize("line", ["      - load: {into: u, from: ", "      lo", "  lo: @"])
def test_a_large_text_is_repaired_in_about_the_time_it_is_read(line: str) -> None:
    text = large(2000)
    broken = [
        text,
        *(
            f"{text[:at]}{line}\n{text[at:]}"
            for at in (text.index("  - region: r9\n"), text.index("  - region: r150\n"))
        ),
    ]

    def seconds(of: str) -> float:
        times = []
        for _ in range(5):
            start = time.process_time()
            open_document("a.yaml", of)
            times.append(time.process_time() - start)
        return min(times)

    whole, *others = map(seconds, broken)
    assert max(others) < 4 * whole + 0.01


HOSTILE = {
    "lists.yaml": "a: [" * 20_000,
    "dashes.yaml": "- " * 30_000,
    "open.yaml": "program:\n" + "      - exp: {into: y, x: (\n" * 3000,
    "quotes.yaml": "program:\n  - region: r\n    body:\n" + '      - let: "y = x\n      lo\n' * 1000,
    "words.yaml": "x\n" * 20_000,
    "lists.toml": "a = [" * 10_000,
    "open.toml": "x = { a = \n" * 3000,
    "keys.toml": "[[a]]\nx\n" * 3000,
    "texts.toml": "a = '''x" * 3000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_take_bounded_time(name: str) -> None:
    start = time.process_time()
    all_features(open_document(name, HOSTILE[name]), 100)
    assert time.process_time() - start < 5
