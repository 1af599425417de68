"""What the index knows comes from the models: a new field, keyword or operator needs no work here."""

from __future__ import annotations

from typing import Any, get_args, get_origin

import pytest
from pydantic import create_model

from pypto_spec.editor import names
from pypto_spec.editor.document import open_document
from pypto_spec.editor.model import Kind
from pypto_spec.ir.opdef import Field, FieldKind
from pypto_spec.ops.registry import OPS
from pypto_spec.spec.models.base import Model, Name
from pypto_spec.spec.models.extras import Extras
from pypto_spec.spec.models.fields import KINDS
from pypto_spec.spec.models.keywords import STRUCTURE, Keyword, default_table
from pypto_spec.spec.models.roles import fields_of, unmarked
from pypto_spec.spec.models.sections import DocumentModel

WRITTEN: dict[FieldKind, str] = {
    "bind": "bound",
    "tile": "tile",
    "tensor": "x",
    "ints": "[N, 2 * N]",
    "exprs": "[i, N]",
    "expr": "i * N",
    "condition": "i == N",
    "number": "N + 1",
    "format": '"at {i} of {N}"',
}
"""A value with names for each kind of field that has any."""
WORDS: frozenset[FieldKind] = frozenset({"flag", "dtype", "word", "text", "memory"})
NAMES = {"bound": 1, "tile": 1, "x": 1, "N": 1, "i": 1}


def models(model: type[Model], seen: set[type[Model]]) -> set[type[Model]]:
    """A model and those inside it."""
    if model not in seen:
        seen.add(model)
        for info in model.model_fields.values():
            for inner in _inside(info.annotation):
                models(inner, seen)
    return seen


def _inside(hint: Any) -> list[type[Model]]:
    if isinstance(hint, type) and issubclass(hint, Model):
        return [hint]
    return [found for part in get_args(hint) for found in _inside(part)] if get_origin(hint) is not None else []


def test_every_field_that_holds_a_name_says_which() -> None:
    table = default_table()
    tops: list[type[Model]] = [DocumentModel, Extras, *(table.model(k.name) for k in table if not k.reserved)]
    all_models = set[type[Model]]()
    for top in tops:
        models(top, all_models)
    assert len(all_models) > 60
    assert [field for model in all_models for field in unmarked(model)] == []


def test_a_field_without_a_mark_would_be_found() -> None:
    made: type[Model] = create_model("Made", __base__=Model, other=(dict[Name, int] | None, None), one=(Name, ...))
    assert unmarked(made) == ["Made.other", "Made.one"]


def test_every_kind_of_field_is_known() -> None:
    assert set(KINDS) - {"formula", "buffer"} == set(WRITTEN) | WORDS == set(get_args(FieldKind))


def _value(field: Field) -> str:
    if field.kind in WRITTEN:
        return WRITTEN[field.kind]
    return {"flag": "true", "dtype": "fp32", "memory": "vec"}.get(field.kind, field.words[0] if field.words else "w")


@pytest.mark.parametrize("name", OPS)
def test_every_field_of_an_operator(name: str) -> None:
    fields = ", ".join(f"{field.name}: {_value(field)}" for field in OPS[name].fields)
    text = f"""\
constants: {{N: 8}}
tensors: {{x: {{dtype: fp32, shape: [N]}}}}
buffers: {{ub: {{memory: vec}}}}
program:
  - region: r
    body:
      - full: {{into: tile, shape: [N], value: 0, dtype: fp32}}
      - for: {{index: i, count: 4}}
        body:
          - {name}: {{{fields}, buffer: ub, slot: i}}
"""
    index = names.index(open_document("a.yaml", text))
    at = text.index(f"- {name}:", text.index("count: 4"))
    found = [text[use.start : use.end] for use in index.uses if use.start > at]
    wanted = [word for field in OPS[name].fields for word in NAMES if word in _words(WRITTEN.get(field.kind, ""))]
    places = ["ub", "i"] if any(field.kind == "bind" for field in OPS[name].fields) else []
    assert sorted(set(found)) == sorted({*wanted, *places})
    assert [u.text for u in index.unknown if not u.word] == []


def _words(text: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in text).split()


EXAMPLES = {
    "region": ["exp"],
    "create_tensor": ["M", "N", "tmp"],
    "for": ["i"],
    "parallel": ["i"],
    "spmd": ["auto", "blk"],  # `auto` may be a name as well as the word, as far as the text alone says
    "pipeline": ["i"],
    "unroll": ["i"],
    "while": ["N", "k"],
    "break": [],
    "continue": [],
    "if": ["i"],
    "let": ["x", "y"],
    "call": ["normalise", "t", "x", "y"],
    "yield": ["m", "m.1"],
    "alloc": ["ub"],
    "set_flag": [],
    "wait_flag": [],
    "barrier": [],
}
"""The names in the example of each keyword that is no operator."""


@pytest.mark.parametrize("keyword", [k for k in STRUCTURE if not k.reserved], ids=lambda k: k.name)
def test_the_example_of_a_keyword(keyword: Keyword) -> None:
    text = f"program:\n  - region: r\n    body:\n      - {keyword.example}\n"
    index = names.index(open_document("a.yaml", text))
    at = text.index(f"- {keyword.example}")
    found = [text[u.start : u.stop] for u in index.uses if u.start > at] + [u.text for u in index.unknown]
    assert sorted(found) == EXAMPLES[keyword.name]


def test_sections_that_bind_names() -> None:
    bound = {name for name, plan in fields_of(DocumentModel).items() if plan.keys is not None}
    for section in bound:
        text = f"{section}:\n  one: {{}}\n  two: 2\n"
        index = names.index(open_document("a.yaml", text))
        assert [b.name for b in index.bindings] == ["one", "two"], section
        assert index.bindings[0].kind in Kind
    assert bound == {"constants", "symbols", "scalars", "tensors", "buffers", "functions"}
