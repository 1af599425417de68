"""What fixes write where a field has no value, or one of another type."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import PurePath
from typing import Any, Final

from pypto_spec.diagnostics.model import Fix
from pypto_spec.spec.core_schema import resolve_plain
from pypto_spec.spec.flow import quoted
from pypto_spec.spec.models.base import Model
from pypto_spec.spec.tree import KeyNode, Node, ScalarNode

_UNQUOTED: Final[Mapping[str, tuple[type, ...]]] = {
    "bool_type": (bool,),
    "bool_parsing": (bool,),
    "int_type": (int,),
    "int_parsing": (int,),
    "float_type": (int, float),
    "float_parsing": (int, float),
}
"""Errors of values in quotes, with the types that they have without."""


@lru_cache(maxsize=256)
def schema_of(model: type[Model]) -> dict[str, Any]:
    """The JSON Schema of a model. Shared: not to be changed."""
    return model.model_json_schema()


def first_value(schema: Mapping[str, Any], key: str, file: str) -> object:
    """A value for a required key that nobody wrote: of words the first, of a program the name of its file."""
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    if key == "name":
        word = re.sub(r"[^A-Za-z0-9_]+", "_", PurePath(file).stem).strip("_")
        return word if re.match(r"[A-Za-z_][A-Za-z0-9_]{0,99}\Z", word) else "kernel"
    return {"index": "i", "id": 0}.get(key)


def retyped(kind: str, place: Node) -> Iterator[Fix]:
    """The same value as another type: in brackets, in quotes, or without them."""
    if not isinstance(place, ScalarNode) or place.value is None or place.style in ("|", ">"):
        return
    start, end = place.start, place.end
    raw = place.source.text[start:end]
    if kind in ("tuple_type", "list_type"):
        yield Fix(place.span, f"[{raw}]")
    elif kind == "string_type" and not isinstance(place.value, str):
        yield Fix(place.span, quoted(raw))
    elif kind in _UNQUOTED and isinstance(place.value, str) and len(place.style.lstrip("=")) == 1:
        value = resolve_plain(place.value) if len(place.value) < 20 else None
        if isinstance(value, _UNQUOTED[kind]) and (_UNQUOTED[kind] == (bool,) or not isinstance(value, bool)):
            yield Fix(place.span, place.value, safe=True)


def as_let(node: ScalarNode) -> Iterator[Fix]:
    """A formula among statements as a `let`."""
    start, end = node.start, node.end
    text = node.source.text
    if node.via or node.style:
        return
    line = text[max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1 : start]
    if line.strip(" ") == "-":
        yield Fix(node.span.part(start, start), "let: ", safe=True)
    else:
        yield Fix(node.span, f"{{let: {quoted(text[start:end])}}}", safe=True)


def apart(second: KeyNode) -> Iterator[Fix]:
    """A second keyword of a block mapping as a statement of its own: the blanks before it become a dash."""
    text, at = second.source.text, second.start
    line = text[max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1 : at]
    if not second.via and len(line) > 1 and not line.strip(" "):
        yield Fix(second.span.part(at - 2, at), "- ", title=f"make `{second.text}` a statement of its own")
