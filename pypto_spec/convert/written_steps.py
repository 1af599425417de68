"""Instructions written in a spec or dump: whether their arguments make the calls they name."""

from __future__ import annotations

from pypto_spec.convert.context import Reading
from pypto_spec.diagnostics.rules.cores import BAD_INSTRUCTION
from pypto_spec.ir.dtype import DType
from pypto_spec.ir.instr import Instr, Ref
from pypto_spec.ir.nodes import Op
from pypto_spec.ir.recipe import OpRecipe
from pypto_spec.ops.decoding import InstructionError
from pypto_spec.ops.instructions import validate
from pypto_spec.spec.tree import MappingNode


def check_steps(reading: Reading, op: Op, statement: MappingNode) -> None:
    """Refuse instructions whose arguments are not those of the call, or are outside its limits."""
    view = OpRecipe(op, reading.precision)

    def dtype_of(ref: Ref) -> DType:
        return ref.dtype if ref.dtype is not None else view.value(ref.name).type.dtype

    items = reading.items(statement.get("instructions"), statement, "instructions")
    for step, item in zip(op.instrs or (), items, strict=True):
        if not isinstance(step, Instr):
            continue
        try:
            validate(step, dtype_of)
        except (ValueError, LookupError, AssertionError) as error:
            known = isinstance(error, InstructionError)
            reading.fail(
                BAD_INSTRUCTION,
                item,
                str(error) if known else f"{step.call}: these are not the arguments of this call",
                label="this instruction",
                helps=["leave `instructions` out, and the compiler writes them"],
            )
