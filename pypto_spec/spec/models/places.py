"""What stands at a path of keys: `tensors.x.access`, `load.at`, `program.0.body.1.load.at`, from the models alone.

A path starts at the top of a document, or with a keyword of a statement or a key that stands beside one. Names that
the author chooses stand for themselves: any name is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import TypeAdapter
from pydantic.fields import FieldInfo

from pypto_spec.records import dataclass
from pypto_spec.spec.models.base import Model
from pypto_spec.spec.models.extras import Extras
from pypto_spec.spec.models.keywords import BLOCK_KEYS, Keyword, default_table
from pypto_spec.spec.models.sections import DocumentModel
from pypto_spec.spec.models.ways import schema_of

Schema = dict[str, Any]

BLOCK_DOCS: Final = {
    "body": "the statements inside",
    "then": "the statements that run if the condition holds",
    "else": "the statements that run if it does not",
}
CONSTANTS_DOC: Final = "compile-time integers, floats and words; expressions may use other constants"

Kind = Literal["document", "statements", "statement", "keyword", "field", "name"]


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a document.

    `path` holds its keys with `NAME` for names of the author's and `0` for items; `types` are those its value may
    have, unions taken apart; `owner` is the model whose field it is. `schema` describes the value.
    """

    kind: Kind
    path: tuple[str, ...]
    types: tuple[Any, ...] = ()
    keyword: Keyword | None = None
    owner: type[Model] | None = None
    field: FieldInfo | None = None
    doc: str = ""

    @property
    def models(self) -> tuple[type[Model], ...]:
        """The models of mappings that may stand here."""
        return tuple(kind for kind in self.types if isinstance(kind, type) and issubclass(kind, Model))

    @property
    def schema(self) -> Schema:
        """The JSON Schema of the value, without what it refers to."""
        if self.owner is not None and self.path:
            return dict(schema_of(self.owner).get("properties", {}).get(self.path[-1], {}))
        return _schema_of_types(self.types)

    @property
    def required(self) -> bool:
        """Whether what stands around it must have this key."""
        return self.field is not None and self.field.is_required()


DOCUMENT: Final = Place("document", (), (DocumentModel,))


def _schema_of_types(types: tuple[Any, ...]) -> Schema:
    made: Any = Union[types] if types else Any  # noqa: UP007  (made of what is known at run time only)
    return dict(TypeAdapter(made).json_schema())


def key_of(name: str, field: FieldInfo) -> str:
    """How a field is called in a file."""
    return field.alias or name


def find(path: Sequence[str | int]) -> Place | None:
    """The place at a path; None where the language has nothing there."""
    place, left = walk(path)
    return place if not left else None


def walk(path: Sequence[str | int]) -> tuple[Place, Sequence[str | int]]:
    """The deepest place on the way of a path, and the steps that lead nowhere from there."""
    place = DOCUMENT
    for done, step in enumerate(path):
        found = inside(place, step)
        if found is None and done == 0:
            found = _beside(str(step))
        if found is None:
            return place, path[done:]
        place = found
    return place, ()


def inside(place: Place, step: str | int) -> Place | None:
    """The place one step further, or None."""
    name = str(step)
    if place.kind == "statements":
        return Place("statement", (*place.path, "0")) if name.isdecimal() else _in_statement(place, name)
    if place.kind == "statement":
        return _in_statement(place, name)
    if place.kind == "keyword" and place.keyword is not None:
        return _in_keyword(place, place.keyword, name)
    return next(_in_types(place, name), None)


def keys_inside(place: Place) -> list[str]:
    """The keys that may be written at a place, in the order of the reference; names of the author's are not among."""
    if place.kind in ("statements", "statement"):
        return [*default_table().keywords, *_extras(), *BLOCK_KEYS]
    if place.kind == "keyword" and place.keyword is not None:
        return _keys_of_keyword(place.keyword)
    return [key_of(name, field) for model in place.models for name, field in model.model_fields.items()]


def first_keys() -> list[str]:
    """What a path may start with."""
    return list(dict.fromkeys([*keys_inside(DOCUMENT), *keys_inside(Place("statements", ()))]))


@lru_cache(maxsize=1)
def all_paths() -> tuple[str, ...]:
    """The paths of all fields, names of the author's as `NAME`; statements are walked once, at the top."""
    found: list[str] = []

    def visit(place: Place, depth: int) -> None:
        for key in keys_inside(place) if depth < 6 else ():
            inner = inside(place, key)
            if inner is not None and not (inner.owner is Extras and place.kind == "keyword"):
                found.append(".".join(inner.path))
                if inner.kind not in ("statements", "keyword") and inner.owner is not Extras:
                    visit(inner, depth + 1)
        if _takes_names(place):
            inner = inside(place, "NAME")
            if inner is not None:
                visit(inner, depth + 1)

    visit(DOCUMENT, 0)
    for key in keys_inside(Place("statements", ())):
        first = _beside(key)
        if first is not None:
            found.append(key)
            visit(first, 1)
    return tuple(dict.fromkeys(found))


def _takes_names(place: Place) -> bool:
    return place.path == ("constants",) or any(get_origin(kind) is dict for kind in place.types)


def _beside(name: str) -> Place | None:
    """A keyword, or a key beside one, at the start of a path."""
    return _in_statement(Place("statement", ()), name)


def _in_statement(place: Place, name: str) -> Place | None:
    keyword = default_table().get(name)
    if keyword is not None:
        types = () if keyword.reserved else (default_table().model(name),)
        return Place("keyword", (*place.path, name), types, keyword, doc=keyword.doc)
    return _in_block(place, name) or _field(place, Extras, name)


def _in_block(place: Place, name: str) -> Place | None:
    return Place("statements", (*place.path, name), doc=BLOCK_DOCS[name]) if name in BLOCK_KEYS else None


def _in_keyword(place: Place, keyword: Keyword, name: str) -> Place | None:
    if keyword.reserved:
        return None
    if name in keyword.blocks:
        return _in_block(place, name)
    return _field(place, default_table().model(keyword.name), name) or (
        _field(place, Extras, name) if name in keyword.extras else None
    )


def _keys_of_keyword(keyword: Keyword) -> list[str]:
    if keyword.reserved:
        return []
    own = default_table().model(keyword.name).model_fields
    beside = [name for name in _extras() if name in keyword.extras]
    return list(dict.fromkeys([*(key_of(n, f) for n, f in own.items()), *beside, *keyword.blocks]))


def _extras() -> list[str]:
    return [key_of(name, field) for name, field in Extras.model_fields.items()]


def _field(place: Place, model: type[Model], key: str) -> Place | None:
    for name, field in model.model_fields.items():
        if key_of(name, field) == key:
            path = (*place.path, key)
            if path == ("program",) or (model.__name__ == "FunctionSpec" and key == "body"):
                return Place("statements", path, owner=model, field=field, doc=field.description or "")
            types = tuple(_alternatives(field.annotation))
            return Place("field", path, types, owner=model, field=field, doc=field.description or "")
    return None


def _in_types(place: Place, name: str) -> Iterator[Place]:
    if place.path == ("constants",):
        yield Place("name", ("constants", "NAME"), (int, float, bool, str), doc=CONSTANTS_DOC)
    for kind in place.types:
        origin = get_origin(kind)
        if isinstance(kind, type) and issubclass(kind, Model):
            found = _field(place, kind, name)
            if found is not None:
                yield found
        elif origin is dict:
            yield Place("name", (*place.path, "NAME"), tuple(_alternatives(get_args(kind)[1])), doc=place.doc)
        elif origin in (tuple, list) and name.isdecimal():
            items = [arg for arg in get_args(kind) if arg is not ...]
            at = min(int(name[:9]), len(items) - 1)
            yield Place("field", (*place.path, "0"), tuple(_alternatives(items[at])), doc=place.doc)


def _alternatives(annotation: Any) -> Iterator[Any]:
    """The types of a union; what `Annotated` says of words and formulas stays with them."""
    origin = get_origin(annotation)
    inner = get_args(annotation)[0] if origin is Annotated else annotation
    if get_origin(inner) in (Union, UnionType):
        for arg in get_args(inner):
            yield from _alternatives(arg)
    elif origin is Annotated and (get_origin(inner) in (dict, tuple, list) or _is_model(inner)):
        yield inner
    elif annotation is not NoneType:
        yield annotation


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Model)
