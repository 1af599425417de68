"""A few operators for tests of the models, independent of the registry."""

from __future__ import annotations

from typing import Any, cast

from pypto_spec.ir.opdef import Field, OpDef
from pypto_spec.spec.models.keywords import KeywordTable


class FakeOp:
    """The part of an operator's definition that its statement's model is made from."""

    def __init__(self, name: str, *fields: Field) -> None:
        self.name = name
        self.fields = fields
        self.doc = f"The operator {name}."
        self.example = f"{name}: {{}}"


def _field(name: str, kind: Any, **more: Any) -> Field:
    return Field(name=name, kind=kind, doc=f"the {name}", **more)


INTO, X = _field("into", "bind"), _field("x", "tile")
FAKES = [
    FakeOp(
        "load",
        INTO,
        _field("from", "tensor"),
        _field("at", "exprs"),
        _field("shape", "ints"),
        _field("valid", "exprs", required=False),
        _field("memory", "memory", required=False, default="vec"),
    ),
    FakeOp(
        "store",
        _field("from", "tile"),
        _field("to", "tensor"),
        _field("at", "exprs"),
        _field("atomic", "word", required=False, default="none", words=("none", "add", "max")),
    ),
    FakeOp("exp", INTO, X),
    FakeOp("mul", INTO, _field("lhs", "tile"), _field("rhs", "tile")),
    FakeOp(
        "cast",
        INTO,
        X,
        _field("dtype", "dtype", examples=("fp16",)),
        _field("mode", "word", words=("rint", "floor"), required=False),
    ),
    FakeOp("adds", INTO, X, _field("scalar", "number")),
    FakeOp(
        "rotate",
        INTO,
        X,
        _field("by", "expr"),
        _field("rule", "formula", required=False),
        _field("via", "buffer", required=False),
    ),
]
TABLE = KeywordTable.with_ops({op.name: cast(OpDef, op) for op in FAKES})
