"""The tolerant readers: on a text that is right they read what the loader reads; they take any other text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.diagnostics.span import Source
from pypto_spec.editor.complete import completions, signature
from pypto_spec.editor.complete.text.toml import read_toml
from pypto_spec.editor.complete.text.tree import Map, Node, Scalar, Seq, find
from pypto_spec.editor.complete.text.yaml import read_yaml
from pypto_spec.spec import tree as loaded
from pypto_spec.spec.load import load
from tests.editor.complete.asking import HEAD, TOML, document, parse

GALLERY = sorted(path for path in Path("specs").rglob("*") if path.suffix in (".yaml", ".toml"))


def _same(read: Node | None, wanted: loaded.Node) -> bool:
    if isinstance(wanted, loaded.MappingNode):
        if not isinstance(read, Map) or [entry.key.word for entry in read.entries] != wanted.keys():
            return False
        return all(_same(entry.value, value) for entry, (_, value) in zip(read.entries, wanted.items, strict=True))
    if isinstance(wanted, loaded.SequenceNode):
        if not isinstance(read, Seq) or len(read.items) != len(wanted.items):
            return False
        return all(_same(item, node) for item, node in zip(read.items, wanted.items, strict=True))
    if isinstance(wanted, loaded.ScalarNode) and wanted.value is None and read is None:
        return True
    assert isinstance(wanted, loaded.ScalarNode)
    return isinstance(read, Scalar) and " ".join(read.text.split()) == " ".join(wanted.text.split())


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_a_text_that_is_right_is_read_as_the_loader_reads_it(path: Path) -> None:
    source = Source(str(path), path.read_text())
    tree = read_toml(source.text) if path.suffix == ".toml" else read_yaml(source.text)
    assert _same(tree.root, load(source))


WRITTEN = {
    "lists in line with their key": "a:\n- x\n- y: 1\n  z: 2\nb: 3\n",
    "a list in a list": "a:\n  - - 1\n    - 2\n  - [3, [4]]\n",
    "flow over lines": "a: {x: [1,\n    2], y:\n    3}\nb: [\n  1,\n  2\n  ]\n",
    "quotes": "a: 'it''s'\nb: \"x: {y}\"\n'c d': e\n",
    "texts over lines": "a: |\n  x: 1\n  - y\n\nb: >-\n  z\nc: 1\n",
    "plain over lines": "a: x +\n  y\nb: 1\n",
    "comments": "# one\na: 1 # two\n# three\nb:\n  # four\n  c: 2\n",
    "nothing": "a:\nb:\n  - \n  - c:\n",
}


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)
def test_forms_of_yaml(text: str) -> None:
    wanted = load(Source("a.yaml", text))
    read = read_yaml(text).root
    if "''" in text or "|" in text or ">" in text:  # what is in quotes is left as it is written
        assert [entry.key.word for entry in read.entries] == wanted.keys()
    else:
        assert _same(read, wanted)


def test_forms_of_toml() -> None:
    text = (
        'a = 1\nb.c = "x"\n[t]\nd = [ 1,\n  2, # no\n]\n[t.u]\ne = { f = 1, g = [ { h = 2 } ] }\n'
        "[[l]]\nm = 'x'\n[[l.n]]\no = 1\n[[l.n]]\no = 2\n[l.q]\nr = true\n[[l]]\nm = 'y'\n"
    )
    assert _same(read_toml(text).root, load(Source("a.toml", text)))


def test_an_anchor_is_no_part_of_a_value() -> None:
    found = read_yaml("a: &x {b: 1}\nc: !t 2\n").root
    assert isinstance(found.get("a"), Map)


OPEN = [
    "a: {b: [1, \nc: 2\n",
    "a: {b: 'x\nc: 2\n",
    "l:\n  - {b: {d: [\n  - {b: 1}\nc: 2\n",
    "a: [min(1, 2], 3\nc: 2\n",
    "a:\n    - x\n  b: 1\nc: 2\n",
]


@pytest.mark.parametrize("text", OPEN)
def test_what_is_never_closed_ends_where_the_next_thing_starts(text: str) -> None:
    found = read_yaml(text).root.get("c")
    assert isinstance(found, Scalar)
    assert found.text == "2"


@pytest.mark.parametrize(
    "text", ["a = [ 1,\nb = 2\n", "a = { x = 1\nb = 2\n", 'a = "x\nb = 2\n', "a = [ { x = [\n[t]\n", "a\nb = 2"]
)
def test_what_is_never_closed_in_toml(text: str) -> None:
    root = read_toml(text).root
    assert [entry.key.word for entry in root.entries][1] in ("b", "t")


PIECES = st.lists(
    st.sampled_from(
        ["- ", "load: ", "{", "}", "[", "]", ", ", ":", "\n", "\n  ", "\n      ", "let: y = ", "exp(", ")", "x", '"',
         "'", "#", "|\n", "> ", "&a ", "*a", "$", "region: ", "body:", "=", "[[", "]]", "\t", "0", "t.1", "\ue000",
         "\r\n", "\r", "漢", "---"]
    ),
    max_size=25,
).map("".join)  # fmt: skip


@given(st.sampled_from(["", HEAD, TOML]), PIECES, st.sampled_from(["a.yaml", "a.toml"]), st.integers(0, 60))
def test_no_text_is_too_strange(head: str, text: str, name: str, back: int) -> None:
    whole = head + text
    at = max(0, len(whole) - back)
    for found in completions(document(whole, name), at):
        assert 0 <= found.edit.start <= at <= found.edit.end <= len(whole)
        assert "\ue000" not in found.edit.text or "\ue000" in whole
    signature(document(whole, name), at)


@pytest.mark.parametrize(
    "text", ["[" * 5000, "{a: " * 5000, "- " * 5000, "a:\n" + "".join(" " * n + "a:\n" for n in range(900))]
)
@pytest.mark.parametrize("name", ["a.yaml", "a.toml"])
def test_no_text_is_too_deep(text: str, name: str) -> None:
    assert completions(document(text, name), len(text)) is not None


def test_offsets_outside_of_the_text_are_those_of_its_ends() -> None:
    for at in (-5, 99):
        assert completions(document("a: 1\n"), at) is not None


def test_the_cursor_in_a_comment_is_nowhere() -> None:
    made, at = parse("a: 1 # x|\n")
    text = made.source.text
    assert find(read_yaml(text[:at] + "\ue000" + text[at:]).root) is None


@pytest.mark.long
def test_every_offset_of_the_gallery() -> None:
    for path in GALLERY:
        text = path.read_text()
        for at in range(0, len(text) + 1, 3):
            for whole in (text, text[:at]):
                made = document(whole, path.name)
                for found in completions(made, at):
                    assert found.edit.start <= at <= found.edit.end
                signature(made, at)
