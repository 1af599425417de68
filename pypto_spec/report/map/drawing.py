"""The drawing of one memory of one kernel: where everything stands on paper. Templates only print it.

Across: bytes, as per cent of a scale's domain, so that a page may be of any width. Two scales: `used` ends a little
behind the last byte in use and leaves the free rest out, `whole` shows the memory to its end with what is reserved.
Down: one row per step, in pixels. A result begins in the middle of its row, and an operand ends there: what is written
in place follows what it replaces without a gap.
"""

from __future__ import annotations

from collections.abc import Iterator

from pypto_spec.records import dataclass
from pypto_spec.report.map.colours import Colour, Palette
from pypto_spec.report.map.model import MappedBuffer, MappedKernel, MappedMemory, Range, Resident, Step

LEAST_ROW, MOST_ROW = 24, 48
GOOD_HEIGHT = 520
"""Pixels: a row is as high as lets a short kernel fill the page, within these limits."""

LEAST_TEXT, TWO_LINES = 34, 36
"""Pixels: boxes narrower than this have no text, boxes as high as that have two lines."""

USED_SCALE_BELOW = 0.6
"""The scale `used` is offered where less than this share of a memory is in use."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle: bytes for the page's script, per cent and pixels for the paper."""

    low: int
    high: int
    x: str
    width: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class DrawnValue:
    """A value in one slot. `number` counts the values of the drawing; those in several slots have it several times.

    `lines` are how many lines of text the box has room for: its name, and its type below.
    """

    number: int
    box: Box
    colour: Colour
    name: str
    type: str
    kind: str
    label: str
    lines: int


@dataclass(frozen=True, slots=True)
class DrawnBuffer:
    """A buffer with its slots, each a box of the buffer's life."""

    number: int
    box: Box
    name: str
    owner: str
    label: str
    slots: tuple[Box, ...]


@dataclass(frozen=True, slots=True)
class DrawnConflict:
    """The bytes and steps that two share and must not."""

    box: Box
    label: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on the axis, for one of the scales."""

    at: int
    x: str
    text: str
    scale: str
    last: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A step with its place."""

    step: Step
    y: float


@dataclass(frozen=True, slots=True)
class Drawing:
    """Everything there is to print. `scale` is the one it is drawn in, `domains` the last byte of each scale."""

    scale: str
    domains: dict[str, int]
    row: int
    height: int
    rows: tuple[Row, ...]
    loops: tuple[tuple[float, float], ...]
    ticks: tuple[Tick, ...]
    buffers: tuple[DrawnBuffer, ...]
    values: tuple[DrawnValue, ...]
    conflicts: tuple[DrawnConflict, ...]
    capacity: Box
    reserved: Box | None
    legend: tuple[Colour, ...]


def amount(count: int) -> str:
    """Bytes for people: `16,384 B`."""
    return f"{count:,} B"


def kib(count: int) -> str:
    """A place on the axis: whole KiB where it is one, else bytes."""
    if count == 0:
        return "0"
    return f"{count // 1024:,} KiB" if count % 1024 == 0 else amount(count)


def draw(kernel: MappedKernel, memory: MappedMemory, width: int | None = None) -> Drawing:
    """The drawing of a memory; `width` are its pixels where they are known: narrow boxes then have no text."""
    return _Paper(kernel, memory, width).drawing()


class _Paper:
    def __init__(self, kernel: MappedKernel, memory: MappedMemory, width: int | None) -> None:
        self.kernel, self.memory, self.width = kernel, memory, width
        whole = max(memory.capacity + memory.reserved, memory.end)
        self.domains = {"whole": whole}
        if memory.end < USED_SCALE_BELOW * memory.capacity:
            self.domains["used"] = -(-memory.end * 104 // 100)
        self.scale = "used" if "used" in self.domains else "whole"
        self.palette = Palette(v for b in memory.buffers for v in b.values)
        self.row = max(LEAST_ROW, min(MOST_ROW, GOOD_HEIGHT // len(kernel.steps)))
        self.rows = {step.number: place * self.row for place, step in enumerate(kernel.steps)}
        self.height = len(kernel.steps) * self.row

    def drawing(self) -> Drawing:
        memory = self.memory
        reserved = self.box((memory.capacity, memory.capacity + memory.reserved), 0, self.height)
        return Drawing(
            scale=self.scale,
            domains=self.domains,
            row=self.row,
            height=self.height,
            rows=tuple(Row(step, self.rows[step.number]) for step in self.kernel.steps),
            loops=tuple(self.loops()),
            ticks=tuple(self.ticks()),
            buffers=tuple(self.buffer(n, b) for n, b in enumerate(memory.buffers)),
            values=tuple(sorted(self.values(), key=lambda v: v.box.low - v.box.high)),  # small ones on top
            conflicts=tuple(
                DrawnConflict(
                    self.box(c.bytes, *self.span(c.life)),
                    f"{c.names[0]} and {c.names[1]} share bytes {c.bytes[0]:,} to {c.bytes[1]:,}",
                )
                for c in memory.conflicts
            ),
            capacity=self.box((memory.capacity, memory.capacity), 0, self.height),
            reserved=reserved if memory.reserved else None,
            legend=tuple(self.palette.used.values()),
        )

    def box(self, place: Range, y: float, height: float) -> Box:
        domain = self.domains[self.scale]
        low, high = place
        return Box(low, high, f"{100 * low / domain:.4f}%", f"{100 * (high - low) / domain:.4f}%", y, height)

    def span(self, life: Range, *, whole_rows: bool = False) -> tuple[float, float]:
        """Where a life begins and how tall it is; scratch is there for the whole of its statement."""
        start, end = self.rows[life[0]], self.rows[life[1]]
        if whole_rows:
            return start, end + self.row - start
        return start + self.row / 2, max(end - start, self.row / 2)

    def loops(self) -> Iterator[tuple[float, float]]:
        """The rows of loops and ifs, outer ones first."""
        open_at: list[float] = []
        found: list[tuple[float, float]] = []
        for step in self.kernel.steps:
            y = self.rows[step.number]
            if step.kind == "end":
                start = open_at.pop()
                found.append((start, y + self.row - start))
            elif step.kind != "op":
                open_at.append(y)
        return iter(sorted(found))

    def ticks(self) -> Iterator[Tick]:
        for scale, domain in self.domains.items():
            unit = _unit(domain)
            limit = domain if scale == "used" else self.memory.capacity - unit * 3 // 4
            for at in range(0, limit, unit):
                text = kib(at) if at < 0.92 * domain else ""  # no room for it
                yield Tick(at, f"{100 * at / domain:.4f}%", text, scale)
            if scale == "whole":
                at = self.memory.capacity
                yield Tick(at, f"{100 * at / domain:.4f}%", kib(at), scale, last=True)

    def buffer(self, number: int, buffer: MappedBuffer) -> DrawnBuffer:
        tall = [self.span(v.life, whole_rows=v.kind == "scratch") for v in buffer.values]
        y = min(y for y, _ in tall)
        last = self.rows[buffer.life[1]] + self.row / 2
        height = max(last, *(y + h for y, h in tall)) - y
        starts = [buffer.address + slot * buffer.bytes for slot in range(buffer.slots)]
        slots = tuple(self.box((start, start + buffer.bytes), y, height) for start in starts)
        whole = self.box((buffer.address, buffer.address + buffer.bytes * buffer.slots), y, height)
        more = f", {buffer.slots} slots" if buffer.slots > 1 else ""
        label = f"buffer {buffer.name}, {amount(buffer.bytes * buffer.slots)} from byte {buffer.address:,}{more}"
        return DrawnBuffer(number, whole, buffer.name, buffer.owner, label, slots)

    def values(self) -> Iterator[DrawnValue]:
        number = 0
        for buffer in self.memory.buffers:
            for value in buffer.values:
                y, height = self.span(value.life, whole_rows=value.kind == "scratch")
                what = amount(value.bytes) if value.kind == "scratch" else value.type
                for place in value.ranges:
                    box = self.box(place, y, height)
                    label = f"{value.name}, {what}, bytes {place[0]:,} to {place[1]:,}, {self._lines(value)}"
                    name = "scratch" if value.kind == "scratch" else value.name
                    yield DrawnValue(number, box, self.palette.of(value), name, what, value.kind, label, self.room(box))
                number += 1

    def room(self, box: Box) -> int:
        """Lines of text that a box has room for."""
        if self.width is not None and (box.high - box.low) * self.width < LEAST_TEXT * self.domains[self.scale]:
            return 0
        return 2 if box.height >= TWO_LINES else 1 if box.height >= LEAST_ROW else 0

    def _lines(self, value: Resident) -> str:
        first, last = (self.kernel.steps[n - 1].lines[0] for n in value.life)
        return f"line {first}" if first == last else f"lines {first} to {last}"


def _unit(domain: int) -> int:
    """The distance of marks: a power of two of which six to twelve fit."""
    unit = 32
    while domain / unit > 9:
        unit *= 2
    return unit
