"""From a program with addresses to its memory map."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from pypto_spec.diagnostics.span import Span
from pypto_spec.ir.nodes import Buffer, For, If, Op, Program, Region, Stage, Value
from pypto_spec.ir.rewrite import ops, regions
from pypto_spec.ir.types import Memory
from pypto_spec.report.map.conflicts import Finder, Rules, buffer_conflicts, extent
from pypto_spec.report.map.lives import Life, Lives, Place, Scratch
from pypto_spec.report.map.model import (
    MappedBuffer,
    MappedKernel,
    MappedMemory,
    MappedProgram,
    Peak,
    Range,
    Resident,
    Step,
    ValueKind,
)
from pypto_spec.report.map.places import Places, overlap, scratch_name
from pypto_spec.targets import Target

Tags = Mapping[tuple[str, str], tuple[Stage, ...]]
"""The pipeline tags of values, by region and name of the value."""


def stage_tags(programs: Iterable[Program]) -> dict[tuple[str, str], tuple[Stage, ...]]:
    """The tags that ops carry in any of these programs; later ones count where a value has several."""
    found: dict[tuple[str, str], tuple[Stage, ...]] = {}
    for program in programs:
        for region in regions(program.body):
            for op in ops(region.body):
                if op.stages:
                    found.update(((region.name, value.name), op.stages) for value in op.results)
    return found


def build_map(
    program: Program,
    target: Target,
    rules: Callable[[Region], Rules],
    *,
    after: str,
    variant: str | None = None,
    printed: Program | None = None,
    tags: Tags | None = None,
) -> MappedProgram:
    """The map of a program; `printed` is the same program read again from its own dump, which gives the dump's lines.

    Buffers without an address are left out.
    """
    mine = list(regions(program.body))
    twins = list(regions(printed.body)) if printed is not None else []
    pairs = zip(mine, twins if len(twins) == len(mine) else [None] * len(mine), strict=True)
    kernels = tuple(_Kernel(r, twin, program, target, rules(r), tags or {}).made() for r, twin in pairs)
    options = program.target
    return MappedProgram(program.name, variant, options.platform, options.planner, after, kernels)


class _Kernel:
    """The parts of one region's map."""

    def __init__(
        self, region: Region, twin: Region | None, program: Program, target: Target, rules: Rules, tags: Tags
    ) -> None:
        self.region, self.target, self.rules, self.tags = region, target, rules, tags
        self.lives = Lives(region.body)
        found = Lives(twin.body).places if twin is not None else []
        self.twins = found if len(found) == len(self.lives.places) else []
        used = {life.value.buffer.buffer for life in self.lives.of.values() if life.value.buffer is not None}
        used.update(area.ref.buffer for area in self.lives.scratch)
        here = {b.name: b for b in program.buffers if b.name in used}
        self.places = Places(here, program.target.precision)
        self.residents: dict[str, list[Resident]] = {name: [] for name in self.places.buffers}
        for life in self.lives.of.values():
            self._resident(life)
        for area in self.lives.scratch:
            self._scratch(area)

    def made(self) -> MappedKernel:
        steps = tuple(self._step(n, place) for n, place in enumerate(self.lives.places, 1))
        buffers = self.places.buffers.values()
        memories = tuple(self._memory(m, steps) for m in dict.fromkeys(b.memory for b in buffers))
        return MappedKernel(self.region.name, self.region.kernel, self.region.core, steps, memories)

    def _step(self, number: int, place: Place) -> Step:
        ir_lines: Range | None = None
        if self.twins:
            ir_lines = _lines(self.twins[number - 1])
        return Step(number, place.kind, _text(place), place.depth, _lines(place), ir_lines)

    def _resident(self, life: Life) -> None:
        value = life.value
        assert value.buffer is not None
        ranges = self.places.value(value)
        if not ranges:
            return
        self.residents[value.buffer.buffer].append(
            Resident(
                name=value.name,
                type=str(value.type),
                kind=_kind(life),
                bytes=max(high - low for low, high in ranges),
                ranges=ranges,
                life=(life.start, life.end),
                uses=tuple(life.uses),
                over=self._over(life, ranges),
                stages=self.tags.get((self.region.name, value.name), life.op.stages if life.op is not None else ()),
            )
        )

    def _over(self, life: Life, ranges: tuple[Range, ...]) -> str | None:
        """The operand in whose place a result stands: it is a view of it, or the operand ends where it begins."""
        for value in life.op.operands.values() if life.op is not None else ():
            other = self.lives.of.get(value)
            if other is None or not self._one_place(life.value, value):
                continue
            over = overlap(ranges, self.places.value(value)) is not None
            if over and life.op is not None and (life.op.defn.role == "view" or other.end == life.start):
                return value.name
        return None

    def _one_place(self, a: Value, b: Value) -> bool:
        assert a.buffer is not None and b.buffer is not None
        return a.buffer.buffer == b.buffer.buffer and a.buffer.slot == b.buffer.slot

    def _scratch(self, area: Scratch) -> None:
        ranges = self.places.scratch(area)
        if not ranges:
            return
        tags = [self.tags[key] for v in area.op.results if (key := (self.region.name, v.name)) in self.tags]
        size = max(high - low for low, high in ranges)
        self.residents[area.ref.buffer].append(
            Resident(
                scratch_name(area), "scratch", "scratch", size, ranges, (area.step, area.step), (area.step,), None,
                tags[0] if tags else area.op.stages,
            )
        )  # fmt: skip

    def _memory(self, memory: Memory, steps: tuple[Step, ...]) -> MappedMemory:
        here = [b for b in self.places.buffers.values() if b.memory is memory]
        buffers = sorted((self._buffer(b) for b in here), key=lambda b: (b.address, b.name))
        spans = {b.name: b.life for b in buffers}
        names = spans.keys()
        found = Finder(self.region.body, self.lives, self.places, self.rules).found.values()
        conflicts = buffer_conflicts(here, spans, self.rules)
        conflicts += sorted((c for c in found if c.buffers[0] in names), key=lambda c: (c.life, c.names))
        return MappedMemory(
            memory=memory.value,
            capacity=self.target.capacity[memory],
            reserved=self.target.reserved.get(memory, 0),
            end=max(extent(b)[1] for b in here),
            peak=_peak(buffers, steps),
            buffers=tuple(buffers),
            conflicts=tuple(conflicts),
        )

    def _buffer(self, buffer: Buffer) -> MappedBuffer:
        values = sorted(self.residents[buffer.name], key=lambda v: (v.life, v.ranges))
        life = self._life(values)
        assert buffer.address is not None and buffer.bytes is not None
        line = buffer.loc.span.line if buffer.owner == "author" else None
        return MappedBuffer(
            buffer.name, buffer.owner, buffer.address, buffer.bytes, buffer.slots, life, line, tuple(values)
        )

    def _life(self, values: list[Resident]) -> Range:
        """When a buffer is in use: what began before a loop and is touched in it stays to the loop's end.

        That is how the compiler sees buffers, whether or not the value in the loop is the one from before it.
        """
        start, end = min(v.life[0] for v in values), max(v.life[1] for v in values)
        touched = {step for v in values if v.kind != "scratch" for step in (v.life[0], *v.uses)}
        for loop, head in self.lives.heads.items():
            last = self.lives.ends[loop]
            if isinstance(loop, For) and start <= head and any(head < step < last for step in touched):
                end = max(end, last)
        return start, end


def _peak(buffers: list[MappedBuffer], steps: tuple[Step, ...]) -> Peak:
    best, where = 0, 1
    for step in steps:
        level = sum(b.bytes * b.slots for b in buffers if b.life[0] <= step.number <= b.life[1])
        if level > best:
            best, where = level, step.number
    return Peak(best, where, steps[where - 1].lines[0])


def _kind(life: Life) -> ValueKind:
    if life.op is None:
        return "carried"
    if life.op.defn.role == "view":
        return "view"
    return "load" if life.op.defn.effects == "reads_gm" else "computed"


def _lines(place: Place) -> Range:
    """The lines of a statement in the file that was given; of a dump, those of the dump itself."""
    loc = place.stmt.loc
    if loc.dump is not None:
        return loc.dump.line, _end_of_item(loc.dump) if place.kind == "op" else loc.dump.line
    span = loc.span
    last = span.end_line if span.end_col > 1 else span.end_line - 1
    return span.line, max(span.line, last) if place.kind == "op" else span.line


def _end_of_item(span: Span) -> int:
    """The last line of an item of a block sequence: the lines behind its dash that stand further in."""
    line = span.source.line(span.line)
    inner = len(line) - len(line.lstrip())
    last = span.line
    while line.lstrip().startswith("- "):
        following = span.source.line(last + 1)
        if not following.strip() or len(following) - len(following.lstrip()) <= inner:
            break
        last += 1
    return max(last, span.end_line if span.end_col > 1 else span.end_line - 1)


def _text(place: Place) -> str:
    """A statement in a few words."""
    stmt = place.stmt
    if isinstance(stmt, Op):
        results = ", ".join(v.name for v in stmt.results)
        call = f"{stmt.name}({', '.join(v.name for v in stmt.operands.values())})"
        return f"{results} = {call}" if results else call
    what = "if" if isinstance(stmt, If) else "while" if stmt.kind == "while" else f"{stmt.kind} {stmt.index.name}"
    assert isinstance(stmt, For | If)
    return f"end of {what}" if place.kind == "end" else what
