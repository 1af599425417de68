"""MaterializeSemanticAliases: a carried value has one place from its start to its end."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.ir.nodes import For, If, Program
from pypto_spec.ir.rewrite import ops, regions, statements
from pypto_spec.passes.materialize_semantic_aliases import MATERIALIZE_SEMANTIC_ALIASES
from tests.passes.tile_programs import HEAD, random_text, stages
from tests.passes.toys import context


def at_home(program: Program) -> bool:
    for region in regions(program.body):
        for node in statements(region.body):
            if isinstance(node, For):
                for carry in node.carries:
                    places = {v.buffer for v in (carry.init, carry.arg, carry.yielded, carry.result)}
                    if len(places) != 1:
                        return False
            elif isinstance(node, If) and any(
                len({p.then.buffer, p.other.buffer, p.result.buffer}) != 1 for p in node.phis
            ):
                return False
    return True


@given(st.randoms(use_true_random=False))
def test_everything_that_is_carried_is_at_home(rng: Random) -> None:
    _, found = stages(random_text(rng), "MaterializeSemanticAliases")
    program = found["MaterializeSemanticAliases"]
    assert at_home(program)
    again = MATERIALIZE_SEMANTIC_ALIASES.run(program, context())
    assert [op.name for r in regions(again.body) for op in ops(r.body)] == [
        op.name for r in regions(program.body) for op in ops(r.body)
    ]


def test_accumulators_cost_no_copy() -> None:
    text = f"""{HEAD}program:
  - region: r
    body:
      - load: {{into: sum, from: x, at: [0, 0], shape: [8, 32]}}
      - row_max: {{into: top, x: sum}}
      - for: {{index: i, count: 3}}
        body:
          - load: {{into: t, from: x, at: [i * 8, 0], shape: [8, 32]}}
          - row_expand_sub: {{into: t, x: t, v: top}}
          - add: {{into: sum, lhs: sum, rhs: t}}
          - maximum: {{into: sum, lhs: sum, rhs: t}}
      - store: {{from: sum, to: wide, at: [0, 0]}}
      - cast: {{into: h, x: sum, dtype: fp16}}
      - store: {{from: h, to: half, at: [0, 0]}}
      - store: {{from: top, to: col, at: [0, 0]}}
      - col_max: {{into: r, x: sum}}
      - store: {{from: r, to: row, at: [0, 0]}}
"""
    _, found = stages(text)
    made = found["MaterializeSemanticAliases"]
    assert at_home(made)
    assert not any(op.name == "move" for region in regions(made.body) for op in ops(region.body))
