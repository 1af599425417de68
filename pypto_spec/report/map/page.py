"""The page: one HTML file with the drawings, the texts beside them, and the data that its script shows on hover."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_spec.records import dataclass
from pypto_spec.report.map.colours import all_colours
from pypto_spec.report.map.document import map_document
from pypto_spec.report.map.drawing import LEAST_TEXT, Drawing, amount, draw
from pypto_spec.report.map.model import MappedKernel, MappedMemory, MappedProgram
from pypto_spec.report.map.titles import program_name, share, title
from pypto_spec.report.pages import data, lines, page


@dataclass(frozen=True, slots=True)
class Texts:
    """The name and text of the file that was given, and each program after its last pass, printed."""

    file: str
    spec: str
    irs: Sequence[str]


@dataclass(frozen=True, slots=True)
class View:
    """One memory of one kernel: what the page shows at a time. `key` is `program.kernel.memory`, counted from 0."""

    key: str
    program: str
    kernel: str
    memory: str
    title: str
    drawing: Drawing
    used: str
    capacity: str
    reserved: str
    share: str
    peak: str
    peak_share: str
    peak_line: int
    bars: dict[str, str]
    conflicts: Sequence[str]


def page_text(programs: Sequence[MappedProgram], texts: Texts) -> str:
    """The page of a file's programs."""
    views = [
        _view(f"{p}.{k}.{m}", program, kernel, memory)
        for p, program in enumerate(programs)
        for k, kernel in enumerate(program.kernels)
        for m, memory in enumerate(kernel.memories)
    ]
    return page(
        "map.html.j2",
        views=views,
        programs=[(n, program_name(program)) for n, program in enumerate(programs)],
        first=programs[0],
        file=texts.file,
        spec=lines(texts.spec),
        irs=[(n, program.after, lines(ir)) for n, (program, ir) in enumerate(zip(programs, texts.irs, strict=True))],
        colours=all_colours(),
        least_text=LEAST_TEXT,
        data=data(map_document(programs, texts.file)),
    )


def _view(key: str, program: MappedProgram, kernel: MappedKernel, memory: MappedMemory) -> View:
    whole = max(memory.capacity + memory.reserved, memory.end)
    return View(
        key=key,
        program=program_name(program),
        kernel=kernel.region,
        memory=memory.memory,
        title=title(program, kernel, memory, several=True),
        drawing=draw(kernel, memory),
        used=f"{memory.end:,}",
        capacity=amount(memory.capacity),
        reserved=amount(memory.reserved),
        share=share(memory.end, memory.capacity),
        peak=f"{memory.peak.bytes:,}",
        peak_share=share(memory.peak.bytes, memory.capacity),
        peak_line=memory.peak.line,
        bars={
            "used": f"{100 * memory.end / whole:.3f}%",
            "capacity": f"{100 * memory.capacity / whole:.3f}%",
            "peak": f"{100 * memory.peak.bytes / whole:.3f}%",
        },
        conflicts=[_sentence(c.names, c.buffers, c.bytes, c.of) for c in memory.conflicts],
    )


def _sentence(names: tuple[str, str], buffers: tuple[str, str], shared: tuple[int, int], of: str) -> str:
    if of == "buffers":
        who = f"the buffers {names[0]} and {names[1]} are in use at the same time"
    else:
        who = f"{names[1]} (in {buffers[1]}) is written where {names[0]} (in {buffers[0]}) is still needed"
    return f"{who}: bytes {shared[0]:,} to {shared[1]:,}"
