"""How a product of whole arrays is divided: tiles of the output, chunks of K in L1, blocks of K in L0."""

from __future__ import annotations

from docs.site.model import ROOT
from docs.site.pictures.canvas import Canvas, kib
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.inputs import Spec
from pypto_spec.driver.tiling.divided import Divided
from pypto_spec.driver.tiling.spec import matmuls
from pypto_spec.ir.types import Memory
from pypto_spec.ops.cube.mmad import ACCUMULATOR
from pypto_spec.passes.products.plan import Plan
from pypto_spec.targets import TARGETS

SPEC = "specs/cube/matmul_4096.yaml"
"""The kernel of the gallery that is drawn."""


LEFT, TOP, SIDE = 24, 40, 200
"""Where the picture of the matrices begins, and pixels of a side of a square one."""


def divided() -> Divided:
    """The product of the kernel, with its plan."""
    text = (ROOT / SPEC).read_text(encoding="utf-8")
    (found,) = matmuls(Spec(Source(SPEC, text), "yaml", text.encode())).found
    assert isinstance(found, Divided)
    return found


def draw() -> Canvas:
    """The picture: the matrices to scale, and what stands in L1 and L0 at one time."""
    it = divided()
    plan = it.division.taken
    rows, cols, depth = it.product.extents
    each = it.product.operand_dtype.bytes
    sheet = Canvas(860, 500, f"A product of {rows} x {depth} by {depth} x {cols}, divided for L1 and L0")
    scale = SIDE / max(rows, cols, depth)
    height, width, deep = rows * scale, cols * scale, depth * scale
    right, below = LEFT + deep + 24, TOP + deep + 24
    dtype = it.product.operand_dtype.name
    head = f"out = A @ B, all {rows:,} x {cols:,} of {dtype}, to scale"
    sheet.text(LEFT, TOP - 12, head, "head", "start")
    row, col, at = 9, 6, 5  # the tile and the chunk of K that are shown
    tile = plan.m * scale, plan.n * scale, plan.chunk * scale

    sheet.box(LEFT, below, deep, height, "plain", 2)
    sheet.text(LEFT + deep / 2, below + height - 12, "A", "head")
    sheet.box(LEFT, below + row * tile[0], deep, tile[0], "mte2", 0)
    sheet.box(LEFT + at * tile[2], below + row * tile[0], tile[2], tile[0], "mte1", 0)
    sheet.box(right, TOP, width, deep, "plain", 2)
    sheet.text(right + width - 16, TOP + deep - 12, "B", "head")
    sheet.box(right + col * tile[1], TOP, tile[1], deep, "mte2", 0)
    sheet.box(right + col * tile[1], TOP + at * tile[2], tile[1], tile[2], "mte1", 0)
    sheet.box(right, below, width, height, "plain", 2)
    for number in range(1, rows // plan.m):
        sheet.path([(right, below + number * tile[0]), (right + width, below + number * tile[0])], "thin")
    for number in range(1, cols // plan.n):
        sheet.path([(right + number * tile[1], below), (right + number * tile[1], below + height)], "thin")
    sheet.box(right + col * tile[1], below + row * tile[0], tile[1], tile[0], "fix", 0)
    sheet.text(right + width / 2, below + height + 18, f"out: {plan.tiles} tiles of {plan.m} x {plan.n}", "small")
    sheet.text(LEFT + deep / 2, below + height + 18, f"a band of A: {depth // plan.chunk} chunks", "small")

    _chip(sheet, it, plan, each)
    return sheet


def _chip(sheet: Canvas, it: Divided, plan: Plan, each: int) -> None:
    """What stands on one cube core while a tile is summed up."""
    capacity = TARGETS[it.platform].capacity
    x, zoom = 480.0, 0.42
    sheet.text(x, TOP - 12, "on one cube core, while a tile is summed up", "head", "start")
    pairs = ((plan.m, plan.chunk, "A"), (plan.chunk, plan.n, "B"))
    y = float(TOP)
    size = sum(a * b for a, b, _ in pairs) * each
    sheet.text(x, y + 14, f"L1: 2 x {kib(size)} of {kib(capacity[Memory.MAT])}, chunks", "", "start")
    left = x
    for high, wide, name in pairs:
        sheet.box(left, y + 26, wide * zoom, high * zoom, "mte1", 2)
        sheet.text(left + wide * zoom / 2, y + 26 + high * zoom / 2 + 4, f"{name}: {high} x {wide}", "small")
        left += wide * zoom + 20
    y += 26 + max(a for a, _, _ in pairs) * zoom + 30
    small = ((plan.m, plan.block, "L0A", Memory.LEFT), (plan.block, plan.n, "L0B", Memory.RIGHT))
    words = "; ".join(f"{name} 2 x {kib(a * b * each)} of {kib(capacity[memory])}" for a, b, name, memory in small)
    sheet.text(x, y + 14, words, "", "start")
    left = x
    for high, wide, name, _ in small:
        sheet.box(left, y + 26, wide * zoom, high * zoom, "m", 2)
        label = left + wide * zoom / 2, y + 26 + high * zoom / 2 + 4
        if wide * zoom > 60:
            sheet.text(*label, f"{name}: {high} x {wide}", "small")
        else:
            sheet.text(left + wide * zoom + 8, label[1], f"{name}: {high} x {wide}", "small", "start")
        left += wide * zoom + 110
    y += 26 + plan.m * zoom + 34
    summed = ACCUMULATOR[it.product.operand_dtype]
    total = plan.m * plan.n * summed.bytes
    sheet.text(x, y + 14, f"L0C: {kib(total)} of {kib(capacity[Memory.ACC])}, the sum in {summed.name}", "", "start")
    sheet.box(x, y + 26, plan.n * zoom, plan.m * zoom, "fix", 2)
    sheet.text(x + plan.n * zoom / 2, y + 26 + plan.m * zoom / 2 + 4, f"{plan.m} x {plan.n}", "small")
