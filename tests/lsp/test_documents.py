"""Texts kept in step with edits."""

from __future__ import annotations

from random import Random

from lsprotocol import types

from pypto_spec.lsp.documents import Documents, Open
from tests.lsp.wire import position

PIECES = ["a", "名", "😀", "\r\n", "\n", "\r", "\u2028", "\x0c", "spec: v1\n", "{", "  "]


def _open(text: str, encoding: str = "utf-16") -> tuple[Documents, Open]:
    documents = Documents()
    documents.encoding = encoding
    return documents, documents.open(types.TextDocumentItem("file:///w/x.yaml", "yaml", 1, text))


def test_edits_in_any_characters() -> None:
    rng = Random(1)
    text = "spec: v1\nname: 名😀\n"
    documents, _ = _open(text)
    for version in range(2, 400):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.choice([0, 0, 1, 5]))
        if any(text[at - 1 : at + 1] == "\r\n" for at in (start, end) if at):
            continue  # no editor has a cursor there
        new = rng.choice(PIECES)
        place = types.Range(position(text, start), position(text, end))
        text = text[:start] + new + text[end:]
        change = types.TextDocumentContentChangePartial(range=place, text=new)
        made = documents.change("file:///w/x.yaml", version, [change])
        assert made is not None
        assert made.source.text == text
        assert made.version == version


def test_several_changes_each_see_the_one_before() -> None:
    documents, _ = _open("spec: v1\n")
    first = types.TextDocumentContentChangePartial(
        range=types.Range(types.Position(1, 0), types.Position(1, 0)), text="a: 😀\n"
    )
    second = types.TextDocumentContentChangePartial(
        range=types.Range(types.Position(1, 5), types.Position(1, 5)), text="!"
    )
    made = documents.change("file:///w/x.yaml", 2, [first, second])
    assert made is not None
    assert made.source.text == "spec: v1\na: 😀!\n"


def test_a_whole_text_replaces_all() -> None:
    documents, _ = _open("spec: v1\n")
    made = documents.change("file:///w/x.yaml", 2, [types.TextDocumentContentChangeWholeDocument("name: x\n")])
    assert made is not None
    assert made.source.text == "name: x\n"


def test_halves_of_a_character_find_each_other() -> None:
    documents, opened = _open("spec: v1 # \ud83d\n")
    assert opened.source.text == "spec: v1 # \ufffd\n"
    behind = types.Range(types.Position(0, 12), types.Position(0, 12))
    change = types.TextDocumentContentChangePartial(range=behind, text="\ude00!")
    made = documents.change("file:///w/x.yaml", 2, [change])
    assert made is not None
    assert made.source.text == "spec: v1 # 😀!\n"


def test_what_has_been_a_spec_stays_one() -> None:
    documents, opened = _open("spec: v1\n")
    assert opened.wanted
    made = documents.change("file:///w/x.yaml", 2, [types.TextDocumentContentChangeWholeDocument("sp")])
    assert made is not None and made.wanted
    documents.close("file:///w/x.yaml")
    assert documents.get("file:///w/x.yaml") is None
    assert not documents.open(types.TextDocumentItem("file:///w/x.yaml", "yaml", 1, "sp")).wanted


def test_what_becomes_a_spec_is_one() -> None:
    documents, opened = _open("name: x\n")
    assert not opened.wanted
    made = documents.change("file:///w/x.yaml", 2, [types.TextDocumentContentChangeWholeDocument("spec: v1\n")])
    assert made is not None and made.wanted


def test_an_edit_of_what_is_not_open() -> None:
    assert Documents().change("file:///w/x.yaml", 2, []) is None
