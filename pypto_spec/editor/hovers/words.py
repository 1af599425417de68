"""Words of the language: keywords, fields, what fields may hold, functions of formulas, codes of diagnostics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args, get_type_hints

from pypto_spec.convert.function_reference import function_text
from pypto_spec.diagnostics.pages import find_rule
from pypto_spec.editor.cursor import Leaf
from pypto_spec.ir.dtype import DTYPES
from pypto_spec.ops.reference import let_forms
from pypto_spec.ops.registry import OPS
from pypto_spec.spec.models.base import Codes, Model
from pypto_spec.spec.models.extras import Extras
from pypto_spec.spec.models.places import Place, find
from pypto_spec.spec.models.reference import keyword_text, meanings, place_text
from pypto_spec.spec.models.sections import DiagnosticsSpec
from pypto_spec.spec.tree import ScalarNode


def _of_codes(model: type[Model]) -> Iterator[str]:
    own = get_args(Codes)[-1]
    for name, hint in get_type_hints(model, include_extras=True).items():
        if any(mark is own for mark in getattr(hint, "__metadata__", ())):
            yield name


CODES = frozenset(name for model in (Extras, DiagnosticsSpec) for name in _of_codes(model))
"""Keys whose values are codes of diagnostics."""


def place_of(leaf: Leaf) -> Place | None:
    """The place of the language that a key or value stands at."""
    return find(leaf.field or leaf.path)


def reference_text(leaf: Leaf) -> str:
    """The reference of a keyword or of another key; empty for names of the author's."""
    if leaf.statement is not None and leaf.node is leaf.statement.key:
        return _smaller(keyword_text(leaf.statement.keyword, brief=True) or "")
    place = place_of(leaf)
    return "" if place is None or place.kind == "name" else _smaller(place_text(place))


def _smaller(text: str) -> str:
    """The reference with its title as a heading that suits a small window."""
    return f"##{text}" if text.startswith("# ") else text


def word_text(leaf: Leaf) -> str:
    """What a word in a field means; empty where the field takes no words, or not this one."""
    if not isinstance(leaf.node, ScalarNode):
        return ""
    word = leaf.node.text
    if any(step in CODES for step in (leaf.field or leaf.path)):
        return code_text(word)
    place = place_of(leaf)
    known = meanings(place.schema) if place is not None else {}
    if word not in known:
        return ""
    assert place is not None
    if word in DTYPES and set(known) <= set(DTYPES):
        return dtype_text(word)
    said = known[word]
    key = next((step for step in reversed(place.path) if step != "0"), "")
    return f"`{word}`" + (f": {said}" if said else "") + f"\n\n`{key}`: {place.doc}"


def dtype_text(word: str) -> str:
    """A data type."""
    dtype = DTYPES[word]
    kind = {"float": "floating point", "int": "signed integer", "uint": "unsigned integer"}[dtype.kind]
    return f"**dtype** `{word}`: {kind}, {dtype.bytes} B, `{dtype.cpp}` in Ascend C; {dtype.block} elements in 32 B"


def code_text(word: str) -> str:
    """A diagnostic by its code or name."""
    rule = find_rule(word)
    if rule is None:
        return ""
    return f"`{rule.code}` ({rule.name}), {rule.severity.value}: {rule.summary}\n\n`pypto-spec explain {rule.code}`"


def called_text(name: str) -> str:
    """A function of formulas: how it is written and what it gives; empty where there is none of that name."""
    return _smaller(function_text(name) or "")


def sign_text(sign: str) -> str:
    """An infix sign that tiles may stand beside; empty for others."""
    found = [defn for defn in OPS.values() if defn.infix == sign]
    return "\n".join(f"* `{form}`: {d.doc}" for d in found for form in let_forms(d) if form.find(sign) > 0)
