"""What is said under the cursor, at representative places, in half-typed texts, and with facts of another text."""

from __future__ import annotations

import re
from random import Random

import pytest
from syrupy.assertion import SnapshotAssertion

from pypto_spec.editor.document import Document, open_document
from pypto_spec.editor.facts import Facts
from pypto_spec.editor.hover import hover
from pypto_spec.editor.inlays import inlays
from pypto_spec.ops.registry import OPS, functions
from pypto_spec.spec.models.keywords import default_table
from tests.editor.compiled import GALLERY, facts, gallery, place

SOFTMAX = "specs/pipelines/softmax_rows_pipelined.yaml"
PLACES = {
    "tile_bound_by_load": (SOFTMAX, "into: |t,"),
    "tile_bound_by_let": (SOFTMAX, "let: |e ="),
    "tile_in_a_formula": (SOFTMAX, "exp(|t - row_max"),
    "tile_in_a_field": (SOFTMAX, "from: |y"),
    "function_in_a_formula": (SOFTMAX, "|row_sum(e)"),
    "sign_in_a_formula": (SOFTMAX, "t |- row_max"),
    "tensor": (SOFTMAX, "from: |x"),
    "symbol": (SOFTMAX, "shape: [|M, C]"),
    "constant": (SOFTMAX, 'count: "ceil_div(M, |TR)'),
    "index": (SOFTMAX, "at: [|i * TR"),
    "keyword_of_a_pipeline": (SOFTMAX, "- |pipeline:"),
    "keyword_let": (SOFTMAX, "- |let: y"),
    "region": (SOFTMAX, "region: |softmax"),
    "field": (SOFTMAX, "|stages: 2"),
    "access_word": (SOFTMAX, "access: |out"),
    "dtype_word": (SOFTMAX, "dtype: |fp32"),
    "array_in_pieces": ("specs/vector/softmax_rows.yaml", "let: |e ="),
    "buffer_with_slots": ("specs/vector/two_slots.yaml", "  |ub: {"),
    "tile_in_slots": ("specs/vector/two_slots.yaml", "x: |t}"),
    "product": ("specs/cube/matmul_grid_bf16.yaml", "- |matmul:"),
    "turned_into_a_row": ("specs/norms/layernorm.yaml", "let: |var ="),
    "carried": ("specs/reductions/long_sum.yaml", "= |total + row_sum"),
    "function": ("specs/norms/gated_layernorm.yaml", "function: |normalise"),
    "called": ("specs/norms/gated_layernorm.yaml", "into: |n}"),
    "variants": ("specs/vector/axpy_variants.yaml", "let: |s ="),
    "constant_of_variants": ("specs/vector/axpy_variants.yaml", "count: R // |TR"),
    "pipeline_of_variants": ("specs/pipelines/exp_planners.yaml", "- |pipeline"),
    "toml_tile": ("specs/vector/square.toml", 'from = "|y"'),
    "toml_formula": ("specs/vector/square.toml", '"out_t = x |* x" }'),
}


def _text(document: Document, at: int, found: Facts | None) -> str | None:
    answer = hover(document, at, found)
    if answer is None:
        return None
    span = answer.span
    shown = document.source.line(span.line)[span.col - 1 : span.end_col - 1]
    return f"over `{shown}`\n\n{answer.text}\n"


@pytest.mark.parametrize("name", PLACES)
def test_texts(name: str, snapshot: SnapshotAssertion) -> None:
    file, mark = PLACES[name]
    document = gallery(file)
    assert _text(document, place(document, mark), facts(document)) == snapshot


def test_without_facts_the_registry_and_the_text_are_known() -> None:
    document = gallery(SOFTMAX)
    assert "Copy a window of a tensor" in (_text(document, place(document, "- |load:"), None) or "")
    assert "`TR` = `32`" in (_text(document, place(document, "[i * |TR"), None) or "")
    assert "**tile** `t`" in (_text(document, place(document, "into: |t"), None) or "")
    assert "fp32 [M, C]" in (_text(document, place(document, "from: |x"), None) or "")


@pytest.mark.parametrize("name", GALLERY)
def test_addresses_and_bytes_of_every_tile_are_said(name: str) -> None:
    document = gallery(name)
    found = facts(document)
    starts = document.source.line_starts()
    seen = 0
    for (at, tile_name), tile in found.tiles.items():
        binding = re.compile(rf"\b(?:into|let)\b[^A-Za-z_]*{re.escape(tile_name)}")
        bound = binding.search(document.source.text, starts[at[0] - 1])
        assert bound is not None
        text = _text(document, bound.end() - len(tile_name), found) or ""
        assert f"{tile.level}** `{tile_name}`: `{tile.type}`" in text
        spot = max(tile.spots, key=lambda spot: (spot.type == tile.type, spot.bytes))
        assert f"`{spot.memory}`, {spot.bytes:,} B" in text
        assert f"`{min(low for low, _ in spot.ranges):,}`" in text
        seen += 1
    assert seen == len(found.tiles)


@pytest.mark.parametrize("keyword", [k.name for k in default_table()])
def test_every_keyword_has_a_text(keyword: str) -> None:
    document = open_document("x.yaml", f"spec: v1\nprogram:\n  - region: r\n    body:\n      - {keyword}: {{}}\n")
    text = _text(document, place(document, f"- |{keyword}:"), None) or ""
    assert text.startswith(f"over `{keyword}`") and default_table().keywords[keyword].doc[:20].lower() in text.lower()


@pytest.mark.parametrize("name", functions())
def test_every_function_has_a_text(name: str) -> None:
    document = open_document("x.yaml", f"program:\n  - region: r\n    body:\n      - let: y = {name}(x)\n")
    text = _text(document, place(document, f"= |{name}"), None) or ""
    assert text.startswith(f"over `{name}`") and any(f"`{d.name}`" in text for d in OPS.values())


CODES = """\
spec: v1
name: 指数
about: 指数、行ごと # 説明
diagnostics: {disable: [PH-MR-001]}
tensors:
  x:   {dtype: fp32, shape: [16, 64]}
  out: {dtype: fp32, shape: [16, 64], access: out}
program:
  - region: r
    body:
      - {load: {into: t, from: x, at: [0, 0], shape: [16, 64]}, x-note: "読み込み", allow: [PH001]} # 読む
      - {x-note: 計算, let: y = exp(t)}
      - store: {from: y, to: out, at: [0, 0]}
"""


def test_codes_of_diagnostics_are_explained() -> None:
    document = open_document("x.yaml", CODES)
    assert "pipeline-depth" in (_text(document, place(document, "[|PH-MR-001"), None) or "")


def test_wide_characters_in_front_do_not_move_it() -> None:
    document = open_document("x.yaml", CODES.replace("name: 指数", "name: e"))
    text = _text(document, place(document, "計算, let: |y"), facts(document)) or ""
    assert text.startswith("over `y`") and "`vec`, 4,096 B" in text


@pytest.mark.parametrize("name", [SOFTMAX, "specs/vector/square.toml", "specs/norms/gated_layernorm.yaml"])
def test_no_offset_of_any_beginning_of_a_text_raises(name: str) -> None:
    whole = gallery(name)
    found, random = facts(whole), Random(6)
    text = whole.source.text
    for _ in range(150):
        cut = random.randrange(len(text) + 1)
        lost = random.randrange(0, 12)
        document = open_document(name, text[:cut] + text[cut + lost :] if random.random() < 0.5 else text[:cut])
        length = len(document.source.text)
        for at in (0, length, cut if cut <= length else length, random.randrange(length + 1)):
            hover(document, at, found)
            hover(document, at, None)
        inlays(document, found, 0, length)


def test_a_changed_statement_has_no_facts_and_the_others_keep_theirs() -> None:
    whole = gallery(SOFTMAX)
    found = facts(whole)
    document = open_document(SOFTMAX, whole.source.text.replace("row_max(t))", "row_max(t)\n            + 1)"))
    changed = _text(document, place(document, "let: |e"), found) or ""
    assert "tile" in changed and "32,768" not in changed
    kept = _text(document, place(document, "into: |t"), found) or ""
    assert "32,768 B" in kept and "lives in line 19" in kept  # it ended in a line that is not what it was
    assert "`y` (line 22)" in kept and "`e`" not in kept


def test_a_statement_that_was_put_in_has_no_facts() -> None:
    whole = gallery(SOFTMAX)
    line = "          - let: e = exp(t - row_max(t))\n"
    document = open_document(SOFTMAX, whole.source.text.replace(line, line + "          - let: z = e * 2\n"))
    assert "B" not in (_text(document, place(document, "let: |z"), facts(whole)) or "").partition("z")[2]
    assert "32,768 B" in (_text(document, place(document, "let: |y"), facts(whole)) or "")
