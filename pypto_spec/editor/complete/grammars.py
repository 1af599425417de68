"""What the names and formulas of fields are about.

What a name names is marked in the models (`spec/models/marks.py`). What a formula may be made of is said here, where it
is not integers of any kind; that of an operator's field follows from its kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from pypto_spec.ir.opdef import FieldKind, OpDef
from pypto_spec.spec.models.base import Model
from pypto_spec.spec.models.keywords import Plane
from pypto_spec.spec.models.marks import Named, Role

Grammar: TypeAlias = Literal[
    "let",  # a name, `=`, tiles and functions
    "size",  # integers: constants, symbols, indices
    "extent",  # integers that are the same for the whole program: constants, symbols
    "constant",  # constants alone
    "fixed",  # known at compile time: constants, and the indices of unrolled loops
    "condition",
    "number",  # a constant or a run-time scalar
    "value",  # a tile, a tensor or a number
    "golden",
    "format",  # text with sizes in braces
]

Names: TypeAlias = Literal[
    "bind",  # a new name, or one that may be bound again
    "value",  # tiles, or arrays
    "shown",  # tiles and tensors
    "source",  # tensors to read from
    "sink",  # tensors to write to
    "buffer",
    "function",
    "launch",
    "returned",
    "carried",
    "argument",
    "output",
    "input",
    "symbol",
    "choice",
]


GRAMMARS: Final[Mapping[str, Grammar]] = {
    "DocumentModel.constants": "constant",
    "Symbol": "constant",
    "TensorSpec": "extent",
    "BufferSpec": "fixed",
    "ArgumentSpec": "extent",
    "InputSpec": "constant",
    "GoldenSpec.expect": "golden",
    "CreateTensor.shape": "extent",
    "Pipeline.stages": "fixed",
    "For.while": "condition",
    "While.condition": "condition",
    "If.condition": "condition",
    "Call.args": "value",
    "Yield.values": "value",
    "Break.yield": "value",
    "Continue.yield": "value",
    "Alloc": "fixed",
    "Extras.yield": "value",
    "Extras.carry": "value",
    "Carried.init": "value",
}
"""By model and key, or by model for all of its fields; others hold sizes."""

STATEMENTS: Final[Mapping[str, Plane]] = {"DocumentModel.program": "control", "FunctionSpec.body": "execution"}
"""Fields that hold statements."""

SHORT: Final = frozenset({"Extras.yield"})
"""Lists of which one item may stand without brackets, where the type does not say it."""

_KINDS: Final[Mapping[FieldKind, Grammar]] = {
    "ints": "fixed",
    "condition": "condition",
    "number": "number",
    "format": "format",
}
OP_MODEL: Final = "_statement"
"""How the name of an operator's model ends."""

_READ: Final[Mapping[Named, Names]] = {
    "value": "value",
    "tensor": "source",
    "symbol": "symbol",
    "constant": "choice",
    "argument": "argument",
    "returned": "returned",
    "carried": "carried",
    "buffer": "buffer",
    "function": "function",
    "launch": "launch",
}
_KEYS: Final[Mapping[Named, Names]] = {**_READ, "tensor": "output", "value": "input"}
"""As keys: what is expected of outputs, and how inputs are drawn."""


def operator_of(model: type[Model]) -> OpDef | None:
    """The operator whose statement a model is."""
    name = model.__name__
    if not name.endswith(OP_MODEL):
        return None
    from pypto_spec.ops.registry import OPS  # the families are imported when an operator is asked for

    return OPS.get(name.removesuffix(OP_MODEL))


def grammar_of(model: type[Model], key: str) -> Grammar:
    """What a formula in a field of a model may be made of."""
    defn = operator_of(model)
    if defn is not None:
        kind = next((field.kind for field in defn.fields if field.name == key), None)
        return _KINDS.get(kind, "size") if kind is not None else "size"
    return GRAMMARS.get(f"{model.__name__}.{key}") or GRAMMARS.get(model.__name__) or "size"


def names_of(role: Role | None, model: type[Model]) -> Names | None:
    """Which names a field takes that is marked so; None where a new one is made."""
    if role is None or role.act not in ("reads", "binds"):
        return None
    if role.act == "binds":
        return "bind" if role.of == "value" else None
    defn = operator_of(model)
    if defn is not None and role.of == "tensor" and defn.effects == "writes_gm":
        return "sink"
    if defn is not None and role.of == "value" and defn.effects == "shows":
        return "shown"
    return _READ.get(role.of)


def keys_named(role: Role | None) -> Names | None:
    """Which names the keys of a mapping are; None where they are new ones."""
    return _KEYS.get(role.of) if role is not None and role.act == "reads" else None
