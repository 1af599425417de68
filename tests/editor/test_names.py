"""What names mean: definitions, references, scopes. Whole specs, and one for each rule of the language."""

from __future__ import annotations

from typing import get_args

import pytest

from pypto_spec.convert.let_composites import COMPOSITES
from pypto_spec.editor import names
from pypto_spec.editor.document import open_document
from pypto_spec.editor.model import Kind
from pypto_spec.ir.dtype import DTYPES
from pypto_spec.ops.registry import OPS
from pypto_spec.spec.models.sections import Target
from tests.editor.gallery import opened, specs
from tests.editor.places import line_of, lines_of, place, shown, visible

SPEC = """\
spec: v1
name: everything
constants: {TR: 64, TC: 128, HALF: TR // 2, mode: rint, kind: fp32}
symbols: {M: {min: 1, max: 4096}}
scalars: {eps: fp32, n: int32}
tensors:
  x: {dtype: $kind, shape: [M, TC]}
  out: {dtype: fp32, shape: [M, TC], access: out}
buffers:
  ub: {memory: vec, slots: 2}
functions:
  scaled:
    args: {v: {dtype: fp32, shape: [TR, TC]}, by: scalar}
    returns: [y]
    body:
      - let: y = v * by
program:
  - create_tensor: {into: tmp, dtype: fp32, shape: [M, TC]}
  - region: first
    as: done
    body:
      - for: {index: i, range: [0, "ceil_div(M, TR)"]}
        body:
          - load: {into: t, from: x, at: [i * TR, 0], shape: [TR, TC], buffer: ub, slot: i % 2}
          - let: row = i * TR
          - let: t = t + 1  # again
          - debug: {print: "tile {i} at {row}"}
          - call: {function: scaled, args: {v: t, by: eps}, into: z}
          - let: w = scaled(z, by=eps) + gelu(z, approximate=tanh)
          - store: {from: w, to: tmp, at: [row, 0]}
  - region: second
    after: done
    body:
      - full: {into: total, shape: [1, TC], value: 0, dtype: $kind}
      - for: {index: i, count: 8}
        carry: {acc: total, k: 0}
        yield: {acc: next, k: k + 1}
        results: {sum: acc}
        body:
          - load: {into: t, from: tmp, at: [i * 64, 0], shape: [64, 128]}
          - let: next = acc + col_sum(t) * k
      - if: M > TR
        then:
          - let: p = sum * 2
          - yield: {r: p}
        else:
          - let: p = sum * 3
          - yield: {r: p}
        results: [r]
      - let: q = p + r
      - store: {from: q, to: out, at: [0, 0]}
golden:
  sizes: [{M: 64}]
  expect: {out: x * eps}
  inputs: {x: {min: 0, max: TR}}
variants:
  matrix: {TR: [32, HALF], target.planner: [pypto]}
  exclude: [{TR: 32}]
"""
DOCUMENT = open_document("everything.yaml", SPEC)


def at(line: str, word: str, number: int = 0) -> int:
    return place(SPEC, line, word, number)


def target(line: str, word: str, number: int = 0) -> str:
    return shown(names.definition(DOCUMENT, at(line, word, number)))


# Whole specs


@pytest.mark.parametrize("name", specs())
def test_every_use_of_a_spec_is_known(name: str) -> None:
    index = names.index(opened(name))
    language = {*DTYPES, "auto", *(word for defn in OPS.values() for field in defn.fields for word in field.words)}
    language |= {word for field in Target.model_fields.values() for word in get_args(field.annotation)}
    strange = [u.text for u in index.unknown if not u.word or u.text not in language]
    assert strange == []
    assert len(index.uses) > 5


@pytest.mark.parametrize("name", specs())
def test_what_is_read_is_visible_there(name: str) -> None:
    document = opened(name)
    index = names.index(document)
    given = {use for found in index.arguments.values() for binding in found for use in binding.uses}
    for use in index.uses:
        if not use.declares and use not in given:  # the keys of a call are not in the scope around it
            assert use.binding in index.visible(use.start), document.source.position(use.start)


@pytest.mark.parametrize("name", specs())
def test_the_site_of_a_use_binds_its_name(name: str) -> None:
    for use in names.index(opened(name)).uses:
        if not use.declares:
            assert use.site is not None and use.site.declares
            assert use.site.binding is use.binding
        assert use.binding.uses.count(use) == 1


# Definitions


@pytest.mark.parametrize(
    ("line", "word", "number", "wanted"),
    [
        ("HALF: TR", "TR", 1, "3:TR"),
        ("dtype: $kind, shape: [M", "kind", 0, "3:kind"),
        ("dtype: $kind, shape: [M", "M", 0, "4:M"),
        ("args: {v:", "TC", 0, "3:TC"),
        ("let: y = v", "v", 0, "13:v"),
        ("let: y = v", "by", 0, "13:by"),
        ("returns: [y]", "y", 0, "16:y"),
        ("load: {into: t, from: x", "x", 0, "7:x"),
        ("load: {into: t, from: x", "ub", 0, "10:ub"),
        ("load: {into: t, from: x", "i", 0, "22:i"),
        ("# again", "t", 1, "24:t"),
        ("tile {i}", "row", 0, "25:row"),
        ("tile {i}", "i", 0, "22:i"),
        ("call:", "scaled", 0, "12:scaled"),
        ("call:", "v", 0, "13:v"),
        ("call:", "t", 0, "26:t"),
        ("let: w", "scaled", 0, "12:scaled"),
        ("let: w", "by", 0, "13:by"),
        ("let: w", "eps", 0, "5:eps"),
        ("to: tmp", "tmp", 0, "18:tmp"),
        ("from: tmp", "tmp", 0, "18:tmp"),
        ("after: done", "done", 0, "20:done"),
        ("value: 0", "kind", 0, "3:kind"),
        ("carry: {acc", "total", 0, "34:total"),
        ("yield: {acc", "next", 0, "41:next"),
        ("yield: {acc", "k", 1, "36:k"),
        ("results: {sum", "acc", 0, "36:acc"),
        ("let: next", "acc", 0, "36:acc"),
        ("let: p = sum * 2", "sum", 0, "38:sum"),
        ("yield: {r: p}", "r", 0, "49:r"),
        ("let: q", "p", 0, "47:p"),
        ("let: q", "r", 0, "49:r"),
        ("sizes:", "M", 0, "4:M"),
        ("expect:", "out", 0, "8:out"),
        ("expect:", "eps", 0, "5:eps"),
        ("inputs:", "x", 0, "7:x"),
        ("inputs:", "TR", 0, "3:TR"),
        ("matrix:", "TR", 0, "3:TR"),
        ("matrix:", "HALF", 0, "3:HALF"),
        ("exclude:", "TR", 0, "3:TR"),
    ],
)
def test_definition(line: str, word: str, number: int, wanted: str) -> None:
    assert target(line, word, number) == wanted


def test_a_definition_is_its_own() -> None:
    assert target("- let: row", "row") == "25:row"


@pytest.mark.parametrize(("line", "word"), [("let: w", "gelu"), ("let: w", "tanh"), ("value: 0", "value")])
def test_words_of_the_language_have_no_definition(line: str, word: str) -> None:
    assert target(line, word) == ""
    assert names.rename_span(DOCUMENT, at(line, word)) is None
    assert names.references(DOCUMENT, at(line, word)) == []


def test_references_of_a_constant() -> None:
    found = lines_of(SPEC, at("constants:", "TR"))
    wanted = [3, 3, 13, 22, 24, 24, 25, 42, 55, 57, 58]
    assert found == wanted
    assert lines_of(SPEC, at("constants:", "TR"), declaration=False) == wanted[1:]


def test_values_of_other_regions_are_others() -> None:
    assert lines_of(SPEC, at("load: {into: t, from: x", "t")) == [24, 26, 26, 28]
    assert lines_of(SPEC, at("load: {into: t, from: tmp", "t")) == [40, 41]


def test_both_arms_bind_one_value() -> None:
    assert lines_of(SPEC, at("let: q", "p")) == [44, 45, 47, 48, 50]


def test_kinds_and_details() -> None:
    found = {b.name: (b.kind, b.detail) for b in names.index(DOCUMENT).bindings}
    assert found["TR"] == (Kind.CONSTANT, "= 64")
    assert found["M"] == (Kind.SYMBOL, "1..4096")
    assert found["eps"] == (Kind.SCALAR, "fp32")
    assert found["out"] == (Kind.TENSOR, "fp32 [M, TC] out")
    assert found["scaled"] == (Kind.FUNCTION, "(v, by) -> y")
    assert found["row"] == (Kind.NUMBER, "let: row = i * TR")
    assert found["k"][0] is Kind.NUMBER
    assert found["acc"][0] is Kind.TILE
    assert found["tmp"][0] is Kind.TENSOR
    assert found["first"][0] is found["done"][0] is Kind.REGION
    assert found["by"] == (Kind.ARGUMENT, "scalar")


# Scopes


def test_visible_inside_a_loop() -> None:
    found = visible(DOCUMENT, at("- store: {from: w", "from"))
    assert {"t", "row", "i", "z", "w", "x", "out", "tmp", "M", "TR", "eps", "ub", "scaled", "first"} <= set(found)
    assert not {"total", "acc", "v", "y"} & set(found)


def test_what_a_statement_binds_is_visible_behind_it() -> None:
    assert "row" not in visible(DOCUMENT, at("- let: row", "i"))
    assert "row" in visible(DOCUMENT, at("- let: t = t", "t"))


def test_a_value_ends_with_its_loop_and_its_region() -> None:
    assert not {"t", "next", "acc", "i"} & set(visible(DOCUMENT, at("- if: M", "M")))
    assert {"sum", "k", "total"} <= set(visible(DOCUMENT, at("- if: M", "M")))  # `k` has no other name behind the loop
    assert not {"sum", "p", "q"} & set(visible(DOCUMENT, at("sizes:", "M")))


def test_an_argument_hides_a_tensor() -> None:
    text = SPEC.replace("{v: {dtype", "{x: {dtype").replace("y = v * by", "y = x * by").replace("v: t", "x: t")
    document = open_document("a.yaml", text)
    assert visible(document, place(text, "let: y", "x"))["x"] == "argument"
    assert visible(document, place(text, "from: x", "x"))["x"] == "tensor"


LOOP = """\
program:
  - region: r
    body:
      - for: {index: i, count: 2}
        body:
          - full: {into: t, shape: [1, 8], value: 0, dtype: fp32}
%s
"""


@pytest.mark.parametrize(
    ("blanks", "inside"), [(14, True), (10, True), (8, False), (6, False)], ids=["deeper", "body", "loop", "region"]
)
def test_a_new_line_belongs_to_the_block_it_is_indented_for(blanks: int, inside: bool) -> None:
    lines = (" " * blanks, " " * blanks + "- le") if blanks != 8 else (" " * blanks,)
    for line in lines:
        text = LOOP % line
        document = open_document("a.yaml", text)
        assert ("t" in visible(document, len(text) - 1)) is inside
        assert ("i" in visible(document, len(text) - 1)) is inside


def test_one_arm_ends_its_names() -> None:
    text = SPEC.replace("          - let: p = sum * 3\n", "")
    unknown = names.index(open_document("a.yaml", text)).unknown
    assert [(u.text, text.count("\n", 0, u.start) + 1) for u in unknown if u.text == "p"] == [("p", 47), ("p", 49)]


def test_rebinding_in_an_arm_reaches_what_follows() -> None:
    text = LOOP % (
        "          - if: i == 0\n            then:\n              - let: t = t * 2\n          - let: u = t + 1"
    )
    found = names.definition(open_document("a.yaml", text), place(text, "let: u", "t"))
    assert shown(found) == f"{line_of(text, 'let: t')}:t"


def test_versions_are_one_name() -> None:
    text = LOOP % "          - exp: {into: t.1, x: t}\n          - exp: {into: u, x: t.1}"
    document = open_document("a.yaml", text)
    assert len(names.references(document, place(text, "into: u", "t.1"))) == 4
    assert shown(names.definition(document, place(text, "into: u", "t.1"))) == "7:t.1"
    assert shown(names.rename_span(document, place(text, "into: u", "t.1"))) == "8:t"


ALIASED = """\
constants: {T: 64}
tensors:
  x: &kind {dtype: fp32, shape: [T, 8]}
  y: *kind
program:
  - region: a
    body: &body
      - load: {into: t, from: x, at: [0, 0], shape: [T, 8]}
      - store: {from: t, to: y, at: [0, 0]}
  - region: b
    body: *body
"""


def test_an_anchor_is_edited_once() -> None:
    document = open_document("a.yaml", ALIASED)
    edits = names.rename(document, place(ALIASED, "into: t", "t"), "u")
    assert [ALIASED[e.start : e.end] for e in edits] == ["t", "t"]
    assert lines_of(ALIASED, place(ALIASED, "constants", "T")) == [1, 3, 8]


def test_the_offset_behind_a_name_is_in_it() -> None:
    start = at("constants:", "HALF")
    index = names.index(DOCUMENT)
    assert index.at(start) is index.at(start + 4) is not None
    assert index.at(start - 1) is None


def test_functions_that_are_formulas_take_words() -> None:
    for name, composite in COMPOSITES.items():
        for form in composite.forms:
            text = f"program:\n  - region: r\n    body:\n      - let: y = {name}(x, approximate={form})\n"
            assert [u.text for u in names.index(open_document("a.yaml", text)).unknown] == ["x"]


def test_the_index_is_made_once() -> None:
    assert names.index(DOCUMENT) is names.index(DOCUMENT)


TAKEN = """\
constants: {C: 4}
program:
  - region: r
    body:
      - for: {index: i, count: 2}
        body:
          - full: {into: t, shape: [i, 8], value: 0, dtype: fp32}
          - for: {index: i, count: C}
            body:
              - let: t = t + i
          - let: u = t * i
      - for: {index: C, count: 8}
        body:
          - full: {into: v, shape: [C, 8], value: 0, dtype: fp32}
"""


@pytest.mark.parametrize(
    ("anchor", "name", "wanted"),
    [
        ("index: i, count: 2", "i", ["index: i, count: 2", "[i, 8]", "* i"]),
        ("index: i, count: C", "i", ["index: i, count: C", "+ i"]),
        ("C: 4", "C", ["C: 4", "count: C"]),
        ("[C, 8]", "C", ["C, count: 8", "[C, 8]"]),
    ],
)
def test_an_index_whose_name_is_taken_is_another_thing(anchor: str, name: str, wanted: list[str]) -> None:
    """It has to get another name, which renaming gives to it alone."""
    document = open_document("a.yaml", TAKEN)
    spans = names.references(document, place(TAKEN, anchor, name))
    starts = [document.source.line_starts()[span.line - 1] + span.col - 1 for span in spans]
    assert starts == [place(TAKEN, one, name) for one in wanted]
    found = names.definition(document, place(TAKEN, wanted[-1], name))
    assert found is not None
    assert found.start == spans[0].start
