"""The table that `build` prints: one line for each kernel it wrote."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pypto_spec.driver.build import Built
from pypto_spec.ir.types import Memory
from pypto_spec.render.model import RenderedKernel
from pypto_spec.report.timeline.model import KernelTimeline, Timeline
from pypto_spec.report.timeline.text import busiest, makespan, sizes
from pypto_spec.targets import TARGETS

HEAD = ("kernel", "blocks", "busiest pipe", "modelled makespan", "on chip")


def overview(built: Iterable[Built]) -> list[str]:
    """The lines of the table, none where nothing was written; then what was assumed of the sizes."""
    rows: list[Sequence[str]] = []
    notes: list[str] = []
    for one in built:
        timeline = one.timeline
        if timeline is None or one.folder is None:
            continue
        launched = {kernel.region: kernel for kernel in timeline.kernels}
        rows += [_row(kernel, timeline, launched.get(kernel.region)) for kernel in one.rendered]
        notes += _notes(timeline)
    if not rows:
        return []
    widths = [max(len(row[column]) for row in (HEAD, *rows)) for column in range(len(HEAD))]
    return [*("  " + _line(row, widths) for row in (HEAD, *rows)), *(f"  {note}" for note in notes)]


def _row(kernel: RenderedKernel, timeline: Timeline, launched: KernelTimeline | None) -> Sequence[str]:
    capacity = TARGETS[timeline.platform].capacity
    used = ", ".join(f"{m} {size:,} of {capacity[Memory(m)]:,} B" for m, size in kernel.memory.items() if size) or "-"
    if launched is None:
        return (kernel.name, "-", "-", "not launched", used)
    time = makespan(launched, timeline.clock_mhz, timeline.complete)
    return (kernel.name, f"{launched.blocks}", busiest(launched), time, used)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _notes(timeline: Timeline) -> Iterator[str]:
    if timeline.sizes:
        yield f"{timeline.program}: modelled for {sizes(timeline)}"
    for text in timeline.assumptions:
        yield f"{timeline.program}: {text}"
