"""The drawings alone, one below the other, as one SVG file."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_spec.report.map.colours import all_colours
from pypto_spec.report.map.drawing import draw
from pypto_spec.report.map.model import MappedProgram
from pypto_spec.report.map.titles import summary, title
from pypto_spec.report.pages import page

WIDTH = 1200
HEAD = 84
"""Pixels above each drawing: its title and its axis."""
GAP = 40
GAUGE = 300
"""Pixels of the bar that shows how full a memory is."""


def svg_text(programs: Sequence[MappedProgram]) -> str:
    """One SVG with the memories of all kernels of all programs."""
    entries = []
    y = 24
    for program in programs:
        for kernel in program.kernels:
            for memory in kernel.memories:
                drawing = draw(kernel, memory)
                heading = title(program, kernel, memory, several=len(programs) > 1)
                whole = max(memory.capacity + memory.reserved, memory.end)
                bars = {"capacity": GAUGE * memory.capacity / whole, "used": GAUGE * memory.end / whole}
                entries.append({"y": y, "drawing": drawing, "title": heading, "summary": summary(memory), "bars": bars})
                y += HEAD + drawing.height + GAP
    return page("map.svg.j2", entries=entries, width=WIDTH, height=max(y - GAP + 24, 60), colours=all_colours())
