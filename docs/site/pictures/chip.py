"""The cores of a chip, and how the blocks of a launch meet them."""

from __future__ import annotations

from docs.site.pictures.canvas import Canvas
from pypto_spec.targets import TARGETS

TARGET = TARGETS["a2a3"]
BLOCKS = 60
"""Blocks of the launch that is drawn: more than there are cores."""


def draw() -> Canvas:
    """The picture: clusters of one cube core and its vector cores, and a launch on these in waves."""
    beside = TARGET.vector_cores // TARGET.cube_cores
    cores = TARGET.cores("aiv")
    sheet = Canvas(860, 348, f"{TARGET.cube_cores} cube cores and {cores} vector cores, and a launch on them")
    sheet.text(24, 32, f"{TARGET.cube_cores} cube cores, each with {beside} vector cores beside it", "head", "start")
    for place in range(TARGET.cube_cores):
        x, y = 24 + place % 8 * 62, 48 + place // 8 * 62
        sheet.box(x, y, 54, 54, "open")
        sheet.box(x + 6, y + 6, 42, 20, "m", 3)
        for lane in range(beside):
            sheet.box(x + 6 + lane * 42 / beside, y + 30, 42 / beside - 2, 18, "v", 3)
    sheet.box(24, 240, 488, 30, "gm")
    sheet.text(268, 260, "L2, shared")
    sheet.box(24, 280, 488, 30, "gm")
    sheet.text(268, 300, "GM, shared")
    sheet.box(24, 322, 12, 12, "m", 2)
    sheet.text(42, 332, "cube core: regions on AIC", "small", "start")
    sheet.box(200, 322, 12, 12, "v", 2)
    sheet.text(218, 332, "vector core: regions on AIV", "small", "start")

    waves = -(-BLOCKS // cores)
    sheet.text(548, 32, f"{BLOCKS} blocks on {cores} vector cores", "head", "start")
    down = 48.0
    for wave in range(waves):
        count = min(cores, BLOCKS - wave * cores)
        rows = -(-cores // 12)
        for place in range(cores):
            x = 548 + place % 12 * 24
            look = "v" if place < count else "open"
            sheet.box(x, down + place // 12 * 22, 20, 18, look, 3)
            if place < count:
                sheet.text(x + 10, down + place // 12 * 22 + 13, str(wave * cores + place), "small")
        words = f"wave {wave + 1}: {count} blocks, {cores - count} cores idle"
        sheet.text(548, down + rows * 22 + 12, words, "small faint", "start")
        down += rows * 22 + 30
    return sheet
