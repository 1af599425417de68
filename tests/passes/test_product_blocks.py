"""LowerTensorMatmul over blocks: a loop where a block takes several tiles, none where each block takes one."""

from __future__ import annotations

import pytest

from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.inputs import Spec
from pypto_spec.driver.session import compile_spec
from pypto_spec.ir.condition import holds
from pypto_spec.ir.nodes import For, Grid, Program
from pypto_spec.ir.orders import cell
from pypto_spec.ir.rewrite import regions, statements
from pypto_spec.passes.products.blocked import least_read
from pypto_spec.passes.products.plan import Plan

TEXT = """\
spec: v1
name: mm
tensors:
  a:   {dtype: fp16, shape: [512, 64]}
  b:   {dtype: fp16, shape: [64, 512]}
  out: {dtype: fp32, shape: [512, 512], access: out}
program:
  - region: mm
    blocks: BLOCKS
    order: ORDER
    body:
      - let: out = matmul(a, b)
golden:
  expect: {out: "matmul(a, b)"}
"""


def lowered(blocks: object, order: str = "row") -> Program:
    text = TEXT.replace("BLOCKS", str(blocks)).replace("ORDER", order)
    done = compile_spec(Spec(Source("mm.yaml", text), "yaml", text.encode()))
    assert done.program is not None, [d.message for d in done.findings]
    return done.program


def walked(program: Program) -> list[str]:
    (region,) = regions(program.body)
    return [s.index.name for s in statements(region.body) if isinstance(s, For)]


def launched(program: Program) -> object:
    (grid,) = program.body
    assert isinstance(grid, Grid)
    return grid.count


def test_fewer_blocks_than_tiles_walk_them() -> None:
    for blocks in (2, 3, "auto"):
        program = lowered(blocks)
        assert walked(program) == ["tile"]
        assert launched(program) == blocks


@pytest.mark.parametrize("order", ["row", "col", "{swizzle: 2}"])
def test_a_block_with_one_tile_has_no_loop(order: str) -> None:
    tiles = launched(lowered(65535))
    assert isinstance(tiles, int) and tiles > 1
    for blocks in (tiles, tiles + 1):
        program = lowered(blocks, order)
        assert walked(program) == []
        assert launched(program) == tiles


@pytest.mark.parametrize(
    ("rows", "columns", "cores", "order"),
    [
        (48, 24, 24, "swizzle:6"),  # 6 rows of 128 and 4 columns of 256: 1,792 in place of 6,272 in rows
        (1, 24, 24, "row"),
        (24, 1, 24, "row"),  # there is one order
        (4, 4, 1, "row"),
        (7, 9, 4, "swizzle:2"),
    ],
)
def test_the_order_that_reads_least(rows: int, columns: int, cores: int, order: str) -> None:
    plan = Plan(128, 256, 256, 64, False, 0, 0, 0, 0, 0, 0, 0)
    assert least_read(plan, rows, columns, cores) == order


def test_no_order_reads_less() -> None:
    plan = Plan(128, 256, 256, 64, False, 0, 0, 0, 0, 0, 0, 0)

    def touched(order: str) -> int:
        found = [cell(order, (48, 24), place) for place in range(24)]
        at = [c.first if c.condition is None or holds(c.condition, {}) else c.rest for c in found]
        return len({a[0] for a in at}) * plan.m + len({a[1] for a in at}) * plan.n

    mine = touched(least_read(plan, 48, 24, 24))
    assert mine <= min(touched(order) for order in ("row", "col", *(f"swizzle:{n}" for n in range(2, 25))))
