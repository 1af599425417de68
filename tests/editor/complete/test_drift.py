"""Nothing of the language has to be told to completion: all of it, and what is new in it, is proposed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Annotated, Literal, get_args

import pytest
from pydantic import Field

from pypto_spec.convert.exprs import FUNCTIONS as SIZE_FUNCTIONS
from pypto_spec.editor.complete import grammars, shapes
from pypto_spec.editor.complete.shapes import Formula, Items, Key, Name, Table, Words, keys_of
from pypto_spec.ir.opdef import Field as OpField
from pypto_spec.ops import registry
from pypto_spec.ops.registry import OPS
from pypto_spec.spec.formula.integer import FUNCTION_DOCS
from pypto_spec.spec.formula.integer import FUNCTIONS as CONSTANT_FUNCTIONS
from pypto_spec.spec.models import extras, fields, sections, structure
from pypto_spec.spec.models.base import Model
from pypto_spec.spec.models.keywords import Keyword, default_table
from tests.editor.complete.asking import BODY, HEAD, call, item, labels

S = HEAD + BODY


@pytest.fixture
def new_op() -> Iterator[None]:
    """An operator that nobody has heard of, with a field of words of its own."""
    base = OPS["exp"]
    word = OpField(name="grade", kind="word", doc="how well it is done", required=False, words=("coarse", "fine"))
    made = dataclasses.replace(
        base,
        name="polish",
        function="polished",
        fields=(*base.fields, word),
        doc="make it shine",
        example="- polish: {into: y, x: t}",
    )
    known, functions, forms = dict(registry._OPS), dict(registry._FUNCTIONS), dict(registry._FORMS)
    registry.define(made)
    default_table.cache_clear()
    yield
    for table, before in ((registry._OPS, known), (registry._FUNCTIONS, functions), (registry._FORMS, forms)):
        table.clear()
        table.update(before)  # type: ignore[arg-type]
    default_table.cache_clear()


@pytest.mark.usefixtures("new_op")
def test_a_new_operator_is_proposed() -> None:
    assert "polish" in labels(S + "- |")
    assert item(S + "- |", "polish").edit.text == "polish: {into: ${1:tile}, x: ${2}}"
    assert labels(S + "- polish: {|")[:3] == ["into", "x", "grade"]
    assert labels(S + "- polish: {x: |") == ["t"]
    assert labels(S + "- polish: {grade: |") == ["coarse", "fine"]
    assert "polished" in labels(S + "- let: y = |")
    assert labels(S + "- let: y = polished(t, |") == ["coarse", "fine", "grade="]
    found = call(S + "- let: y = polished(t, |")
    assert found is not None
    assert (found.text, found.active) == ("polished(x, grade=...)", 1)


class Speed(Model):
    """A section that nobody has heard of."""

    gear: Annotated[Literal["low", "high"], Field(description="how fast")]
    laps: Annotated[int, Field(description="how often")] = 1


def test_new_keys_and_words_are_proposed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Document(sections.DocumentModel):
        speed: Annotated[Speed | None, Field(description="how it is driven")] = None

    monkeypatch.setattr("pypto_spec.editor.complete.spot.DOCUMENT", (shapes.Fields(Document),))
    assert "speed" in labels("|")
    assert labels("speed: {|") == ["gear", "laps"]
    assert labels("speed: {gear: |") == ["low", "high"]
    assert item("speed: {|", "laps").detail.endswith("= 1")


def test_a_new_keyword_is_proposed(monkeypatch: pytest.MonkeyPatch) -> None:
    table = default_table()
    made = Keyword("race", table.keywords["for"].planes, "Drives.", lambda: Speed, blocks=("body",), needs=("body",))
    monkeypatch.setitem(table.keywords, "race", made)
    assert item(S + "- |", "race").edit.text == "race: {gear: ${1:low}}\n  body:\n    - $0"
    assert labels(S + "- race: {gear: low}\n" + BODY + "  |")[0] == "body"
    assert labels(S + "- race: {gear: |") == ["low", "high"]


def _shown(keys: dict[str, Key]) -> set[str]:
    return {key.name for key in keys.values() if not key.dumps}


@pytest.mark.parametrize("keyword", [k for k in default_table() if not k.reserved], ids=lambda k: k.name)
def test_every_field_of_every_keyword_is_proposed(keyword: Keyword) -> None:
    model = default_table().model(keyword.name)
    plane = "execution" if "execution" in keyword.planes else "control"
    start = S if plane == "execution" else HEAD + "  "
    own = _shown({name: key for name, key in keys_of(model).items() if name not in keyword.options})
    if keyword.fields:
        assert set(labels(f"{start}- {keyword.name}: {{|")) == own
    for name in own if keyword.fields else ():
        for words in _words(keys_of(model)[name]):
            assert set(words) <= set(labels(f"{start}- {keyword.name}: {{{name}: |"))
    beside = _shown({n: k for n, k in keys_of(extras.Extras).items() if n in keyword.extras})
    beside |= _shown({n: k for n, k in keys_of(model).items() if n in keyword.options}) | set(keyword.blocks)
    indent = " " * (len(start) - len(start.rstrip(" ")))
    assert set(labels(f"{start}- {keyword.name}: 1\n{indent}  |")) == beside


def _words(key: Key) -> Iterator[list[str]]:
    for shape in key.shapes:
        if isinstance(shape, Words):
            yield [word for word, _ in shape.words]


def _models() -> dict[str, type[Model]]:
    found = {}
    for module in (sections, structure, extras, fields):
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, Model):
                found[value.__name__] = value
    return found


def test_every_grammar_is_that_of_a_field() -> None:
    models = _models()
    for name in (*grammars.GRAMMARS, *grammars.STATEMENTS, *grammars.SHORT):
        model, _, key = name.partition(".")
        assert model in models, name
        assert not key or key in keys_of(models[model]), name


NEW_NAMES = {
    "Alloc.buffer", "Carried.name", "CreateTensor.into", "DocumentModel.name", "For.index", "FunctionSpec.args",
    "Parallel.index", "Pipeline.index", "Region.as", "Region.kernel", "Region.name", "Spmd.index", "Unroll.index",
}  # fmt: skip
"""Fields whose name is made there, so that nothing is proposed. Others are marked with what they name."""


def test_every_field_with_a_name_says_what_it_names() -> None:
    found = set()
    for model in _models().values():
        for key in keys_of(model).values():
            for shape in key.shapes:
                inner = shape.item if isinstance(shape, Items) else (shape,)
                if any(isinstance(s, Name) and s.names is None for s in inner):
                    found.add(f"{model.__name__}.{key.name}")
    assert found == NEW_NAMES


def test_every_kind_of_names_and_grammar_is_used() -> None:
    names, used = set(), set()
    models = [*_models().values(), *(default_table().model(name) for name in OPS)]
    for shape in (s for model in models for key in keys_of(model).values() for s in _all(key.shapes)):
        if isinstance(shape, Name):
            names.add(shape.names)
        elif isinstance(shape, Table):
            names.add(shape.keys)
        elif isinstance(shape, Formula):
            used.add(shape.grammar)
    assert names - {None} == set(get_args(grammars.Names))
    assert used == set(get_args(grammars.Grammar))


def _all(found: tuple[shapes.Shape, ...]) -> Iterator[shapes.Shape]:
    for shape in found:
        yield shape
        yield from _all(shape.item if isinstance(shape, Items) else shape.value if isinstance(shape, Table) else ())


def test_every_function_of_sizes_and_constants_is_explained() -> None:
    assert set(FUNCTION_DOCS) == {*SIZE_FUNCTIONS, *CONSTANT_FUNCTIONS}


def test_every_function_of_a_let_is_proposed() -> None:
    assert set(registry.functions()) <= set(labels(S + "- let: y = t + |"))
