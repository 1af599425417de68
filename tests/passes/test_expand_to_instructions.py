"""ExpandToInstructions: every op has its instructions, and written ones stay."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.ir.instr import Instr, Ref
from pypto_spec.ir.nodes import Op
from pypto_spec.ir.recipe import OpRecipe
from pypto_spec.ir.rewrite import ops, regions
from pypto_spec.passes.expand_to_instructions import EXPAND_TO_INSTRUCTIONS
from tests.passes.tile_programs import random_text, stages
from tests.passes.toys import context


@given(st.randoms(use_true_random=False))
def test_every_op_gets_its_recipe(rng: Random) -> None:
    _, found = stages(random_text(rng), "ExpandToInstructions")
    program = found["ExpandToInstructions"]
    for region in regions(program.body):
        for op in ops(region.body):
            assert op.instrs == op.defn.recipe(OpRecipe(op, "exact"))
            assert op.instrs or op.defn.role in ("view", "create")
    assert EXPAND_TO_INSTRUCTIONS.run(program, context()) is program


def test_written_instructions_stay() -> None:
    _, found = stages(random_text(Random(1)))
    program = found["AllocateMemoryAddr"]
    (region,) = regions(program.body)
    first = region.body[0]
    assert isinstance(first, Op)
    own = replace(first, instrs=(Instr("DataCopy", (Ref("into"), Ref("from"), 8)),))
    changed = replace(program, body=(replace(region, body=(own, *region.body[1:])),))
    (made,) = regions(EXPAND_TO_INSTRUCTIONS.run(changed, context()).body)
    assert made.body[0] is own


def test_precision_chooses_the_recipe() -> None:
    _, found = stages(random_text(Random(1)).replace("- neg:", "- rsqrt:"))
    program = found["AllocateMemoryAddr"]
    fast = EXPAND_TO_INSTRUCTIONS.run(replace(program, target=replace(program.target, precision="fast")), context())
    calls = {s.call for r in regions(fast.body) for op in ops(r.body) for s in op.instrs or () if isinstance(s, Instr)}
    assert "Rsqrt" in calls and "Sqrt" not in calls
