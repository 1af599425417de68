"""How a matrix stands in memory: row by row, and in the fractal orders of the cube."""

from __future__ import annotations

from collections.abc import Callable

from docs.site.pictures.canvas import Canvas
from pypto_spec.ir.dtype import FP16
from pypto_spec.ir.layouts import FRACTAL_BYTES, FRACTAL_ROWS, Layout, Memory, implicit_layout

SIDE = 4
"""Fractals on a side of the matrix that is drawn."""
CELL = 40
NAMES = {Memory.MAT: "L1", Memory.LEFT: "L0A", Memory.RIGHT: "L0B", Memory.ACC: "L0C"}

ORDERS: dict[Layout, tuple[Callable[[int, int], int], str, str]] = {
    Layout.NZ: (lambda row, col: col * SIDE + row, "columns of fractals,", "rows inside"),
    Layout.ZZ: (lambda row, col: row * SIDE + col, "rows of fractals,", "rows inside"),
    Layout.ZN: (lambda row, col: row * SIDE + col, "rows of fractals,", "columns inside"),
}
"""The place of a fractal in memory by its row and column, and what that is in words."""


def draw() -> Canvas:
    """The picture: one panel for each layout, and a fractal from close by."""
    size = SIDE * FRACTAL_ROWS
    sheet = Canvas(860, 336, "Storage orders: nd, nz, zz and zn")
    for place, layout in enumerate((Layout.ND, Layout.NZ, Layout.ZZ, Layout.ZN)):
        x = 24 + place * 212.0
        where = [name for memory, name in NAMES.items() if implicit_layout(memory, size, size) is layout]
        sheet.text(x + 80, 32, layout.value, "head")
        sheet.text(x + 80, 50, ", ".join(where) if where else "GM, UB", "small faint")
        _panel(sheet, x, 62, layout)
        order = ("rows, one behind", "the other") if layout is Layout.ND else ORDERS[layout][1:]
        sheet.lines(x + 80, 242, order, "small", 15)
    words = (
        f"a square is a fractal: {FRACTAL_ROWS} rows of {FP16.block} elements of fp16, {FRACTAL_BYTES} B in one piece;",
        "the number is its place in memory, the arrow in it the way through its elements",
    )
    sheet.lines(430, 290, words, "small")
    return sheet


def _panel(sheet: Canvas, x: float, y: float, layout: Layout) -> None:
    width = SIDE * CELL
    if layout is Layout.ND:
        sheet.box(x, y, width, width, "plain", 2)
        for row in range(8):
            level = y + 10 + row * 20
            sheet.path([(x + 6, level), (x + width - 6, level)], "arrow")
        return
    order = ORDERS[layout][0]
    for row in range(SIDE):
        for col in range(SIDE):
            left, top = x + col * CELL, y + row * CELL
            number = order(row, col)
            sheet.box(left, top, CELL, CELL, ("mte2", "v", "m", "mte1")[number // SIDE], 2)
            _way(sheet, left, top, columns=layout is Layout.ZN)
            sheet.text(left + CELL / 2, top + 24, str(number), "head")


def _way(sheet: Canvas, x: float, y: float, *, columns: bool) -> None:
    """The way through the elements of a fractal: its first two rows, or columns."""
    near, far = 5, CELL - 5
    if columns:
        sheet.path([(x + near, y + near), (x + near, y + far)], "arrow")
    else:
        sheet.path([(x + near, y + near), (x + far, y + near)], "arrow")
