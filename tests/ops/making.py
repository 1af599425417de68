"""Ops made by hand, their inferred types, and their recipes as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from pypto_spec.diagnostics.model import CompileError, Diagnostic
from pypto_spec.diagnostics.span import NOWHERE, Loc
from pypto_spec.ir.dtype import DType
from pypto_spec.ir.expr import Expr, Index, to_text
from pypto_spec.ir.instr import Arg, InnerBarrier, Instr, Number, Ref, ScalarRef, Step, Struct, Word
from pypto_spec.ir.nodes import Op, Value
from pypto_spec.ir.opdef import Inference
from pypto_spec.ir.recipe import OpRecipe
from pypto_spec.ir.types import Access, Memory, ScalarType, TensorType, TileType, ValueType
from pypto_spec.ops.instructions import validate
from pypto_spec.ops.registry import OPS
from pypto_spec.passes.making import in_memory

Level = Literal["tile", "array"]


def tile(dtype: DType, *shape: int, **more: Any) -> TileType:
    """A tile in vec."""
    return TileType(dtype, shape, Memory.VEC, **more)


def tensor(dtype: DType, *shape: Index, access: Access = Access.INOUT) -> TensorType:
    """A tensor argument."""
    return TensorType(dtype, shape, access)


def infer(name: str, operands: Mapping[str, ValueType], level: Level = "tile", **attrs: Any) -> ValueType | None:
    """What the shape rule of an op says."""
    defn = OPS[name]
    values = {field: Value(field if field != "from" else "src", t) for field, t in operands.items()}
    return defn.infer(Inference(defn, values, attrs, Loc(NOWHERE), level))


def refused(name: str, operands: Mapping[str, ValueType], **attrs: Any) -> Diagnostic:
    """The diagnostic with which the shape rule refuses."""
    try:
        found = infer(name, operands, **attrs)
    except CompileError as error:
        return error.diagnostics[0]
    raise AssertionError(f"{name} was accepted as {found}")


def make(op: str, operands: Mapping[str, ValueType], into: ValueType | None = None, **attrs: Any) -> Op:
    """An op whose result has the inferred type, or `into`; a tile made by infer lands in vec."""
    defn = OPS[op]
    values = {field: Value(field, t) for field, t in operands.items()}
    made = infer(op, operands, **attrs) if into is None else into
    if isinstance(made, TileType) and made.memory is None:
        made = in_memory(made, Memory.VEC)
    results = () if made is None else (Value("into", made),)
    return Op(defn=defn, operands=values, attrs=attrs, results=results, loc=Loc(NOWHERE))


def dtype_of(op: Op) -> Callable[[Ref], DType]:
    """Data types of the operands of an op."""
    return OpRecipe(op, "exact").dtype_of


def memory_of(op: Op) -> Callable[[Ref], Memory]:
    """Memories of the operands of an op."""
    return OpRecipe(op, "exact").memory_of


def in_vec(ref: Ref) -> Memory:
    """Everything in UB."""
    return Memory.VEC


def recipe(op: Op, precision: Literal["exact", "fast"] = "exact") -> tuple[Step, ...]:
    """The instructions of an op, each checked against the limits of the hardware."""
    steps = op.defn.recipe(OpRecipe(op, precision))
    for step in steps:
        if isinstance(step, Instr):
            validate(step, dtype_of(op), memory_of(op))
    return steps


def scratch(op: Op, precision: Literal["exact", "fast"] = "exact") -> tuple[int, ...]:
    """Bytes of the scratch areas of an op."""
    return op.defn.scratch(OpRecipe(op, precision))


def text(steps: tuple[Step, ...]) -> str:
    """Instructions as C++-like lines."""
    return "\n".join(_step(s) for s in steps)


def _step(step: Step) -> str:
    if isinstance(step, InnerBarrier):
        return f"barrier {step.pipe}"
    template = f"<{', '.join(step.template)}>" if step.template else ""
    return f"{step.call}{template}({', '.join(map(_arg, step.args))})"


def _arg(arg: Arg) -> str:
    if isinstance(arg, Ref):
        name = arg.name if arg.dtype is None else f"{arg.name}:{arg.dtype}"
        return name if arg.offset == 0 else f"{name}[{to_text(arg.offset)}]"
    if isinstance(arg, Word):
        return arg.text
    if isinstance(arg, Struct):
        return f"{arg.name}({', '.join(map(_arg, arg.args))})"
    if isinstance(arg, Number):
        return f"{arg.value}:{arg.dtype}"
    if isinstance(arg, ScalarRef):
        return f"{arg.value.name}:{arg.dtype}"
    return to_text(arg) if isinstance(arg, Expr) else str(arg)


def scalar(dtype: DType) -> ScalarType:
    """A run-time scalar."""
    return ScalarType(dtype)
