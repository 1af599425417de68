"""InsertSync knows where windows end: one that moves with a loop in its own buffer, and what a flag behind is for."""

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


ROWS = """\
spec: v1
name: rows
tensors:
  a:   {dtype: fp16, shape: [16, 48]}
  b:   {dtype: fp16, shape: [48, 70000]}
  out: {dtype: fp32, shape: [16, 64], access: out}
program:
  - region: mm
    body:
      - load: {into: x, from: a, at: [0, 0], shape: [16, 48], memory: mat}
      - load: {into: y, from: b, at: [0, 0], shape: [48, 64], memory: mat}
      - extract: {into: x0, x: x, at: [0, 0], shape: [16, 16], memory: left}
      - extract: {into: y0, x: y, at: [0, 0], shape: [16, 64], memory: right}
      - matmul: {into: c, lhs: x0, rhs: y0}
      - extract: {into: x1, x: x, at: [0, 32], shape: [16, 16], memory: left}
      - extract: {into: y1, x: y, at: [32, 0], shape: [16, 64], memory: right}
      - matmul_acc: {into: c, acc: c, lhs: x1, rhs: y1}
      - store: {from: c, to: out, at: [0, 0]}
"""


def test_a_flag_behind_a_load_row_by_row_is_for_all_rows() -> None:
    """The second part of `y` comes with a later copy than the first, and the flag stands behind both."""
    done = compile_spec(Spec(Source("rows.yaml", ROWS), "yaml", ROWS.encode()))
    assert done.program is not None, [d.message for d in done.findings]
    (region,) = regions(done.program.body)
    loads = [s for s in statements(region.body) if isinstance(s, SetFlag) and s.source == "mte2"]
    assert len(loads) == 2
