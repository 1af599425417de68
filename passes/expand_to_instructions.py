"""ExpandToInstructions: every op becomes the Ascend C calls of its recipe.

Runs after addresses are known, so that everything behind it (InsertSync, the checker, the cost model, mutation, the
templates) sees single instructions. The op stays around its instructions: its statement, its types and its torch
meaning are still there. Instructions that are already written are left alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pypto_spec.ir.nodes import Op, Program, Stmt
from pypto_spec.ir.recipe import OpRecipe
from pypto_spec.ir.rewrite import Rewriter, with_parts
from pypto_spec.passes.base import Context, Pass, Property


class _Expander(Rewriter):
    def __init__(self, precision: Literal["exact", "fast"]) -> None:
        super().__init__()
        self.precision: Literal["exact", "fast"] = precision

    def op(self, op: Op) -> Sequence[Stmt]:
        if op.instrs is not None:
            return (op,)
        return (with_parts(op, instrs=op.defn.recipe(OpRecipe(op, self.precision))),)


def run(program: Program, context: Context) -> Program:
    """Fill in the instructions of every op."""
    return _Expander(program.target.precision).program(program)


EXPAND_TO_INSTRUCTIONS = Pass(
    name="ExpandToInstructions",
    run=run,
    requires=frozenset({Property.ALLOCATED_MEMORY_ADDR}),
    produces=frozenset({Property.HAS_INSTRUCTIONS}),
    doc=__doc__,
)
