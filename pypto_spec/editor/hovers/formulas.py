"""Places inside formulas: which part an offset is in, and what facts say of a stretch."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_spec.editor.cursor import Leaf
from pypto_spec.editor.facts.model import At, Facts, PartFacts
from pypto_spec.editor.hovers.words import called_text, dtype_text, sign_text
from pypto_spec.editor.names.formulas import Part, Places, parts
from pypto_spec.ir.dtype import DTYPES
from pypto_spec.ops.registry import function
from pypto_spec.spec.tree import ScalarNode

Stretch = tuple[int, int]


def part_at(leaf: Leaf, at: int) -> tuple[Part, Stretch] | None:
    """The part of a formula that an offset is in, with its offsets in the file."""
    node = leaf.node
    if not isinstance(node, ScalarNode) or not isinstance(node.value, str):
        return None
    places = Places(node)
    for part in parts(node.text, let=leaf.field == ("let",)) if places.known else ():
        start, end = places.of(part.start, part.end)
        if start <= at < end:
            return part, (start, end)
    return None


def part_text(part: Part) -> str:
    """What is known of a part that is no name of the spec; empty where nothing is."""
    if part.kind == "function":
        return called_text(part.text)
    if part.kind == "keyword":
        return _argument(part)
    if part.text in DTYPES:
        return dtype_text(part.text)
    return sign_text(part.text) if part.kind == "sign" else ""


def _argument(part: Part) -> str:
    for defn in function(part.function):
        for field in defn.fields:
            if field.name == part.text:
                return f"`{part.text}` of `{part.function}`: {field.doc}"
    return ""


def stretches(facts: Facts, at: At, leaf: Leaf, offset: int) -> Iterator[tuple[PartFacts, Stretch, Stretch]]:
    """What is known of the stretches around an offset, the shortest first, with their offsets in text and file."""
    node = leaf.node
    if not isinstance(node, ScalarNode):
        return
    places = Places(node)
    if not places.known:
        return
    found = []
    for (statement, start, end), part in facts.parts.items():
        if statement == at and 0 <= start < end <= len(node.text):
            low, high = places.of(start, end)
            if low <= offset <= high:
                found.append((end - start, part, (start, end), (low, high)))
    for _, part, text, file in sorted(found, key=lambda item: item[0]):
        yield part, text, file
