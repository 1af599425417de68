"""Instructions written in a spec or dump: reading their text, and whether they are calls the hardware takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pypto_spec.convert.context import Reading
from pypto_spec.convert.instructions import Decoder, InstructionTextError
from pypto_spec.diagnostics.rules.cores import BAD_INSTRUCTION
from pypto_spec.ir.instr import Instr
from pypto_spec.ir.nodes import Op, Value
from pypto_spec.ir.recipe import OpRecipe
from pypto_spec.ops.decoding import InstructionError
from pypto_spec.ops.instructions import validate
from pypto_spec.spec.formula import FormulaError, parse_expression
from pypto_spec.spec.formula.nodes import Expr
from pypto_spec.spec.tree import MappingNode

T = TypeVar("T")


def step_decoder(reading: Reading) -> Decoder:
    """Reads instructions with the names that are in scope."""

    def parsed(make: Callable[[Expr], T], text: str) -> T:
        try:
            return make(parse_expression(text))
        except FormulaError as error:
            raise InstructionTextError(f"`{text}`: {error.message}") from None

    def scalar(text: str) -> Value | None:
        found = reading.scope.get(text)
        return found.value if found is not None and found.kind == "scalar" else None

    return Decoder(
        lambda text: parsed(reading.exprs.index, text), lambda text: parsed(reading.exprs.condition, text), scalar
    )


def check_steps(reading: Reading, op: Op, statement: MappingNode) -> None:
    """Refuse instructions whose arguments are not those of the call, or are outside its limits."""
    view = OpRecipe(op, reading.precision)

    items = reading.items(statement.get("instructions"), statement, "instructions")
    for step, item in zip(op.instrs or (), items, strict=True):
        if not isinstance(step, Instr):
            continue
        try:
            validate(step, view.dtype_of, view.memory_of)
        except (ValueError, LookupError, AssertionError) as error:
            known = isinstance(error, InstructionError)
            reading.fail(
                BAD_INSTRUCTION,
                item,
                str(error) if known else f"{step.call}: these are not the arguments of this call",
                label="this instruction",
                helps=["leave `instructions` out, and the compiler writes them"],
            )
