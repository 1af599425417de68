"""What is put in for a key or a statement: its text with places to fill in, in the style of the text around it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from pypto_spec.editor.complete.shapes import (
    Codes,
    Fields,
    Formula,
    Items,
    Key,
    Keys,
    Name,
    Shape,
    Shapes,
    Statement,
    Statements,
    Table,
    Text,
    Truth,
    Words,
    keys_of,
)
from pypto_spec.editor.complete.spot import of_keyword
from pypto_spec.records import dataclass
from pypto_spec.spec.models.base import Model
from pypto_spec.spec.models.keywords import Keyword, default_table

Style: TypeAlias = Literal["block", "flow", "table", "inline"]
"""YAML by lines or in brackets; TOML by lines or in brackets."""

TOML: frozenset[Style] = frozenset({"table", "inline"})
END = "$0"


@dataclass(frozen=True, slots=True)
class Snippet:
    """A text to put in; where `plain` holds, it has no places to fill in."""

    text: str
    plain: bool = False


def escaped(text: str) -> str:
    """A text that stands for itself in a snippet."""
    return text.replace("\\", "\\\\").replace("$", "\\$").replace("}", "\\}")


class Writer:
    """Writes one snippet; its places are numbered as they come."""

    def __init__(self, style: Style) -> None:
        self.style = style
        self.toml = style in TOML
        self.sign = " = " if self.toml else ": "
        self.count = 0

    def stop(self, text: str = "") -> str:
        """A place to fill in."""
        self.count += 1
        return f"${{{self.count}:{escaped(text)}}}" if text else f"${{{self.count}}}"

    def quoted(self, text: str) -> str:
        """A text that is a string in TOML."""
        return f'"{text}"' if self.toml else text

    def field(self, key: Key, example: bool = True) -> str:
        """A key with a value, on one line."""
        return f"{key.name}{self.sign}{self.value(key.shapes, _hint(key) if example else '')}"

    def value(self, shapes: Shapes, hint: str = "") -> str:
        """A value of the first of some forms, on one line."""
        shape: Shape = shapes[0] if shapes else Text()
        if isinstance(shape, Words):
            return self.quoted(
                self.stop(shape.default or shape.words[0][0]) if len(shape.words) > 1 else shape.words[0][0]
            )
        if isinstance(shape, Truth):
            return self.stop("false" if shape.default == "true" else "true")
        if isinstance(shape, Formula) and shape.grammar == "let":
            return self.quoted(f"{self.stop('y')} = {self.stop()}")
        if isinstance(shape, Name):
            return self.quoted(self.stop(hint or ("tile" if shape.names == "bind" else "")))
        if isinstance(shape, Formula | Codes):
            return self.quoted(self.stop())
        if isinstance(shape, Text):
            return self.stop("1") if shape.number else self.quoted(self.stop())
        if isinstance(shape, Items):
            if shape.alone:
                return self.value(shape.item, hint)
            inner = shape.item[0] if shape.item else None
            return f"[{self.value(shape.item) if isinstance(inner, Fields | Table) else self.stop()}]"
        if isinstance(shape, Fields):
            return self.mapping(shape.model)
        if isinstance(shape, Keys):
            return self.braces([f"{shape.keys[0]}{self.sign}{self.stop()}"])
        if isinstance(shape, Table):
            return self.braces([self.stop()])
        return f"[{self.stop()}]"

    def braces(self, parts: list[str]) -> str:
        """A mapping on one line."""
        text = ", ".join(parts)
        return f"{{ {text} }}" if self.toml else f"{{{text}}}"

    def mapping(self, model: type[Model], without: frozenset[str] = frozenset()) -> str:
        """A mapping with the fields that must be there."""
        parts = [self.field(key) for key in needed(model) if key.name not in without]
        return self.braces(parts or [self.stop()])

    def held(self, keyword: Keyword) -> str:
        """What a keyword holds."""
        if keyword.bare:
            return "{}"
        if keyword.scalar is not None:
            return self.value(tuple(of_keyword(keyword)), keyword.scalar if keyword.scalar == "name" else "")
        return self.mapping(default_table().model(keyword.name))

    def statement(self, keyword: Keyword, indent: int) -> str:
        """A whole statement; in YAML by lines its block is indented from the column `indent`, relative to the line."""
        head = f"{keyword.name}{self.sign}{self.held(keyword)}"
        for block in keyword.needs:
            if self.style == "block":
                blanks = " " * indent
                head += f"\n{blanks}{block}:\n{blanks}  - {END}"
            elif self.style == "table":
                head += f"\n{block} = [\n  {END}\n]"
            else:
                head += f", {block}{self.sign}[{END}]"
        return head

    def key(self, key: Key, indent: int) -> str:
        """A key with its value, over several lines where that is how it is written."""
        shape = key.shapes[0] if key.shapes else None
        if self.style == "block" and isinstance(shape, Statements | Table | Fields):
            blanks = " " * (indent + 2)
            return f"{key.name}:\n{blanks}{'- ' if isinstance(shape, Statements) else ''}{END}"
        return self.field(key)


def needed(model: type[Model]) -> Iterator[Key]:
    """The keys that a mapping must have, and the first of those of which it must have one."""
    keys = keys_of(model)
    yield from (key for key in keys.values() if key.required)
    chosen = next((key for key in keys.values() if key.chosen), None)
    if chosen is not None:
        yield chosen


def _hint(key: Key) -> str:
    """What a new name may be called."""
    examples = key.field.examples if key.field is not None else None
    first = examples[0] if examples else None
    shapes = key.shapes[0] if key.shapes else None
    if isinstance(shapes, Items) and shapes.alone:
        shapes = shapes.item[0]
    new = isinstance(shapes, Name) and shapes.names is None
    return (first if isinstance(first, str) and first.isidentifier() else key.name) if new else ""


def is_statement(shape: Shape) -> bool:
    """Whether it is one of the forms that hold keywords."""
    return isinstance(shape, Statement | Statements)
