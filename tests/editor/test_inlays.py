"""Hints agree with the dump of the program, stand behind what they are about, and say nothing that is written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pytest
from syrupy.assertion import SnapshotAssertion

from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.dumps import dump_text
from pypto_spec.driver.session import Compiled
from pypto_spec.editor.document import Document, open_document
from pypto_spec.editor.inlays import inlays
from pypto_spec.editor.model import Inlay
from pypto_spec.spec.load import load
from pypto_spec.spec.tree import Plain
from tests.editor.compiled import GALLERY, compiled, facts, gallery

AFTER = "AllocateMemoryAddr"
CHAINED = "specs/cube/chained.yaml"
"""Both of its products are made at the place of the second."""
ADDRESSES = re.compile(r": (?:[a-z0-9]+\[[\d, ]*\] )?(?:in \S.*?\] )?(?P<memory>[a-z]+ )?@ (?P<list>[\d,/.]+)")


def _all(document: Document) -> list[Inlay]:
    return inlays(document, facts(document), 0, len(document.source.text))


def _shown(document: Document) -> str:
    """The text with its hints in it."""
    made, last = [], 0
    for hint in _all(document):
        made += [document.source.text[last : hint.at], f"«{hint.text}»"]
        last = hint.at
    return "".join([*made, document.source.text[last:]])


def _statements(node: Plain) -> Iterator[Mapping[str, Plain]]:
    """The statements of a dump as plain data."""
    if isinstance(node, dict):
        if "src" in node:
            yield node
        for value in node.values():
            yield from _statements(value)
    elif isinstance(node, list):
        for item in node:
            yield from _statements(item)


def _places(done: Compiled) -> dict[int, set[tuple[str, int]]]:
    """Memory and address of all that statements of a line bind, from the text that `lower` prints."""
    program = dict(done.stages)[AFTER]
    plain = load(Source("dump.yaml", dump_text(program, AFTER, done.spec)), "yaml").to_plain()
    buffers = plain.get("buffers")
    found: dict[int, set[tuple[str, int]]] = {}
    for statement in _statements(plain.get("program")):
        src = statement["src"]
        assert isinstance(src, list) and isinstance(src[0], int)
        for fields in statement.values():
            buffer = fields.get("buffer") if isinstance(fields, dict) else None
            if isinstance(fields, dict) and isinstance(buffers, dict) and isinstance(buffer, str):
                where = buffers[buffer]
                assert isinstance(where, dict)
                size, first = int(str(where["bytes"])), int(str(where["address"])) + int(str(fields.get("offset", 0)))
                starts = [first + slot * size for slot in range(int(str(where.get("slots", 1))))]
                found.setdefault(src[0], set()).update((str(where["memory"]), start) for start in starts)
    return found


@pytest.mark.parametrize("name", GALLERY)
def test_addresses_are_those_of_the_dump(name: str) -> None:
    document = gallery(name)
    places = _places(compiled(document)[0])
    hints = [hint for hint in _all(document) if hint.text.startswith(": ") and "@" in hint.text]
    checked = 0
    for hint in hints:
        line = document.source.position(hint.at)[0]
        if line not in places:
            continue  # the statements of a call have the lines of the function
        said = ADDRESSES.match(hint.text)
        assert said is not None, hint
        starts = [int(word.replace(",", "")) for word in said["list"].split("/") if word != "..."]
        memories = {memory for memory, _ in places[line]} if said["memory"] is None else {said["memory"].strip()}
        for start in starts:
            assert any((memory, start) in places[line] for memory in memories), (hint, places[line])
        checked += 1
    assert 2 * checked >= len(hints) or name == CHAINED


@pytest.mark.parametrize("name", GALLERY)
def test_they_stand_behind_names_and_values(name: str) -> None:
    document = gallery(name)
    text = document.source.text
    hints = _all(document)
    assert [h.at for h in hints] == sorted(h.at for h in hints)
    for hint in hints:
        assert re.match(r"[\w)\"'\]}]", text[hint.at - 1])
        assert len(hint.text) <= 60 and "\n" not in hint.text and hint.tip


@pytest.mark.parametrize(
    "name",
    [
        "specs/pipelines/softmax_rows_pipelined.yaml",
        "specs/vector/softmax_rows.yaml",
        "specs/vector/two_slots.yaml",
        "specs/vector/square.toml",
        "specs/cube/linear_relu.yaml",
        "specs/cube/gemv.yaml",
        "specs/cube/matmul_grid_bf16.yaml",
        "specs/norms/gated_layernorm.yaml",
    ],
)
def test_texts(name: str, snapshot: SnapshotAssertion) -> None:
    assert _shown(gallery(name)) == snapshot


DEEP = """\
spec: v1
name: exponent
tensors:
  a:   {dtype: fp32, shape: [1024, 256]}
  out: {dtype: fp32, shape: [1024, 256], access: out}
program:
  - region: exponent
    core: aiv
    body:
      - pipeline: {index: i, count: 16, stages: 4}
        body:
          - {x-note: 読む, load: {into: t, from: a, at: [i * 64, 0], shape: [64, 256], memory: vec}}
          - exp:
              into: y
              x: t
          - store: {from: y, to: out, at: [i * 64, 0]}
"""


def test_a_pipeline_that_is_less_deep_says_so() -> None:
    shown = _shown(open_document("x.yaml", DEEP))
    assert "stages: 4« runs 2 deep»}" in shown
    assert "into: y«: vec @ 0/65,536»" in shown
    assert "into: t«: @ 0/65,536»" in shown  # its memory is written
    assert "region: exponent\n" in shown  # and so is the core
    (hint,) = [h for h in _all(open_document("x.yaml", DEEP)) if "deep" in h.text]
    assert "2 of 4 buffers" in hint.tip


def test_a_pipeline_as_deep_as_asked_says_nothing() -> None:
    assert "deep" not in _shown(open_document("x.yaml", DEEP.replace("stages: 4", "stages: 2")))


def test_only_those_of_the_range() -> None:
    document = gallery("specs/pipelines/softmax_rows_pipelined.yaml")
    every = _all(document)
    middle = every[1].at
    assert inlays(document, facts(document), middle, middle) == [every[1]]
    assert inlays(document, facts(document), 0, 0) == []


def test_without_facts_there_are_none() -> None:
    document = gallery("specs/pipelines/softmax_rows_pipelined.yaml")
    assert inlays(document, None, 0, len(document.source.text)) == []


def test_an_edit_takes_the_hint_of_its_statement_and_moves_the_others() -> None:
    old = open_document("x.yaml", DEEP)
    found = facts(old)
    new = open_document("x.yaml", DEEP.replace("              x: t\n", "              # 指数\n              x: tt\n"))
    text = new.source.text
    before = [text[: hint.at].splitlines()[-1].strip() for hint in inlays(new, found, 0, len(text))]
    assert not any(line.endswith("into: y") for line in before)
    assert any("load: {into: t" in line for line in before)
    below = open_document("x.yaml", "# 指数\n\n" + DEEP)
    moved = inlays(below, found, 0, len(below.source.text))
    assert [(h.at - len("# 指数\n\n"), h.text) for h in moved] == [(h.at, h.text) for h in _all(old)]
