"""The `report/` files of a build: what lives where on chip, what was found, the modelled timeline, times of passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pypto_spec.diagnostics.model import Diagnostic
from pypto_spec.diagnostics.render import render
from pypto_spec.ir.nodes import Program
from pypto_spec.ir.rewrite import regions
from pypto_spec.passes.memory.lifetimes import Lifetimes
from pypto_spec.passes.stages.achieved import Depth
from pypto_spec.report.timeline.model import Timeline
from pypto_spec.report.timeline.text import timeline_json, timeline_text
from pypto_spec.targets import TARGETS


def report_files(
    program: Program,
    findings: Sequence[Diagnostic],
    timeline: Timeline,
    timings: Mapping[str, float] | None = None,
    depths: Sequence[Depth] = (),
) -> dict[str, str]:
    """Texts by path. Without timings they depend on nothing but the spec."""
    files = {
        "report/findings.txt": render(findings) or "no findings\n",
        "report/memory.txt": memory_text(program, depths),
        "report/timeline.json": timeline_json(timeline),
        "report/timeline.txt": timeline_text(timeline),
    }
    if timings is not None:
        files["report/timings.txt"] = timings_text(timings)
    return files


def memory_text(program: Program, depths: Sequence[Depth] = ()) -> str:
    """The buffers of every region by address, how full each memory is, and what became of the stages of pipelines."""
    target = TARGETS[program.target.platform]
    lines: list[str] = []
    for region in regions(program.body):
        lives = Lifetimes(region.body)
        mine = [b for b in program.buffers if b.name in lives.of and b.address is not None]
        lines.append(f"region {region.name}")
        for memory in dict.fromkeys(b.memory for b in mine):
            here = sorted((b for b in mine if b.memory is memory), key=lambda b: (b.address or 0, b.name))
            end = max((b.address or 0) + (b.bytes or 0) * b.slots for b in here)
            capacity = target.capacity[memory]
            planners = sorted({b.planner for b in here if b.planner is not None})
            by = f", placed by {' and '.join(planners)}" if planners else ""
            lines.append(f"  {memory.value}: {end} of {capacity} B ({100 * end / capacity:.1f} %){by}")
            lines += [
                f"    pipeline in line {d.line}: {d.achieved} of {d.requested} stages have buffers of up to {d.slot} B"
                for d in depths
                if (d.region, d.memory) == (region.name, memory)
            ]
            for buffer in here:
                life = lives.of[buffer.name]
                names = ", ".join(dict.fromkeys(v.name.split(".")[0] for v in life.values)) or "scratch"
                size = (buffer.bytes or 0) * buffer.slots
                slots = f" ({buffer.slots} slots)" if buffer.slots > 1 else ""
                lines.append(f"    {buffer.address:>7}  {size:>7} B  {buffer.name:<8}  {names}{slots}")
        lines.append("")
    return "\n".join(lines)


def timings_text(timings: Mapping[str, float]) -> str:
    """Milliseconds by pass."""
    rows = [*timings.items(), ("total", sum(timings.values()))]
    return "".join(f"{seconds * 1000:9.3f} ms  {name}\n" for name, seconds in rows)
