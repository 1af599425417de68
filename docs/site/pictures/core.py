"""The memories of a cube core and of a vector core, and the pipes that copy between them."""

from __future__ import annotations

from collections.abc import Mapping

from docs.site.pictures.canvas import Canvas, kib
from pypto_spec.ir.types import Memory
from pypto_spec.ops.registry import OPS
from pypto_spec.targets import TARGETS

TARGET = TARGETS["a2a3"]


def pipes() -> Mapping[tuple[Memory, Memory], str]:
    """The pipe of each copy, from the operators that copy."""
    found: dict[tuple[Memory, Memory], str] = {}
    for defn in OPS.values():
        found |= defn.pipes
    load = OPS["load"]
    return {**found, **{(Memory.GM, space): load.pipe for space in load.spaces["into"]}}


def _memory(sheet: Canvas, memory: Memory, x: float, y: float, width: float, height: float, name: str) -> None:
    sheet.box(x, y, width, height, "plain")
    sheet.text(x + width / 2, y + height / 2 - 5, name, "head")
    size = TARGET.capacity.get(memory)
    words = f"{memory.value}" if size is None else f"{memory.value}, {kib(size)}"
    sheet.text(x + width / 2, y + height / 2 + 13, words, "code")


def draw() -> Canvas:
    """The picture. The arrows are those of the target's `moves`, no other."""
    sheet = Canvas(860, 470, "The memories of a cube core and of a vector core, and the pipes between them")
    known = pipes()
    drawn: set[tuple[Memory, Memory]] = set()

    def way(start: Memory, end: Memory, points: list[tuple[float, float]], label: tuple[float, float]) -> None:
        assert end in TARGET.moves[start]
        drawn.add((start, end))
        pipe = known[start, end]
        sheet.path(points, "arrow")
        width = 8 * len(pipe) + 14
        sheet.box(label[0] - width / 2, label[1] - 13, width, 18, pipe, 9)
        sheet.text(label[0], label[1], pipe.upper(), "small")

    sheet.box(20, 18, 820, 62, "gm")
    sheet.text(430, 43, "GM: global memory, behind an L2 that all cores share", "head")
    costs = TARGET.costs
    sheet.text(430, 65, f"all cores read {costs.gm_read} B a cycle of GM, {costs.l2_read:,} B of L2", "small")

    sheet.box(20, 130, 520, 320, "open", 8)
    sheet.text(290, 154, f"cube core, one of {TARGET.cube_cores}", "head")
    _memory(sheet, Memory.MAT, 60, 190, 150, 56, "L1")
    _memory(sheet, Memory.LEFT, 40, 300, 130, 52, "L0A")
    _memory(sheet, Memory.RIGHT, 180, 300, 130, 52, "L0B")
    _memory(sheet, Memory.BIAS, 320, 300, 100, 52, "BT")
    _memory(sheet, Memory.ACC, 370, 190, 150, 56, "L0C")
    sheet.box(120, 396, 240, 38, "m")
    sheet.text(240, 420, "the cube: Mmad (pipe M)")
    for x in (105, 245, 370):
        sheet.path([(x, 352), (x, 374), (min(max(x, 140), 340), 374), (min(max(x, 140), 340), 396)], "arrow")
    sheet.path([(360, 415), (470, 415), (470, 246)], "arrow")

    way(Memory.GM, Memory.MAT, [(110, 80), (110, 190)], (110, 112))
    way(Memory.MAT, Memory.LEFT, [(105, 246), (105, 300)], (105, 283))
    way(Memory.MAT, Memory.RIGHT, [(190, 246), (190, 262), (245, 262), (245, 300)], (245, 283))
    way(Memory.MAT, Memory.BIAS, [(210, 228), (345, 228), (345, 300)], (345, 283))
    way(Memory.ACC, Memory.MAT, [(370, 206), (210, 206)], (290, 210))
    way(Memory.ACC, Memory.GM, [(470, 190), (470, 80)], (470, 112))

    sheet.box(570, 130, 270, 320, "open", 8)
    sheet.text(705, 154, f"vector core, one of {TARGET.vector_cores}", "head")
    _memory(sheet, Memory.VEC, 590, 190, 230, 56, "UB")
    sheet.text(705, 266, f"and {kib(TARGET.reserved[Memory.VEC])} that some calls use", "small faint")
    sheet.box(625, 350, 160, 44, "v")
    sheet.text(705, 368, "vector unit (pipe V)")
    sheet.text(705, 385, "256 B a repeat", "small")
    sheet.path([(670, 276), (670, 350)], "both")
    sheet.path([(740, 276), (740, 350)], "both")
    way(Memory.GM, Memory.VEC, [(606, 80), (606, 190)], (606, 112))
    way(Memory.VEC, Memory.GM, [(804, 190), (804, 80)], (804, 112))
    sheet.text(705, 425, "each core has a scalar stream (S) that", "small faint")
    sheet.text(705, 440, "hands instructions to the pipes", "small faint")

    assert drawn == {(start, end) for start, ends in TARGET.moves.items() for end in ends}
    return sheet
