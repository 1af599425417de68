"""Programs of toy operators, for passes that do not look at what an operator means."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Literal

from pypto_spec.diagnostics.model import Sink
from pypto_spec.diagnostics.span import Loc, Source, Span
from pypto_spec.ir.dtype import FP32
from pypto_spec.ir.nodes import Control, Op, Program, Region, Stmt, TargetOptions, Value
from pypto_spec.ir.opdef import Field, Inference, OpDef
from pypto_spec.ir.types import Access, Memory, TensorType, TileType, ValueType
from pypto_spec.passes.base import Context
from pypto_spec.targets import A2A3

TILE = TileType(FP32, (8, 16))
_LINES = count(1)
_SOURCE = Source("toy.yaml", "")


def loc() -> Loc:
    """A place of its own for each statement."""
    line = next(_LINES)
    return Loc(Span(_SOURCE, line, 1, line, 2))


def _infer(inference: Inference) -> ValueType | None:
    for value in inference.operands.values():
        if isinstance(value.type, TileType):
            return value.type
    return TILE


def toy(name: str, effects: Literal["pure", "reads_gm", "writes_gm"] = "pure", operands: int = 2) -> OpDef:
    """An operator that computes nothing in particular."""
    fields = [Field(name=f"x{i}", kind="tile", doc="an operand", required=False) for i in range(operands)]
    if effects != "writes_gm":
        fields.insert(0, Field(name="into", kind="bind", doc="the result"))
    return OpDef(
        name=name, family="toys", doc="a toy", fields=tuple(fields), role="elementwise", pipe="v", infer=_infer,
        dtypes=(FP32,), torch=lambda torch, inputs, attrs: None, recipe=lambda r: (), scratch=lambda r: (),
        spaces={"into": (Memory.VEC,)}, dtype_of="x0", effects=effects,
    )  # fmt: skip


MAKE, SEE = toy("make"), toy("see", "writes_gm", 1)


def value(name: str, kind: ValueType = TILE) -> Value:
    return Value(name, kind)


def make(into: str, *operands: str, kind: ValueType = TILE) -> Op:
    """Binds `into`; names are not resolved."""
    given = {f"x{i}": value(name) for i, name in enumerate(operands)}
    return Op(defn=MAKE, operands=given, attrs={}, results=(value(into, kind),), loc=loc())


def see(name: str) -> Op:
    """An effect on `name`."""
    return Op(defn=SEE, operands={"x0": value(name)}, attrs={}, results=(), loc=loc())


def region(*body: Stmt, name: str = "r") -> Region:
    return Region(name=name, body=body, loc=loc())


def program(*body: Control, tensors: Iterable[Value] = ()) -> Program:
    return Program(
        name="toy", about="", target=TargetOptions(), tensors=tuple(tensors), scalars=(), body=body, loc=loc()
    )


def tensor(name: str, *shape: int) -> Value:
    return Value(name, TensorType(FP32, shape, Access.INOUT))


def context() -> Context:
    return Context(target=A2A3, sink=Sink())
