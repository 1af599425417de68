"""The parts of the documentation that speak of the memories of the cube, from the code."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_spec.ir.dtype import FP16, FP32, INT8, INT32, DType
from pypto_spec.ir.layouts import CUBE_MEMORIES, FRACTAL_LAYOUTS, Layout, Memory, box, implicit_layout, layouts_of
from pypto_spec.ops.cube.fixpipe import outputs
from pypto_spec.ops.cube.mmad import ACCUMULATOR, OPERANDS
from pypto_spec.targets import TARGETS

NAMES = {Memory.MAT: "L1", Memory.LEFT: "L0A", Memory.RIGHT: "L0B", Memory.ACC: "L0C", Memory.BIAS: "BT"}


def moves() -> Iterator[tuple[str, ...]]:
    """Where one copy leads from each memory, by target."""
    yield ("from", *(f"`{name}` to" for name in TARGETS))
    for memory in Memory:
        cells = [target.moves.get(memory, ()) for target in TARGETS.values()]
        if any(cells):
            yield f"`{memory.value}`", *(", ".join(f"`{m.value}`" for m in ends) or "-" for ends in cells)


def layouts() -> Iterator[tuple[str, ...]]:
    """The layouts of each memory, and what rows and columns are rounded to."""
    yield "memory", "layout", "which tiles", "rounded to, 2 B", "4 B", "1 B"
    for memory in (m for m in Memory if m in CUBE_MEMORIES):
        for layout in layouts_of(memory):
            kinds = (FP32, INT32) if memory in (Memory.ACC, Memory.BIAS) else (FP16, FP32, INT8)
            boxes = [_box(memory, layout, kind) for kind in kinds]
            cells = ["-", f"fp32 {boxes[0]}, int32 {boxes[1]}", "-"] if len(boxes) == 2 else boxes
            yield f"`{memory.value}` ({NAMES[memory]})", f"`{layout.value}`", _which(memory, layout), *cells


def _which(memory: Memory, layout: Layout) -> str:
    if implicit_layout(memory, 2, 2) is layout:
        return "all" if implicit_layout(memory, 1, 2) is layout else "of two rows or more"
    return "of one row" if layout not in FRACTAL_LAYOUTS else "what `transpose_view` gives"


def _box(memory: Memory, layout: Layout, dtype: DType) -> str:
    sides = box(memory, layout, dtype)
    assert sides is not None
    return f"{sides[0]} x {sides[1]}"


def accumulators() -> Iterator[tuple[str, ...]]:
    """What operands add up in, and as what that leaves."""
    yield "operands", "accumulator", "leaves as", "leaves with a scale as"
    for dtype in OPERANDS:
        acc = ACCUMULATOR[dtype]
        plain, scaled = (", ".join(d.name for d in outputs(acc, scaled)) for scaled in (False, True))
        yield dtype.name, acc.name, plain, scaled
