"""Keywords: what a statement became, and how loops and launches run."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_spec.editor.facts.model import At, CutFacts, LoopFacts, RegionFacts, StepFacts
from pypto_spec.editor.facts.view import View
from pypto_spec.ops.reference import PIPES

STEPS = 6
"""The most operators of a statement that are listed."""


def statement_text(view: View, at: At) -> str:
    """What became of the statement at a place; empty where nothing is known of it."""
    facts = view.facts
    lines: list[str] = []
    if (loop := facts.loops.get(at)) is not None:
        lines += loop_lines(loop)
    if (region := facts.regions.get(at)) is not None:
        lines += region_lines(region)
    if (cut := facts.cuts.get(at)) is not None:
        lines += cut_lines(cut)
    if (steps := facts.steps.get(at)) is not None and loop is None:
        lines += step_lines(steps)
    return "\n".join(lines)


def loop_lines(loop: LoopFacts) -> Iterator[str]:
    """The range of a loop, its rounds, and the depth of a pipeline."""
    if loop.kind == "while":
        yield f"* runs as long as `{loop.stop}`" if loop.stop else "* runs as long as its condition holds"
    elif loop.stop:
        step = "" if loop.step == "1" else f" by `{loop.step}`"
        yield f"* `{loop.index}` from `{loop.start}` to below `{loop.stop}`{step}"
    if loop.rounds:
        yield f"* rounds: {loop.rounds}"
    if loop.stages > 1:
        deep = loop.depth
        if deep is None:
            yield f"* {loop.stages} stages asked for; no buffers take turns in it"
        elif deep == loop.stages:
            yield f"* runs {deep} deep, as asked"
        else:
            yield f"* **runs {deep} deep**, {loop.stages} stages asked for"
    for depth in loop.depths:
        if depth.memory:
            yield f"* in `{depth.memory}`: {depth.got} of {depth.asked} buffers, of up to {depth.slot:,} B each"
    if loop.why:
        yield from ("", *(f"> {line}".rstrip() for line in loop.why.splitlines()))


def region_lines(region: RegionFacts) -> Iterator[str]:
    """The launch of a region."""
    core = {"aiv": "vector core (`aiv`)", "aic": "cube core (`aic`)"}.get(region.core, "")
    if core:
        yield f"* runs on the {core}"
    if region.blocks:
        blocks = "as many as there are cores" if region.blocks == "auto" else f"`{region.blocks}`"
        order = f", order `{region.order}`" if region.order else ""
        yield f"* blocks: {blocks}{order}"
    if region.kernel:
        yield f"* kernel: `{region.kernel}`"
    for memory, end, capacity in region.memories:
        yield f"* `{memory}`: {end:,} of {capacity:,} B ({100 * end / capacity:.1f} %)"


def cut_lines(cut: CutFacts) -> Iterator[str]:
    """How a product is cut."""
    if cut.whole:
        yield f"* product in L0: {cut.m} x {cut.n} x {cut.k} (m x n x k) in one tile"
    else:
        of = f", of {' x '.join(map(str, cut.extents))}" if cut.extents is not None else ""
        yield f"* product cut for L0 into tiles of {cut.m} x {cut.n} x {cut.k} (m x n x k){of}"


def step_lines(steps: tuple[StepFacts, ...]) -> Iterator[str]:
    """The operators that a statement became, with their calls."""
    for step in steps[:STEPS]:
        times = f", {step.count} times in the kernel" if step.count > 1 else ""
        cost = f", modelled {step.cycles:,} cycles" if step.cycles else ""
        pipe = f" on pipe {PIPES.get(step.pipe, step.pipe)}" if step.pipe else ": no instruction"
        yield f"* `{step.op}`{pipe}{times}{cost}"
        if step.calls:
            yield from ("  ```cpp", *(f"  {call}" for call in step.calls), "  ```")
    if len(steps) > STEPS:
        yield f"* and {len(steps) - STEPS} more operators"
