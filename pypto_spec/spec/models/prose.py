"""What the models know about fields by their names alone: which there are, and which hold words and no formulas."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated, Any, get_args, get_origin

from pypto_spec.spec.models.base import NAME_PATTERN, VALUE_PATTERN, Model
from pypto_spec.spec.models.extras import Extras
from pypto_spec.spec.models.keywords import STRUCTURE
from pypto_spec.spec.models.sections import DocumentModel

TEXT_KINDS = frozenset({"text", "format"})
"""Kinds of fields of operators that hold plain text."""


@lru_cache(maxsize=1)
def prose_fields() -> frozenset[str]:
    """The names of all fields that hold plain text, or a list of such texts: `about`, `python`, `allow`, ..."""
    from pypto_spec.ops.registry import OPS

    found = {field.name for defn in OPS.values() for field in defn.fields if field.kind in TEXT_KINDS}
    structure = [keyword.factory() for keyword in STRUCTURE if keyword.factory is not None]
    for model in _below(DocumentModel, Extras, *structure):
        for name, field in model.model_fields.items():
            if _holds_text(field.annotation, field.metadata):
                found.add(field.alias or name)
    return frozenset(found)


@lru_cache(maxsize=1)
def section_fields() -> frozenset[str]:
    """The names of all fields of the sections of a document, in contrast to names that its author chooses."""
    return frozenset(f.alias or name for model in _below(DocumentModel) for name, f in model.model_fields.items())


def _below(*models: type[Model]) -> list[type[Model]]:
    """Models with all those that their fields hold."""
    found = list(models)
    for model in found:
        for field in model.model_fields.values():
            found += [held for held in _models(field.annotation) if held not in found]
    return found


def _holds_text(annotation: Any, metadata: Iterable[Any]) -> bool:
    """Whether a type is a text other than a name, or a list of such."""
    if annotation is str:
        patterns = {getattr(part, "pattern", None) for part in metadata}
        return not patterns & {NAME_PATTERN, VALUE_PATTERN}
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _holds_text(args[0], [*metadata, *args[1:]])
    return origin is not dict and any(_holds_text(arg, metadata if origin is not tuple else ()) for arg in args)


def _models(annotation: Any) -> list[type[Model]]:
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return [annotation]
    return [model for arg in get_args(annotation) for model in _models(arg)]
