"""The names that completion sees are those that the index of names has, of whole texts and of unfinished ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from pypto_spec.editor.complete.request import Request
from pypto_spec.editor.document import open_document
from pypto_spec.editor.model import Kind
from pypto_spec.editor.names import index
from tests.editor.complete.asking import BODY, HEAD, parse

GALLERY = sorted(path for path in Path("specs").rglob("*") if path.suffix in (".yaml", ".toml"))


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_names_in_regions_are_those_of_the_index(path: Path) -> None:
    document = open_document(path.name, path.read_text())
    known = index(document)
    compared = 0
    for use in known.uses[::4]:
        request = Request(document, use.start)
        assert request.spot is not None
        if request.spot.path[:1] != ("program",) or "body" not in request.spot.path:
            continue
        mine = {named.name: named.kind for named in request.scope.names.values()}
        assert mine == {b.name: b.kind for b in known.visible(use.start) if b.space == "names"}
        compared += 1
    assert compared > 0 or len(known.uses) < 20


KINDS: dict[str, dict[str, Kind | None]] = {
    "- let: a = t\n- let: b = i * 2 + N\n- let: c = b * 0.5\n": {"a": Kind.TILE, "b": Kind.NUMBER, "c": Kind.TILE},
    "- for: {index: j, count: 2}\n  body:\n    - let: inner = t\n": {"inner": None, "j": None},
    "- for: {index: j, count: 2}\n  body:\n    - ": {"j": Kind.INDEX, "i": Kind.INDEX},
    "- for: {index: j, count: 2}\n  carry: {k: 0, acc: t}\n  body:\n    - ": {"k": Kind.NUMBER, "acc": Kind.TILE},
    "- for: {index: j, count: 2}\n  carry: {k: 0}\n  body: []\n  results: {last: k}\n- ": {"last": Kind.NUMBER},
    "- if: i > 0\n  then:\n    - let: p = t\n    - let: q = t\n  else:\n    - let: p = t\n- ": {
        "p": Kind.TILE,
        "q": None,
    },
    "- call: {function: norm, args: {}, into: [u, v]}\n- ": {"u": Kind.TILE, "v": Kind.TILE},
    "- let: out = t\n- ": {"out": Kind.TENSOR},
    "- let: later = ": {"later": None},
}


@pytest.mark.parametrize("text", KINDS)
def test_what_a_name_is(text: str) -> None:
    document, at = parse(HEAD + "".join(f"{BODY}{line}\n" for line in text.splitlines()).rstrip("\n") + "|")
    if text.endswith("\n"):
        document, at = parse(HEAD + "".join(f"{BODY}{line}\n" for line in text.splitlines()) + BODY + "- |")
    names = Request(document, at).scope.names
    assert {name: names[name].kind if name in names else None for name in KINDS[text]} == KINDS[text]


def test_arguments_are_names_of_the_body_alone() -> None:
    text = "functions:\n  f:\n    args: {p: tensor, q: index, r: scalar, s: {dtype: fp32}}\n    body:\n      - |\n"
    names = Request(*parse(text)).scope.names
    assert {name: named.kind for name, named in names.items()} == {
        "p": Kind.TENSOR,
        "q": Kind.INDEX,
        "r": Kind.SCALAR,
        "s": Kind.TILE,
    }
    assert "t" not in Request(*parse(HEAD + "golden: {expect: {out: |")).scope.names


def test_what_a_constant_holds() -> None:
    text = "constants: {a: 2, b: a * 2, c: 1.5, d: a * c, e: rint, f: true, g: 1 / 3, h: 7 // 2}\ntarget: |"
    names = Request(*parse(text)).scope.names
    assert {name: named.of for name, named in names.items()} == {
        **{"a": "int", "b": "int", "c": "float", "d": "float", "e": "word", "f": "bool", "g": "float", "h": "int"}
    }
