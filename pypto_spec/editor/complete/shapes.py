"""What a value may be, read off the models: the forms that completion tells apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from pypto_spec.editor.complete.roles import Grammar, Names, Role, role_of
from pypto_spec.records import dataclass
from pypto_spec.spec.models.base import (
    NAME_PATTERN,
    VALUE_PATTERN,
    Model,
    read_blocks,
    read_counts,
    read_expression,
    read_let,
)
from pypto_spec.spec.models.keywords import Plane


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


def _of_field(model: type[Model], key: str, info: FieldInfo, default: str) -> Shapes:
    role = role_of(model, key)
    if role.statements is not None:
        return (Statements(role.statements),)
    found = tuple(dict.fromkeys(_shapes(info.annotation, info.metadata, role, default)))
    if "the others are reserved" in (info.description or ""):
        found = tuple(
            Words(tuple(w for w in s.words if f"`{w[0]}`" in (info.description or "")), s.default)
            if isinstance(s, Words)
            else s
            for s in found
        )
    return found


def _shapes(hint: Any, marks: list[Any], role: Role, default: str = "") -> Iterator[Shape]:
    origin = get_origin(hint)
    if origin is Annotated:
        inner, *more = get_args(hint)
        yield from _shapes(inner, [*more, *marks], role, default)
        return
    schema: Mapping[str, Any] = next(
        (m.json_schema for m in marks if isinstance(getattr(m, "json_schema", None), dict)), {}
    )
    reads = [getattr(mark, "func", None) for mark in marks]
    if origin in (Union, UnionType):
        parts = get_args(hint)
        for part in parts:
            if part is not NoneType and not (part is bool and str in parts):
                yield from _shapes(part, marks, role, default)
    elif any(read in _FORMULAS for read in reads):
        yield Formula(role.grammar)
        words = tuple(
            (word, "") for word in schema.get("examples", ()) if isinstance(word, str) and word.isidentifier()
        )
        if words:
            yield Words(words)
        if read_counts in reads:
            yield Items((Formula(role.grammar),))
    elif read_let in reads:
        yield Formula("let")
    elif hint is Any:
        yield from _of_schema(schema, role)
    elif origin is Literal:
        meanings: Mapping[str, str] = next((m.words for m in marks if isinstance(getattr(m, "words", None), dict)), {})
        yield Words(tuple((str(word), meanings.get(word, "")) for word in get_args(hint)), default)
    elif hint is bool:
        yield Truth(default)
    elif hint is str:
        yield from _of_text(marks, role)
    elif origin is tuple:
        alone = any(getattr(read, "__name__", "") == "_one_as_list" for read in reads)
        item = get_args(hint)[0]
        inner = tuple(dict.fromkeys(_shapes(item, [], role)))
        if alone and inner == (Text(),):
            inner = (Codes(),)
        yield Items(inner, alone)
    elif origin is dict:
        value = tuple(dict.fromkeys(_shapes(get_args(hint)[1], [], role)))
        yield Table(role.keys, (*value, *_short(role)))
    elif isinstance(hint, type) and issubclass(hint, Model):
        yield from _of_model(hint, marks)
    else:
        yield Text(hint in (int, float))


def _short(role: Role) -> Iterator[Shape]:
    if role.short_grammar is not None:
        yield Formula(role.short_grammar)
    if role.short_names is not None:
        yield Name(role.short_names)


def _of_text(marks: list[Any], role: Role) -> Iterator[Shape]:
    patterns = [getattr(mark, "pattern", None) for mark in marks]
    if NAME_PATTERN in patterns or VALUE_PATTERN in patterns:
        yield Name(role.names)
    elif role.grammar == "format":
        yield Formula("format")
    else:
        yield Text()


def _of_schema(schema: Mapping[str, Any], role: Role) -> Iterator[Shape]:
    """What a field without a type of its own holds, by what the schema says of it."""
    for option in (schema, *schema.get("anyOf", ())):
        if "enum" in option:
            yield Words(tuple((str(word), "") for word in option["enum"]))
        elif "properties" in option:
            yield Keys(tuple(option["properties"]))
        elif option is schema and option.get("type") == "object":
            yield Table(role.keys, (Formula(role.grammar),))


def _of_model(model: type[Model], marks: list[Any]) -> Iterator[Shape]:
    """A mapping; where a word may stand for it, that is the value of its first field."""
    if any(getattr(getattr(mark, "func", None), "__name__", "") == "_platform" for mark in marks):
        first = next(iter(keys_of(model).values()))
        yield from first.shapes
    yield Fields(model)
