"""InitMemRef: every tile and every scratch area of its own."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.ir.nodes import Program, Value
from pypto_spec.ir.rewrite import ops, regions
from pypto_spec.ir.types import TileType
from pypto_spec.passes.init_mem_ref import INIT_MEM_REF
from tests.passes.tile_programs import random_text, stages
from tests.passes.toys import context

SPEC = """spec: v1
name: k
tensors:
  x: {dtype: fp32, shape: [64, 64]}
  out: {dtype: fp32, shape: [64, 64], access: out}
buffers:
  idle: {memory: vec}
  spare: {memory: vec, bytes: 4096, slots: 2}
  ub: {memory: vec}
  large: {memory: vec, bytes: 65536}
program:
  - region: r
    body:
      - load: {into: unused, from: x, at: [0, 0], shape: [64, 64], buffer: idle}
      - load: {into: t, from: x, at: [0, 0], shape: [32, 64], buffer: ub}
      - load: {into: u, from: x, at: [0, 0], shape: [64, 64], buffer: large}
      - store: {from: t, to: out, at: [0, 0]}
      - store: {from: u, to: out, at: [0, 0]}
"""


def results(program: Program) -> list[Value]:
    """What ops other than views make."""
    return [op.result for r in regions(program.body) for op in ops(r.body) if op.results and op.defn.role != "view"]


@given(st.randoms(use_true_random=False))
def test_no_two_ops_write_to_one_buffer(rng: Random) -> None:
    _, found = stages(random_text(rng), "InitMemRef")
    program = found["InitMemRef"]
    sizes = {b.name: b.bytes for b in program.buffers}
    names: list[str] = []
    for value in results(program):
        assert value.buffer is not None and isinstance(value.type, TileType)
        assert sizes[value.buffer.buffer] == value.type.bytes
        names.append(value.buffer.buffer)
    names += [ref.buffer for region in regions(program.body) for op in ops(region.body) for ref in op.scratch]
    assert len(set(names)) == len(names)
    assert INIT_MEM_REF.run(program, context()) is program


def test_the_buffers_of_an_author() -> None:
    _, found = stages(SPEC)
    buffers = {b.name: b.bytes for b in found["InitMemRef"].buffers if b.owner == "author"}
    assert buffers == {"ub": 8192, "large": 65536}
    assert {b.name: b.address for b in found["InsertSync"].buffers} == {"ub": 0, "large": 8192}


def test_a_carried_value_in_a_buffer_of_the_author() -> None:
    """Its size comes from the carried value where no op is bound to the buffer any more."""
    text = (
        SPEC.partition("program:")[0]
        + """program:
  - region: r
    body:
      - load: {into: t.1, from: x, at: [0, 0], shape: [32, 64]}
      - for: {index: i, count: 3}
        carry: {t.2: {init: t.1, buffer: ub}}
        results: {t.4: t.2}
        body:
          - exp: {into: t.3, x: t.2}
          - yield: {t.2: t.3}
      - store: {from: t.4, to: out, at: [0, 0]}
"""
    )
    _, found = stages(text)
    assert [(b.name, b.bytes) for b in found["InitMemRef"].buffers if b.owner == "author"] == [("ub", 8192)]
