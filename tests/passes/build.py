"""Programs of real operators, written statement by statement; names are resolved as the loader resolves them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pypto_spec.ir.dtype import FP32, DType
from pypto_spec.ir.expr import Index, Sym
from pypto_spec.ir.nodes import For, Op, Program, Region, Stmt, Value
from pypto_spec.ir.opdef import Inference
from pypto_spec.ir.types import Access, ArrayType, ScalarType, TensorType
from pypto_spec.ir.verifier import verify
from pypto_spec.ops.registry import OPS
from pypto_spec.passes.base import Pass
from pypto_spec.passes.convert_to_ssa import CONVERT_TO_SSA
from pypto_spec.passes.outline_incore_scopes import OUTLINE_INCORE_SCOPES
from pypto_spec.passes.simplify import SIMPLIFY
from tests.passes.shape import statements_text
from tests.passes.toys import context, loc, program


class Build:
    """Collects the statements of one region."""

    def __init__(self) -> None:
        self.env: dict[str, Value] = {}
        self.body: list[Stmt] = []

    def tensor(self, name: str, *shape: Index, dtype: DType = FP32, access: Access = Access.INOUT) -> None:
        self.env[name] = Value(name, TensorType(dtype, shape, access))

    def scalar(self, name: str, dtype: DType = FP32) -> None:
        self.env[name] = Value(name, ScalarType(dtype))

    def op(self, name: str, into: str | None = None, **fields: Any) -> None:
        """Append an op; a trailing `_` of a field's name is dropped (`from_`)."""
        defn = OPS[name]
        operands: dict[str, Value] = {}
        attrs: dict[str, Any] = {}
        for key, item in fields.items():
            field = key.rstrip("_")
            kind = defn.field(field).kind
            if kind in ("tile", "tensor") or (kind == "number" and isinstance(item, str)):
                operands[field] = self.env[item]
            else:
                attrs[field] = item
        place = loc()
        made = None
        if name != "store":
            arrays = any(isinstance(v.type, TensorType | ArrayType) for v in operands.values()) and name != "load"
            made = defn.infer(Inference(defn, operands, attrs, place, "array" if arrays else "tile"))
        results = () if into is None or made is None else (Value(into, made),)
        self.body.append(Op(defn=defn, operands=operands, attrs=attrs, results=results, loc=place))
        if results and into is not None:
            self.env[into] = results[0]

    def load(self, into: str, tensor: str, *shape: int, at: Sequence[Index] = (), **fields: Any) -> None:
        self.op("load", into, from_=tensor, at=tuple(at) or (0,) * len(shape), shape=shape, **fields)

    def store(self, tile: str, tensor: str, at: Sequence[Index] = (), **fields: Any) -> None:
        kind = self.env[tensor].type
        assert isinstance(kind, TensorType)
        self.op("store", from_=tile, to=tensor, at=tuple(at) or (0,) * len(kind.shape), **fields)

    def loop(self, index: Sym, stop: int) -> Loop:
        return Loop(self, index, stop)

    def program(self) -> Program:
        arguments = [v for v in self.env.values() if isinstance(v.type, TensorType)]
        scalars = tuple(v for v in self.env.values() if isinstance(v.type, ScalarType))
        made = Region(name="r", body=tuple(self.body), loc=loc())
        return replace(program(made, tensors=arguments), scalars=scalars)


class Loop:
    """`with build.loop(i, 8):` puts what is built inside into a loop."""

    def __init__(self, build: Build, index: Sym, stop: int) -> None:
        self.build = build
        self.index = index
        self.stop = stop
        self.outer: list[Stmt] = []

    def __enter__(self) -> None:
        self.outer, self.build.body = self.build.body, []

    def __exit__(self, *error: object) -> None:
        body = tuple(self.build.body)
        self.build.body = [*self.outer, For(index=self.index, start=0, stop=self.stop, step=1, body=body, loc=loc())]


def passed(made: Program, *passes: Pass) -> Program:
    """The program after the front passes and `passes`, each verified; a second run of the last changes nothing."""
    for step in (CONVERT_TO_SSA, SIMPLIFY, OUTLINE_INCORE_SCOPES, *passes):
        made = step.run(made, context())
        found = verify(made, ["SSAForm", *(p.value for p in step.produces)], OPS)
        assert found is None, f"{step.name}: {found}"
        assert step.run(made, context()) is made, step.name
    return made


def text(made: Program, types: bool = True) -> list[str]:
    (only,) = made.body
    assert isinstance(only, Region)
    return statements_text(only.body, types=types)
