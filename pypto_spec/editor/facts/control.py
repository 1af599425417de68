"""Loops, pipelines and launches: how often they run, how deep, and on how many blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pypto_spec.convert.instructions import condition_text, index_text
from pypto_spec.diagnostics.model import Diagnostic
from pypto_spec.driver.session import Compiled
from pypto_spec.editor.facts.model import At, DepthFacts, Key, LoopFacts, RegionFacts, TileFacts
from pypto_spec.editor.facts.origin import place
from pypto_spec.ir.expr import Index, add, mul
from pypto_spec.ir.loops import trip_bounds
from pypto_spec.ir.nodes import Branch, Control, For, Grid, Loop, Program
from pypto_spec.ir.rewrite import ops, regions, statements
from pypto_spec.passes.memory.lifetimes import Lifetimes
from pypto_spec.report.timeline.sharing import launched
from pypto_spec.targets import TARGETS


def loops_of(compiled: Compiled, program: Program, tiles: Mapping[Key, TileFacts]) -> dict[At, LoopFacts]:
    """Every loop and grid as it was read, pipelines with what became of their stages."""
    found = dict(_controls(program.body))
    for region in regions(program.body):
        for stmt in statements(region.body):
            if isinstance(stmt, For):
                found.setdefault(place(stmt.loc), _loop(stmt, compiled, tiles))
    return found


def _controls(body: Sequence[Control]) -> Iterator[tuple[At, LoopFacts]]:
    for node in body:
        if isinstance(node, Branch):
            yield from _controls((*node.then, *node.other))
        elif isinstance(node, Loop):
            yield place(node.loc), _facts("for", node.index.name, node.start, node.stop, node.step)
            yield from _controls(node.body)
        elif isinstance(node, Grid):
            yield place(node.loc), _grid(node)
            yield from _controls(node.body)


def _grid(grid: Grid) -> LoopFacts:
    names = ", ".join((grid.index.name, *(index.name for index, _ in grid.inner)))
    if isinstance(grid.count, str):
        return LoopFacts(grid.kind, names, index_text(grid.start), "", index_text(grid.step), "one for each core")
    if grid.inner:
        counts = " x ".join(index_text(count) for count in (grid.count, *(count for _, count in grid.inner)))
        return LoopFacts(grid.kind, names, "0", "", "1", counts)
    stop = add(grid.start, mul(grid.count, grid.step))
    return _facts(grid.kind, names, grid.start, stop, grid.step)


def _facts(kind: str, index: str, start: Index, stop: Index, step: Index) -> LoopFacts:
    return LoopFacts(
        kind, index, index_text(start), index_text(stop), index_text(step), _rounds(*trip_bounds(start, stop, step))
    )


def _rounds(least: int, most: int | None) -> str:
    if most is None:
        return f"at least {least:,}" if least else ""
    return f"{most:,}" if least == most else f"{least:,} to {most:,}"


def _loop(loop: For, compiled: Compiled, tiles: Mapping[Key, TileFacts]) -> LoopFacts:
    if loop.kind == "while":
        condition = condition_text(loop.condition) if loop.condition is not None else ""
        return LoopFacts("while", "", "", condition, "", "")
    made = _facts(loop.kind, loop.index.name, loop.start, loop.stop, loop.step)
    if loop.kind != "pipeline" or loop.stages < 2:
        return made
    line = loop.loc.field("stages").line
    depths = [
        DepthFacts(d.memory.value, d.requested, d.achieved, d.slot)
        for d in compiled.compilation.depths
        if (d.line, d.requested) == (line, loop.stages)
    ]
    depths = depths or list(_slots(loop, tiles))
    why = next(_reasons(compiled.findings, loop), None)
    kept = [] if depths or why is None else [DepthFacts("", loop.stages, 1, 0)]
    return LoopFacts(
        made.kind,
        made.index,
        made.start,
        made.stop,
        made.step,
        made.rounds,
        loop.stages,
        tuple(dict.fromkeys((*depths, *kept))),
        why or "",
    )


def _slots(loop: For, tiles: Mapping[Key, TileFacts]) -> Iterator[DepthFacts]:
    """The slots that the tiles of a pipeline take turns in, where its planner works with slots."""
    for op in ops(loop.body):
        for value in op.results:
            tile = tiles.get((place(op.loc), value.name))
            for spot in tile.spots if tile is not None else ():
                if spot.slot:
                    yield DepthFacts(spot.memory, loop.stages, len(spot.ranges), spot.bytes)


def _reasons(findings: Iterable[Diagnostic], loop: For) -> Iterator[str]:
    """What was said about the depth of a pipeline."""
    where = loop.loc.field("stages").start
    for finding in findings:
        if finding.primary.span.start == where and "achieved" in dict(finding.figures):
            yield "\n\n".join((finding.message, *finding.notes))


def launches_of(program: Program) -> dict[At, RegionFacts]:
    """Every region with its launch."""
    target = TARGETS[program.target.platform]
    buffers = {b.name: b for b in program.buffers}
    found: dict[At, RegionFacts] = {}
    for region, grid in launched(program.body):
        count = grid.count if grid is not None else region.blocks
        cells = count
        if grid is not None and grid.kind == "parallel":
            cells = "auto"
        blocks = "" if cells is None else cells if isinstance(cells, str) else index_text(cells)
        ends: dict[str, int] = {}
        for name in Lifetimes(region.body).of:
            buffer = buffers.get(name)
            if buffer is not None and buffer.address is not None and buffer.bytes is not None:
                end = buffer.address + buffer.bytes * buffer.slots
                ends[buffer.memory.value] = max(ends.get(buffer.memory.value, 0), end)
        capacity = {memory.value: size for memory, size in target.capacity.items()}
        memories = tuple((memory, end, capacity[memory]) for memory, end in ends.items())
        order = (grid.order if grid is not None else None) or region.order or ""
        found.setdefault(
            place(region.loc),
            RegionFacts(region.name, region.kernel or "", region.core or "", blocks, order, memories),
        )
    return found
