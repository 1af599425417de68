"""InsertSync knows where a window that moves with a loop ends: in its own buffer, in every round."""

from __future__ import annotations

from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.inputs import Spec
from pypto_spec.driver.session import compile_spec
from pypto_spec.ir.nodes import For, SetFlag
from pypto_spec.ir.rewrite import regions, statements

TEXT = """\
spec: v1
name: gemv
tensors:
  x:   {dtype: fp16, shape: [1, 1024]}
  w:   {dtype: fp16, shape: [64, 1024]}
  out: {dtype: fp32, shape: [1, 64], access: out}
program:
  - region: gemv
    body:
      - load: {into: x_l1, from: x, at: [0, 0], shape: [1, 1024], memory: mat}
      - create_tile: {into: c, shape: [1, 64], dtype: fp32, memory: acc}
      - for: {index: k, range: [0, 1024, 256]}
        body:
          - load: {into: w_l1, from: w, at: [0, k], shape: [64, 256], memory: mat}
          - slice: {into: x_k, x: x_l1, at: [0, k], shape: [1, 256]}
          - transpose_view: {into: w_k, x: w_l1}
          - gemv_acc: {into: c, acc: c, lhs: x_k, rhs: w_k, init: k == 0}
      - store: {from: c, to: out, at: [0, 0]}
"""


def test_the_window_does_not_wait_for_the_buffer_behind_its_own() -> None:
    """`w_l1` stands right behind `x_l1`, and the window of the last round ends there."""
    done = compile_spec(Spec(Source("gemv.yaml", TEXT), "yaml", TEXT.encode()))
    assert done.program is not None, [d.message for d in done.findings]
    where = {b.name: (b.address, b.bytes) for b in done.program.buffers if b.memory.value == "mat"}
    (first, size), (second, _) = sorted(where.values())
    assert first == 0
    assert second == size == 2048
    (region,) = regions(done.program.body)
    (loop,) = [s for s in region.body if isinstance(s, For)]
    loads = [s for s in statements(loop.body) if isinstance(s, SetFlag) and s.source == "mte2"]
    assert len(loads) == 1
