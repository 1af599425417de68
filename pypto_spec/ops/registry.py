"""The table of operators, and how `let` finds them.

A family module calls `define(OpDef(...))` once per operator when it is imported; nothing else names operators. The
modules are imported on first use of the table. `let` finds an operator by its infix sign or function name together
with what stands left and right of it; that follows from the definition's role and the order of its operand fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from threading import RLock
from typing import Literal, NamedTuple

from pypto_spec.ir.opdef import OpDef

FAMILIES = (
    "data",
    "matmul",
    "debug",
    "create",
    "view",
    "rearrange",
    "pad",
    "pick",
    "sort",
    "binary",
    "scalar",
    "unary",
    "activation",
    "trig",
    "bits",
    "shift",
    "compare",
    "divide",
    "cast",
    "reduce",
    "product",
    "arg",
    "expand",
)
"""The family modules of this package, in the order in which reference pages list them."""

Operand = Literal["tile", "scalar", "row", "col"]
"""What stands beside a sign in a formula: a full tile or array, a number, a [M, 1] or a [1, N] vector to be spread."""

COMMUTATIVE = frozenset({"+", "*", "maximum", "minimum", "bit_and", "bit_or", "bit_xor"})
"""Signs and functions whose two operands may change places."""

_VECTOR: Mapping[str, Operand] = {"row_expand": "row", "col_expand": "col"}
"""What the operand besides `dtype_of` is in ops that spread a vector."""


class Form(NamedTuple):
    """One way to write an operator in a formula: `fields` are its operand fields in the order of the formula."""

    defn: OpDef
    fields: tuple[str, ...]


_OPS: dict[str, OpDef] = {}
_FORMS: dict[tuple[str, tuple[Operand, ...]], Form] = {}
_FUNCTIONS: dict[str, list[OpDef]] = {}
_loaded = False
_loading = RLock()
"""Held while the families are imported: another thread waits for all of them, and never sees a part of the table."""


def define(defn: OpDef) -> OpDef:
    """Add an operator to the table. Names are unique, and so is each form of a sign or function."""
    if defn.name in _OPS:
        raise ValueError(f"operator {defn.name} is defined twice")
    _OPS[defn.name] = defn
    for kinds, fields in _forms(defn):
        for symbol in filter(None, (defn.infix, defn.function)):
            _add_form(symbol, kinds, Form(defn, fields))
            if symbol in COMMUTATIVE and kinds != kinds[::-1]:
                _add_form(symbol, kinds[::-1], Form(defn, fields[::-1]))
    if defn.function is not None:
        _FUNCTIONS.setdefault(defn.function, []).append(defn)
    return defn


def _add_form(symbol: str, kinds: tuple[Operand, ...], form: Form) -> None:
    known = _FORMS.setdefault((symbol, kinds), form)
    if known is not form:
        raise ValueError(f"`{symbol}` of {kinds} means both {known.defn.name} and {form.defn.name}")


def _forms(defn: OpDef) -> Iterator[tuple[tuple[Operand, ...], tuple[str, ...]]]:
    operands = [f for f in defn.fields if f.kind == "tile" or (f.kind == "number" and f.required)]
    if defn.role in ("create", "move", "view") or not operands:
        return
    kinds: list[Operand] = ["scalar" if f.kind == "number" else "tile" for f in operands]
    if len(kinds) == 2 and defn.role in _VECTOR:
        kinds[1 if operands[0].name == defn.dtype_of else 0] = _VECTOR[defn.role]
    yield tuple(kinds), tuple(f.name for f in operands)


def _load() -> None:
    global _loaded
    if _loaded:
        return
    with _loading:
        if not _loaded:
            for family in FAMILIES:
                import_module(f"pypto_spec.ops.{family}")
            _in_order()
            _loaded = True


def _in_order() -> None:
    """Bring the tables into the order of the families, whichever of their modules was imported first."""
    place = {family: number for number, family in enumerate(FAMILIES)}
    ordered = sorted(_OPS.values(), key=lambda defn: place.get(defn.family, len(place)))
    _OPS.clear()
    _FUNCTIONS.clear()
    for defn in ordered:
        _OPS[defn.name] = defn
        if defn.function is not None:
            _FUNCTIONS.setdefault(defn.function, []).append(defn)


class _Table(Mapping[str, OpDef]):
    """The operators by name, in the order of definition; loads the families on first use."""

    def __getitem__(self, name: str) -> OpDef:
        _load()
        return _OPS[name]

    def __iter__(self) -> Iterator[str]:
        _load()
        return iter(_OPS)

    def __len__(self) -> int:
        _load()
        return len(_OPS)

    def __contains__(self, name: object) -> bool:
        _load()
        return name in _OPS


OPS: Mapping[str, OpDef] = _Table()
"""Every operator by the keyword of its statement."""


def form(symbol: str, *kinds: Operand) -> Form | None:
    """The operator for an infix sign (`+`) or a function (`maximum`) on such operands, or None.

    `form("-", "scalar", "tile")` is `rsubs` with fields `("scalar", "x")`; `form("exp", "tile")` is `exp`.
    """
    _load()
    return _FORMS.get((symbol, kinds))


def function(name: str) -> tuple[OpDef, ...]:
    """The operators behind a function name of `let`; more than one where `form` has to choose by operands.

    Positional arguments are the definition's fields in order, without the one it binds.
    """
    _load()
    return tuple(_FUNCTIONS.get(name, ()))


def functions() -> tuple[str, ...]:
    """All function names of `let`, in the order of definition."""
    _load()
    return tuple(_FUNCTIONS)


def signs() -> tuple[str, ...]:
    """All infix signs that some operator has."""
    _load()
    return tuple(dict.fromkeys(d.infix for d in _OPS.values() if d.infix is not None))
