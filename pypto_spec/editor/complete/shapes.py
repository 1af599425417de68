"""What a value may be, read off the models: the forms that completion tells apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from pypto_spec.editor.complete.grammars import SHORT, STATEMENTS, Grammar, Names, grammar_of, keys_named, names_of
from pypto_spec.records import dataclass
from pypto_spec.spec.models.base import (
    NAME_PATTERN,
    VALUE_PATTERN,
    Model,
    one_as_list,
    read_blocks,
    read_counts,
    read_expression,
    read_let,
)
from pypto_spec.spec.models.keywords import Plane
from pypto_spec.spec.models.marks import Role
from pypto_spec.spec.models.sections import as_platform
from pypto_spec.spec.models.words import DESCRIPTIONS, Meanings


@dataclass(frozen=True, slots=True)
class Words:
    """One of some words, each with its meaning (empty where nothing says it)."""

    words: tuple[tuple[str, str], ...]
    default: str = ""


@dataclass(frozen=True, slots=True)
class Truth:
    """`true` or `false`."""

    default: str = ""


@dataclass(frozen=True, slots=True)
class Formula:
    """An expression."""

    grammar: Grammar


@dataclass(frozen=True, slots=True)
class Name:
    """A name of the spec; one that is made here where `names` is empty."""

    names: Names | None


@dataclass(frozen=True, slots=True)
class Codes:
    """A diagnostic code."""


@dataclass(frozen=True, slots=True)
class Text:
    """Anything: nothing is proposed. `number` for what is no text in TOML."""

    number: bool = False


@dataclass(frozen=True, slots=True)
class Items:
    """A list; `alone` where one item may stand without brackets."""

    item: Shapes
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A mapping from names, those of `keys` or new ones."""

    keys: Names | None
    value: Shapes


@dataclass(frozen=True, slots=True)
class Fields:
    """A mapping with the fields of a model."""

    model: type[Model]


@dataclass(frozen=True, slots=True)
class Keys:
    """A mapping with some keys that no model describes."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Statements:
    """A list of statements."""

    plane: Plane


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement: a keyword, and what stands beside it."""

    plane: Plane


Shape: TypeAlias = (
    Words | Truth | Formula | Name | Codes | Text | Items | Table | Fields | Keys | Statements | Statement
)
Shapes: TypeAlias = tuple[Shape, ...]

_FORMULAS = (read_expression, read_counts, read_blocks)


@dataclass(frozen=True, slots=True)
class Key:
    """A key that a mapping may have."""

    name: str
    doc: str
    required: bool
    shapes: Shapes
    field: FieldInfo | None = None
    default: str = ""
    chosen: bool = False
    """Whether it is one of several of which a mapping has exactly one."""

    @property
    def dumps(self) -> bool:
        """Whether only dumps have it."""
        return (
            self.doc.rpartition(";")[2].strip().startswith("dumps only")
            or self.doc.startswith("in dumps")
            or self.doc.endswith("of a dump")
        )


@lru_cache(maxsize=512)
def keys_of(model: type[Model]) -> Mapping[str, Key]:
    """The keys of a mapping with the fields of a model, in their order; fields that are not there yet are left out."""
    found: dict[str, Key] = {}
    for name, info in model.model_fields.items():
        key = info.alias or name
        if name in model.not_yet:
            continue
        default = info.get_default() if not info.is_required() else None
        extra = info.json_schema_extra
        if default is None and isinstance(extra, dict):
            default = extra.get("default")
        found[key] = Key(
            key,
            info.description or "",
            info.is_required(),
            _of_field(model, key, info, _plain(default)),
            info,
            _plain(default),
            key in model.exactly_one,
        )
    return found


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else ""


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the type of one field."""

    model: type[Model]
    key: str
    default: str

    @property
    def formula(self) -> Formula:
        """A formula in this field."""
        return Formula(grammar_of(self.model, self.key))

    def shapes(self, hint: Any, marks: list[Any]) -> Iterator[Shape]:
        """The forms of a type with what is marked at it."""
        origin = get_origin(hint)
        reads = [getattr(mark, "func", None) for mark in marks]
        schema: Mapping[str, Any] = next(
            (m.json_schema for m in marks if isinstance(getattr(m, "json_schema", None), dict)), {}
        )
        if origin is Annotated:
            inner, *more = get_args(hint)
            yield from self.shapes(inner, [*more, *marks])
        elif origin in (Union, UnionType):
            parts = get_args(hint)
            for part in parts:
                if part is not NoneType and not (part is bool and str in parts):
                    yield from self.shapes(part, marks)
        elif any(read in _FORMULAS for read in reads):
            yield from self.formulas(schema, read_counts in reads)
        elif read_let in reads:
            yield Formula("let")
        elif hint is Any:
            yield from self.untyped(schema)
        elif origin is Literal:
            meanings: Mapping[str, str] = next((m.words for m in marks if isinstance(m, Meanings)), {})
            yield Words(tuple((str(word), meanings.get(word, "")) for word in get_args(hint)), self.default)
        elif hint is bool:
            yield Truth(self.default)
        elif hint is str:
            yield from self.text(marks)
        elif origin is tuple:
            yield from self.items(get_args(hint)[0], marks, reads)
        elif origin is dict:
            yield from self.table(*get_args(hint))
        elif isinstance(hint, type) and issubclass(hint, Model):
            yield from _of_model(hint, marks)
        else:
            yield Text(hint in (int, float))

    def distinct(self, hint: Any, marks: list[Any] | None = None) -> Shapes:
        """The forms of a type, each once."""
        return tuple(dict.fromkeys(self.shapes(hint, marks or [])))

    def formulas(self, schema: Mapping[str, Any], many: bool) -> Iterator[Shape]:
        """A formula, the words that may stand for it, and where there may be several a list."""
        yield self.formula
        examples = schema.get("examples", ())
        words = tuple((word, "") for word in examples if isinstance(word, str) and word.isidentifier())
        if words:
            yield Words(words)
        if many:
            yield Items((self.formula,))

    def items(self, item: Any, marks: list[Any], reads: list[Any]) -> Iterator[Shape]:
        """A list. A mark at the list is about its items."""
        roles = [mark for mark in marks if isinstance(mark, Role)]
        alone = any(read is one_as_list for read in reads)
        inner = self.distinct(item, [*roles])
        if alone and inner == (Text(),):
            inner = (Codes(),)
        yield Items(inner, alone or f"{self.model.__name__}.{self.key}" in SHORT)

    def table(self, key: Any, value: Any) -> Iterator[Shape]:
        """A mapping from names. A mark at a mapping in it is about what may stand in the place of that."""
        marks = list(get_args(value)[1:]) if get_origin(value) is Annotated else []
        role = next((mark for mark in marks if isinstance(mark, Role)), None)
        shapes = self.distinct(value)
        if role is not None and any(isinstance(shape, Fields) for shape in shapes):
            names = names_of(role, self.model)
            shapes = (*shapes, Name(names) if names is not None else self.formula)
        yield Table(keys_named(_role(get_args(key)[1:] if get_origin(key) is Annotated else ())), shapes)

    def text(self, marks: list[Any]) -> Iterator[Shape]:
        """A text, or a name."""
        patterns = [getattr(mark, "pattern", None) for mark in marks]
        role = _role(marks)
        if NAME_PATTERN in patterns or VALUE_PATTERN in patterns:
            yield Name(names_of(role, self.model))
        elif role is not None and role.act == "format":
            yield Formula("format")
        else:
            yield Text()

    def untyped(self, schema: Mapping[str, Any]) -> Iterator[Shape]:
        """What a field without a type of its own holds, by what the schema says of it."""
        for option in (schema, *schema.get("anyOf", ())):
            if "enum" in option:
                meanings = option.get(DESCRIPTIONS) or [""] * len(option["enum"])
                yield Words(tuple(zip(map(str, option["enum"]), meanings, strict=True)))
            elif "properties" in option:
                yield Keys(tuple(option["properties"]))
            elif option is schema and option.get("type") == "object":
                yield Table(None, (self.formula,))


def _role(marks: Iterable[Any]) -> Role | None:
    return next((mark for mark in marks if isinstance(mark, Role)), None)


def _of_field(model: type[Model], key: str, info: FieldInfo, default: str) -> Shapes:
    plane = STATEMENTS.get(f"{model.__name__}.{key}")
    if plane is not None:
        return (Statements(plane),)
    found = _Reader(model, key, default).distinct(info.annotation, info.metadata)
    text = info.description or ""
    if "the others are reserved" not in text:
        return found
    return tuple(
        Words(tuple(w for w in s.words if f"`{w[0]}`" in text), s.default) if isinstance(s, Words) else s for s in found
    )


def _of_model(model: type[Model], marks: list[Any]) -> Iterator[Shape]:
    """A mapping; where a word may stand for it, that is the value of its first field."""
    if any(getattr(mark, "func", None) is as_platform for mark in marks):
        first = next(iter(keys_of(model).values()))
        yield from first.shapes
    yield Fields(model)
