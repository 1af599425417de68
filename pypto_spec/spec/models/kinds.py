"""Values of several forms, and the models that stand at a path below a model.

A plain union of types tries them all, reports what is wrong with each, and puts its own names for them into the paths
of errors. Fields of several forms therefore say which type goes with which form, and paths leave that out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

from pydantic import Discriminator, Tag

from pypto_spec.spec.models.base import Model

Path = tuple[str | int, ...]

LIST: Final = Tag("<list>")
MAPPING: Final = Tag("<mapping>")
WORD: Final = Tag("<word>")

_TAGS = frozenset({LIST.tag, MAPPING.tag, WORD.tag})


def forms(error: str) -> Discriminator:
    """What tells the types of a union apart, each marked with its form; `error` is the type of the error of others."""
    return Discriminator(_form, custom_error_type=error, custom_error_message="another form")


def _form(value: object) -> str | None:
    if isinstance(value, list | tuple):
        return LIST.tag
    if isinstance(value, Mapping | Model):
        return MAPPING.tag
    return WORD.tag if isinstance(value, str) else None


def as_written(path: Path) -> Path:
    """The keys and indices of a path alone."""
    return tuple(step for step in path if step not in _TAGS)


def model_at(model: type[Model], path: Path) -> type[Model] | None:
    """The model of the mapping at a path below a model; None where there is none."""
    kinds: list[Any] = [model]
    for step in path:
        kinds = [inner for kind in kinds for inner in _inside(kind, step)]
    return next((kind for kind in kinds if _is_model(kind)), None)


def _inside(kind: Any, step: str | int) -> Iterator[Any]:
    """The types that may stand one step below a type."""
    if _is_model(kind):
        for name, field in kind.model_fields.items():
            if (field.alias or name) == step:
                yield from _alternatives(field.annotation)
    elif get_origin(kind) in (dict, tuple, list):
        *_, values = (arg for arg in get_args(kind) if arg is not ...)  # of a dict that is the type of its values
        yield from _alternatives(values)


def _alternatives(annotation: Any) -> Iterator[Any]:
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _alternatives(get_args(annotation)[0])
    elif origin in (Union, UnionType):
        for arg in get_args(annotation):
            yield from _alternatives(arg)
    elif annotation is not NoneType:
        yield annotation


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Model)
