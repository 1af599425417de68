"""The reference of keywords and fields: complete, and what it says is true."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from pypto_spec.diagnostics.span import Source
from pypto_spec.ops.registry import OPS
from pypto_spec.spec.load import load
from pypto_spec.spec.models import extras, sections, structure
from pypto_spec.spec.models.keywords import default_table
from pypto_spec.spec.models.places import all_paths, find, first_keys
from pypto_spec.spec.models.reference import field_text, keyword_text, meanings, page_of, suggest_path

DOCS = Path(__file__).parents[2]
BLOCK = re.compile(r"```yaml\n(.*?)```", re.DOTALL)


def anchors(page: str) -> set[str]:
    heads = re.findall(r"^#+ (.+)$", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^a-z0-9_ -]", "", head.lower()).replace(" ", "-") for head in heads}


def test_every_field_of_the_language_has_a_text_and_a_meaning() -> None:
    for path in all_paths():
        place = find(path.split("."))
        assert place is not None and place.doc, f"{path} says nothing of itself"
        assert field_text(path), path


def test_every_word_of_every_field_has_a_meaning() -> None:
    silent = []
    for path in all_paths():
        place = find(path.split("."))
        assert place is not None
        if place.kind == "field":
            silent += [f"{path}: {word}" for word, text in meanings(place.schema).items() if not text]
    assert silent == ["spec: v1"]


@pytest.mark.parametrize("first", first_keys())
def test_every_page_exists(first: str) -> None:
    page, _, anchor = page_of(first).partition("#")
    assert anchor in anchors(page)


def test_every_example_can_be_read() -> None:
    for path in (*all_paths(), *(f"{key}" for key in first_keys())):
        text = field_text(path)
        assert text is not None
        for block in BLOCK.findall(text):
            load(Source("example.yaml", f"program:\n{block}" if block.startswith("-") else block), "yaml")


def test_a_keyword_says_what_its_definition_says() -> None:
    for name, defn in OPS.items():
        text = keyword_text(name)
        assert text is not None
        assert all(f"* `{field.name}` (" in text for field in defn.fields)
        assert "**Ascend C**" in text and "**pipe**" in text and "**dtypes**" in text
    for keyword in default_table():
        assert keyword_text(keyword.name)
    assert keyword_text("nothing") is None


def test_the_brief_form_leaves_out_the_recipe() -> None:
    whole, brief = keyword_text("exp"), keyword_text("exp", brief=True)
    assert whole is not None and brief is not None
    assert "Exp(into, x, 8192)" in whole and "Exp(into" not in brief and "`Exp`" in brief


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("tensors.anything.access", ("`tensors.NAME.access`", "**default**: `in`", "* `out`: ")),
        ("load.at", ("list of expressions", "**required**", "docs/ops.md#load")),
        ("program.0.body.3.load.at", ("`program.0.body.0.load.at`",)),
        ("target.planner", ("* `ptoas`: ", "target: {planner: ptoas}")),
        ("golden.tolerance", ("* `rtol` (number)",)),
        ("golden.sizes.2.M", ("integer",)),
        ("pipeline.stages", ("stages: 2",)),
        ("functions.f.args.x.dtype", ("`bf16`: ",)),
        ("carry.m.init", ("starts from",)),
        ("tensors", ("Keys of each:", "* `dtype`")),
        ("scalars.eps", ("`fp32`",)),
        ("constants.TR", ("integer",)),
        ("region.order", ("{swizzle: n}",)),
    ],
)
def test_paths(path: str, says: tuple[str, ...]) -> None:
    text = field_text(path)
    assert text is not None
    assert all(part in text for part in says), text


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("tensor.x.access", "tensors.x.access"),
        ("tensors.x.acess", "tensors.x.access"),
        ("load.form", "load.from"),
        ("lod", "load"),
        ("golden.tolerence", "golden.tolerance"),
    ],
)
def test_a_path_that_leads_nowhere_gets_near_ones(path: str, near: str) -> None:
    assert field_text(path) is None
    assert near in suggest_path(path)


@pytest.mark.parametrize("path", ["", ".", "..", "tensors..x.y.z", "load.at.0.0.0", "program.x", "a" * 10_000, "\0"])
def test_nonsense_is_no_path(path: str) -> None:
    field_text(path)
    suggest_path(path)


def test_all_literals_of_the_models_say_what_their_words_mean() -> None:
    for module in (sections, structure, extras):
        for name, annotated in vars(module).items():
            if name.endswith("Word"):
                words, said = get_args(annotated)
                assert set(get_args(words)) == set(said.words), name
