"""What is said of a proposal, in Markdown: from the models and the registry."""

from __future__ import annotations

from functools import lru_cache

from pypto_spec.editor.complete.functions import Function
from pypto_spec.editor.complete.shapes import (
    Codes,
    Fields,
    Formula,
    Items,
    Key,
    Keys,
    Name,
    Shape,
    Statements,
    Table,
    Truth,
    Words,
)
from pypto_spec.spec.models.keywords import Keyword
from pypto_spec.spec.models.places import find
from pypto_spec.spec.models.reference import keyword_text, place_text


@lru_cache(maxsize=1024)
def keyword_doc(keyword: Keyword) -> str:
    """What a keyword does, with an example and its fields."""
    return keyword_text(keyword.name, brief=True) or sentence(keyword.doc)


def key_doc(key: Key, path: tuple[str, ...] = ()) -> str:
    """What a key is for; `path` is the place of its mapping in the reference."""
    text = _at((*path, key.name)) or _at((key.name,)) if path or key.field is not None else None
    if text is not None:
        return text
    examples = key.field.examples if key.field is not None else None
    shown = f"\n\nFor example: {', '.join(f'`{_written(example)}`' for example in examples)}" if examples else ""
    return sentence(key.doc) + shown


@lru_cache(maxsize=4096)
def _at(path: tuple[str, ...]) -> str | None:
    place = find(path)
    return place_text(place) if place is not None else None


def _written(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_written(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_written, value)) + "]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def function_doc(function: Function) -> str:
    """What a function computes, with its arguments."""
    lines = [f"- `{p.text}`: {p.doc}" for p in function.params if p.doc]
    return "\n\n".join(part for part in (sentence(function.doc), "\n".join(lines)) if part)


def sentence(text: str) -> str:
    """A text with a capital in front and a full stop behind."""
    text = text.strip()
    if not text:
        return ""
    head = text[:1].upper() + text[1:] if text[:2].isalpha() and text[:2].islower() else text
    return head if head.endswith(".") else f"{head}."


def detail_of(key: Key) -> str:
    """What a key holds, in short."""
    kinds = " or ".join(dict.fromkeys(filter(None, map(_kind, key.shapes))))
    if key.required:
        return f"{kinds}, required" if kinds else "required"
    return f"{kinds} = {key.default}" if key.default else kinds


def _kind(shape: Shape) -> str:
    if isinstance(shape, Words):
        words = [word for word, _ in shape.words]
        return " | ".join(words) if len(words) < 4 else " | ".join([*words[:3], "..."])
    if isinstance(shape, Items):
        inner = _kind(shape.item[0]) if shape.item else ""
        return f"list of {inner}s" if inner.isalpha() and inner != "list" else "list"
    return _KINDS.get(type(shape), "")


_KINDS: dict[type, str] = {
    Truth: "true | false",
    Formula: "expression",
    Name: "name",
    Codes: "code",
    Table: "mapping",
    Fields: "mapping",
    Keys: "mapping",
    Statements: "statements",
}
