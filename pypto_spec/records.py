"""`dataclass` for the classes of this package: the standard one, quicker to define and quicker to fill.

The standard decorator compiles six functions for each frozen class; at some 150 classes that is a third of the time of
a `check`. Here one function is compiled, the constructor, which writes through the slots' own descriptors; the others
are closures or shared. What a class can do is the same, and type checkers are shown the standard decorator.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        *, slots: bool, frozen: bool = False, eq: bool = True, kw_only: bool = False
    ) -> Callable[[type], type]:
        """As `dataclasses.dataclass`; always with slots."""
        if not slots:
            raise TypeError("without slots, use the decorator of the standard library")

        def decorate(cls: type) -> type:
            own = set(vars(cls))
            cls = dataclasses.dataclass(
                init=not frozen, repr=False, eq=False, match_args=True, kw_only=kw_only, slots=True
            )(cls)
            methods: dict[str, Any] = {"__repr__": _repr}
            if frozen:
                cls.__init__ = _constructor(cls)
                methods |= _FROZEN
            if eq:
                methods |= _comparison(cls, frozen)
            for name, method in methods.items():
                if name not in own:
                    setattr(cls, name, method)
            return cls

        return decorate


def _constructor(cls: type) -> Callable[..., None]:
    """The `__init__` of a frozen class."""
    scope: dict[str, Any] = {"MISSING": MISSING}
    positional: list[str] = ["self"]
    named: list[str] = []
    lines: list[str] = []
    for field in fields(cls):
        name, value = field.name, field.name
        parameter = name
        scope[f"set_{name}"] = getattr(cls, name).__set__
        if field.default is not MISSING:
            scope[f"default_{name}"] = field.default
            parameter = f"{name}=default_{name}"
        elif field.default_factory is not MISSING:
            scope[f"make_{name}"] = field.default_factory
            parameter, value = f"{name}=MISSING", f"make_{name}() if {name} is MISSING else {name}"
        (named if field.kw_only else positional).append(parameter)
        lines.append(f"  set_{name}(self, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("  self.__post_init__()")
    parameters = [*positional, "*", *named] if named else positional
    exec(f"def __init__({', '.join(parameters)}):\n" + ("\n".join(lines) or "  pass"), scope)
    made: Callable[..., None] = scope["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


def _comparison(cls: type, frozen: bool) -> dict[str, Any]:
    """Equality by the fields that take part in it; frozen classes also hash."""
    names = [field.name for field in fields(cls) if field.compare]
    if len(names) == 1:
        names *= 2  # so that it is a tuple, in which a NaN is equal to itself
    values: Callable[[Any], Any] = attrgetter(*names) if names else lambda _: ()

    def __eq__(self: Any, other: object) -> Any:  # noqa: N807
        if other.__class__ is self.__class__:
            return other is self or values(self) == values(other)
        return NotImplemented

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(values(self))

    return {"__eq__": __eq__, "__hash__": __hash__ if frozen else None}


def _repr(self: Any) -> str:
    shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({shown})"


def _no_assignment(self: Any, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _no_deletion(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in fields(self)]


def _setstate(self: Any, state: list[Any]) -> None:
    for field, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


_FROZEN: dict[str, Any] = {
    "__setattr__": _no_assignment,
    "__delattr__": _no_deletion,
    "__getstate__": _getstate,
    "__setstate__": _setstate,
}
