"""What the texts of a field are to the names of a spec: marks in the types of the models.

A type says that a field holds a name; a mark says whether the name is bound there or read, and what it names. What
follows names through a spec (the editor) reads the marks of the models and has no list of fields of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, TypeAlias, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from pypto_spec.records import dataclass
from pypto_spec.spec.models.base import Model
from pypto_spec.spec.models.marks import BINDS_CONSTANT, EXPRESSION, Role

Hint: TypeAlias = Any
"""The annotation of a field, or a part of one."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is in a field, form by form.

    `role` is that of a word, or of the items of a list of words; `keys` and `values` are those of a mapping that is a
    table of names, `model` that of a mapping with fields of its own, `items` that of a list.
    """

    role: Role | None = None
    keys: Role | None = None
    values: Plan | None = None
    items: Plan | None = None
    model: type[Model] | None = field(default=None)

    def at(self, key: str) -> Plan:
        """What is under a key of a mapping here."""
        if self.model is not None:
            return fields_of(self.model).get(key, NOTHING)
        return self.values or NOTHING

    @property
    def item(self) -> Plan:
        """What an item of a list is here."""
        return self.items or Plan(self.role)


NOTHING: Final = Plan()
"""A field without names."""


@cache
def fields_of(model: type[Model]) -> Mapping[str, Plan]:
    """The plans of the fields of a model, by their names in the file."""
    return {(info.alias or name): _of_field(info) for name, info in model.model_fields.items()}


def _of_field(info: FieldInfo) -> Plan:
    return _plan(info.annotation, info.metadata)


def _plan(hint: Hint, marks: list[Any]) -> Plan:
    origin: Hint = get_origin(hint)
    if origin is Annotated:
        inner, *more = get_args(hint)
        return _plan(inner, [*more, *marks])
    role = next((mark for mark in marks if isinstance(mark, Role)), None)
    if origin in (Union, UnionType):
        plans = [_plan(part, []) for part in get_args(hint) if part is not NoneType]
        return Plan(
            role or _first(plan.role for plan in plans),
            _first(plan.keys for plan in plans),
            _first(plan.values for plan in plans),
            _first(plan.items for plan in plans),
            _first(plan.model for plan in plans),
        )
    if origin is tuple or origin is list:
        inner = _plan(get_args(hint)[0], [])
        return Plan(role, items=Plan(role or inner.role, inner.keys, inner.values, inner.items, inner.model))
    if origin is dict:
        key, value = get_args(hint)
        return Plan(role, keys=_plan(key, []).role, values=_plan(value, []))
    if isinstance(hint, type) and issubclass(hint, Model):
        return Plan(role, model=hint)
    if hint is Any and role is BINDS_CONSTANT:  # the section has checks of its own, no model
        return Plan(keys=role, values=Plan(EXPRESSION))
    return Plan(role)


def _first(found: Any) -> Any:
    return next((part for part in found if part is not None), None)


def unmarked(model: type[Model]) -> list[str]:
    """Fields of a model that hold names and do not say which: there must be none."""
    found = []
    for name, info in model.model_fields.items():
        if _has_bare_name(info.annotation, info.metadata):
            found.append(f"{model.__name__}.{info.alias or name}")
    return found


def _has_bare_name(hint: Hint, marks: list[Any]) -> bool:
    origin: Hint = get_origin(hint)
    if origin is Annotated:
        inner, *more = get_args(hint)
        return _has_bare_name(inner, [*more, *marks])
    if any(isinstance(mark, Role) for mark in marks):
        return False
    if origin is Literal:
        return False
    if any(_is_name(mark) for mark in marks):
        return True
    return any(_has_bare_name(part, []) for part in get_args(hint))


def _is_name(mark: Any) -> bool:
    pattern = getattr(mark, "pattern", None)
    return isinstance(pattern, str) and pattern.startswith("^[A-Za-z_][A-Za-z0-9_]")
