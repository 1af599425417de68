"""The drawings alone, one below the other, as one SVG file."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_spec.report.map.colours import Colour, all_colours
from pypto_spec.report.map.drawing import Drawing, draw
from pypto_spec.report.map.model import MappedProgram
from pypto_spec.report.map.titles import summary, title
from pypto_spec.report.pages import page

WIDTH = 1200
PLOT = 892
"""Pixels of bytes; the rest of the width is for statements and the edges."""
HEAD = 108
"""Pixels above each drawing: its title, the colours and its axis."""
LETTER = 6.6
"""About as many pixels as a letter of the legend is wide."""
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
                drawing = draw(kernel, memory, PLOT)
                heading = title(program, kernel, memory, several=len(programs) > 1)
                whole = max(memory.capacity + memory.reserved, memory.end)
                bars = {"capacity": GAUGE * memory.capacity / whole, "used": GAUGE * memory.end / whole}
                entries.append({
                    "y": y, "drawing": drawing, "title": heading, "summary": summary(memory), "bars": bars,
                    "legend": _legend(drawing),
                })  # fmt: skip
                y += HEAD + drawing.height + GAP
    return page(
        "map.svg.j2", entries=entries, width=WIDTH, plot=PLOT, height=max(y - GAP + 24, 60), colours=all_colours()
    )


def _legend(drawing: Drawing) -> list[tuple[float, Colour]]:
    """The colours one beside the other, with where each begins."""
    places: list[tuple[float, Colour]] = []
    x = float(WIDTH - PLOT - 24)
    for colour in drawing.legend:
        places.append((x, colour))
        x += 40 + LETTER * len(colour.meaning)
    return places
