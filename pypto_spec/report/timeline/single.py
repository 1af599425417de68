"""Modelled cycles of one operator, for places that have no room for a timeline."""

from __future__ import annotations

from pypto_spec.ir.instr import Instr
from pypto_spec.ir.nodes import Op
from pypto_spec.ir.recipe import OpRecipe
from pypto_spec.ops.amounts import amounts
from pypto_spec.ops.instructions import decode, form_of
from pypto_spec.targets.cycles import cycles
from pypto_spec.targets.model import Target


def op_cycles(op: Op, target: Target) -> int | None:
    """The cycles that the instructions of an op keep their pipes, all together, on a core that runs alone.

    None where they depend on what is known at run time only.
    """
    view = OpRecipe(op, "exact")  # both precisions name operands alike
    total = 0
    for step in op.instrs or ():
        found = amounts(step, view.dtype_of, view.memory_of) if isinstance(step, Instr) else None
        if found is None or not isinstance(step, Instr):
            continue
        if not (isinstance(found.bytes, int) and isinstance(found.repeats, int) and isinstance(found.elements, int)):
            return None
        if found.elements:
            pipe = decode(step, view.dtype_of, view.memory_of).pipe
            form = form_of(step, view.memory_of)
            total += cycles(target, pipe, form, bytes=found.bytes, repeats=found.repeats)
    return total
