"""What the names and formulas of fields are about, where the type of a field does not say it.

Fields that are not listed hold sizes if they are formulas, new names if they are names; those of operators follow from
their kinds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from pypto_spec.ir.opdef import FieldKind, OpDef
from pypto_spec.records import dataclass
from pypto_spec.spec.models.base import Model
from pypto_spec.spec.models.keywords import Plane

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


@dataclass(frozen=True, slots=True)
class Role:
    """What is in a field: the names of a name, those of keys, the grammar of a formula.

    `statements` is the plane of a list of statements. `short_names` and `short_grammar` are what may stand in the place
    of a mapping of a table.
    """

    names: Names | None = None
    keys: Names | None = None
    grammar: Grammar = "size"
    statements: Plane | None = None
    short_names: Names | None = None
    short_grammar: Grammar | None = None


_PLAIN: Final = Role()

ROLES: Final[Mapping[str, Role]] = {
    "DocumentModel.constants": Role(grammar="constant"),
    "DocumentModel.program": Role(statements="control"),
    "Symbol": Role(grammar="constant"),
    "TensorSpec": Role(grammar="extent"),
    "BufferSpec": Role(grammar="fixed"),
    "ArgumentSpec": Role(grammar="extent"),
    "FunctionSpec.returns": Role(names="returned"),
    "FunctionSpec.body": Role(statements="execution"),
    "InputSpec": Role(grammar="constant"),
    "GoldenSpec.expect": Role(keys="output", grammar="golden"),
    "GoldenSpec.inputs": Role(keys="input"),
    "GoldenSpec.sizes": Role(keys="symbol"),
    "VariantsSpec": Role(keys="choice"),
    "CreateTensor.shape": Role(grammar="extent"),
    "Region.after": Role(names="launch"),
    "Pipeline.stages": Role(grammar="fixed"),
    "For.while": Role(grammar="condition"),
    "While.condition": Role(grammar="condition"),
    "If.condition": Role(grammar="condition"),
    "Call.function": Role(names="function"),
    "Call.args": Role(keys="argument", grammar="value"),
    "Call.into": Role(names="bind"),
    "Yield.values": Role(keys="carried", grammar="value"),
    "Break.yield": Role(keys="carried", grammar="value"),
    "Continue.yield": Role(keys="carried", grammar="value"),
    "Alloc": Role(grammar="fixed"),
    "Extras.carry": Role(short_grammar="value"),
    "Extras.yield": Role(keys="carried", grammar="value", short_grammar="value"),
    "Extras.results": Role(short_names="carried"),
    "Carried.init": Role(grammar="value"),
    "Carried.of": Role(names="carried"),
    "Carried.buffer": Role(names="buffer"),
    "Scratch.buffer": Role(names="buffer"),
    "TypeSpec.view": Role(names="value"),
}
"""By model and key, or by model for all of its fields."""

_KINDS: Final[Mapping[FieldKind, Role]] = {
    "bind": Role(names="bind"),
    "tile": Role(names="value"),
    "ints": Role(grammar="fixed"),
    "condition": Role(grammar="condition"),
    "number": Role(grammar="number"),
    "format": Role(grammar="format"),
}
_OP_KEYS: Final[Mapping[str, Role]] = {"buffer": Role(names="buffer")}
"""The keys that every operator has beside its own fields."""

OP_MODEL: Final = "_statement"
"""How the name of an operator's model ends."""


def role_of(model: type[Model], key: str) -> Role:
    """What is in a field of a model."""
    name = model.__name__
    if name.endswith(OP_MODEL):
        from pypto_spec.ops.registry import OPS  # the families are imported when an operator is asked for

        defn = OPS.get(name.removesuffix(OP_MODEL))
        return _of_operator(defn, key) if defn is not None else _PLAIN
    return ROLES.get(f"{name}.{key}") or ROLES.get(name) or _PLAIN


def _of_operator(defn: OpDef, key: str) -> Role:
    field = next((f for f in defn.fields if f.name == key), None)
    if field is None:
        return _OP_KEYS.get(key, _PLAIN)
    if field.kind == "tensor":
        return Role(names="sink" if defn.effects == "writes_gm" else "source")
    if field.kind == "tile" and defn.effects == "shows":
        return Role(names="shown")
    return _KINDS.get(field.kind, _PLAIN)
