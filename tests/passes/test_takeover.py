"""Ops that change an operand in place: what they may take over, and what must be copied first."""

from __future__ import annotations

import pytest

from pypto_spec.ir.nodes import Op, Program
from pypto_spec.ir.rewrite import ops, regions
from tests.golden.harness import Case, Failure, assert_good, make

HEAD = """\
spec: v1
name: NAME
tensors:
  a: {dtype: fp32, shape: [16, 64]}
  b: {dtype: fp32, shape: [16, 8]}
  out: {dtype: fp32, shape: [16, 64], access: out}
  more: {dtype: fp32, shape: [16, 64], access: out}
BUFFERSprogram:
  - region: r
    body:
      - load: {into: t, from: a, at: [0, 0], shape: [16, 64]}
      - load: {into: x, from: b, at: [0, 0], shape: [16, 8]}
"""

BODIES = {
    "in_place": (
        0,
        """\
      - assemble: {into: y, target: t, x: x, at: [0, 8]}
      - store: {from: y, to: out, at: [0, 0]}
      - store: {from: y, to: more, at: [0, 0]}
""",
    ),
    "needed_later": (
        1,
        """\
      - assemble: {into: y, target: t, x: x, at: [0, 8]}
      - store: {from: y, to: out, at: [0, 0]}
      - store: {from: t, to: more, at: [0, 0]}
""",
    ),
    "view_needed_later": (
        1,
        """\
      - slice: {into: s, x: t, at: [0, 0], shape: [16, 64]}
      - assemble: {into: y, target: t, x: x, at: [0, 8]}
      - store: {from: y, to: out, at: [0, 0]}
      - store: {from: s, to: more, at: [0, 0]}
""",
    ),
    "part_of_itself": (
        1,
        """\
      - slice: {into: s, x: t, at: [0, 0], shape: [16, 8]}
      - move: {into: u, from: s}
      - slice: {into: v, x: t, at: [2, 0], shape: [4, 64]}
      - assemble: {into: y, target: t, x: v, at: [0, 0]}
      - assemble: {into: z, target: y, x: u, at: [0, 16]}
      - store: {from: z, to: out, at: [0, 0]}
      - store: {from: z, to: more, at: [0, 0]}
""",
    ),
    "chain": (
        0,
        """\
      - assemble: {into: y, target: t, x: x, at: [0, 8]}
      - assemble: {into: z, target: y, x: x, at: [0, 24]}
      - store: {from: z, to: out, at: [0, 0]}
      - store: {from: z, to: more, at: [0, 0]}
""",
    ),
    "carried": (
        0,
        """\
      - for: {index: i, count: 4}
        body:
          - assemble: {into: t, target: t, x: x, at: [0, i * 8]}
      - store: {from: t, to: out, at: [0, 0]}
      - store: {from: t, to: more, at: [0, 0]}
""",
    ),
    "each_round_anew": (
        1,
        """\
      - for: {index: i, count: 4}
        body:
          - assemble: {into: y, target: t, x: x, at: [0, i * 8]}
          - let: u = y + 1
          - store: {from: u, to: out, at: [0, 0]}
          - store: {from: y, to: more, at: [0, 0]}
""",
    ),
    "one_arm": (
        1,
        """\
      - for: {index: i, count: 2}
        body:
          - if: i == 0
            then:
              - assemble: {into: y, target: t, x: x, at: [0, 8]}
              - store: {from: y, to: out, at: [0, 0]}
            else:
              - store: {from: t, to: more, at: [0, 0]}
""",
    ),
    "bound_elsewhere": (
        1,
        """\
      - assemble: {into: y, target: t, x: x, at: [0, 8], buffer: mine}
      - store: {from: y, to: out, at: [0, 0]}
      - store: {from: y, to: more, at: [0, 0]}
""",
    ),
}


def case(name: str) -> Case:
    buffers = "buffers:\n  mine: {memory: vec, bytes: 4096}\n" if "mine" in BODIES[name][1] else ""
    return Case(HEAD.replace("NAME", f"takeover_{name}").replace("BUFFERS", buffers) + BODIES[name][1], exact=True)


def copies(program: Program) -> list[Op]:
    return [op for region in regions(program.body) for op in ops(region.body) if op.name == "move"]


@pytest.mark.parametrize("name", [n for n in BODIES if n != "part_of_itself"])
def test_a_copy_is_made_only_where_the_operand_is_needed(name: str) -> None:
    made = make(case(name))
    assert not isinstance(made, Failure), made
    assert len(copies(made.program)) == BODIES[name][0]


def test_all_mean_the_same_on_the_host_model() -> None:
    assert_good([case(name) for name in BODIES])
