"""The overflow error of a memory: who lives there at the peak, with bytes, and by how much it is too much."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from pypto_spec.diagnostics.model import Label
from pypto_spec.diagnostics.rules.memory import CAPACITY
from pypto_spec.ir.nodes import Buffer, Op, Region, Stage, Stmt
from pypto_spec.passes.base import Context
from pypto_spec.passes.memory.lifetimes import Lifetime, Lifetimes
from pypto_spec.passes.memory.planners.bound import lower_bound
from pypto_spec.passes.memory.planners.rescue import Refusal, Rescue
from pypto_spec.passes.memory.problem import Problem
from pypto_spec.records import dataclass

SHOWN = 8
"""Rows of one list in the message; the rest are summed up."""

EXTRA = "pip install 'pypto-spec[exact]'"
"""How the exact search is installed."""


def size(count: int) -> str:
    """Bytes for people: `98304 B (96 KiB)`."""
    if count < 1024:
        return f"{count} B"
    kib = count / 1024
    return f"{count} B ({kib:.0f} KiB)" if count % 1024 == 0 else f"{count} B ({kib:.1f} KiB)"


@dataclass(slots=True)
class Row:
    """Buffers alike: copies of one tile in a pipeline or an unrolled loop, equal tiles of a `let`, or one alone."""

    buffer: Buffer
    life: Lifetime
    bytes: int
    """Of each of them, with all its slots."""
    count: int = 1
    copies: set[tuple[Stage, ...]] = field(default_factory=set)
    """The copies of pipelines' bodies that they stand for."""

    @property
    def total(self) -> int:
        """Bytes of all copies."""
        return self.bytes * self.count

    @property
    def stages(self) -> bool:
        """Whether they are those of a pipeline's stages, one for each."""
        return self.count > 1 and len(self.copies) == self.count

    @property
    def name(self) -> str:
        """The value that is put there first, or the author's buffer where it holds more than that."""
        return self.buffer.name if self.buffer.slots > 1 else _base(self.life.values[0].name)

    def text(self) -> str:
        """The row: bytes and what they are made of, the values and types, the lines."""
        parts: list[str] = []
        if self.count > 1:
            parts.append(f"{self.count} {'stages' if self.stages else 'tiles'}")
        if self.buffer.slots > 1:
            parts.append(f"{self.buffer.slots} slots")
        of = f" = {' x '.join(parts)} x {self.bytes // self.buffer.slots} B" if parts else ""
        return f"{size(self.total)}{of}: {self._who()}{self._lines()}"

    def _who(self) -> str:
        life = self.life
        if life.scratch and not life.values:
            return f"scratch of `{life.first.name}`" if life.first else "scratch"
        names = list(dict.fromkeys(f"`{_base(v.name)}` {v.type}" for v in life.values))
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        where = f" in buffer `{self.buffer.name}`" if self.buffer.owner == "author" else ""
        return ", then ".join(names[:3]) + more + where

    def _lines(self) -> str:
        first, last = self.life.first, self.life.last
        if first is None or last is None:
            return ""
        a, b = first.loc.span.line, last.loc.span.line
        return f", line {a}" if a == b else f", lines {a} to {b}"


def rows(buffers: Iterable[Buffer], lives: Lifetimes, sizes: Mapping[str, int]) -> list[Row]:
    """The rows of a ledger, largest first; copies of one statement are one row."""
    found: dict[object, Row] = {}
    for buffer in buffers:
        life = lives.of[buffer.name]
        first = life.first
        values = tuple(dict.fromkeys((_base(v.name), str(v.type)) for v in life.values))
        alike = (first.loc.span.start, values, sizes[buffer.name]) if first and buffer.owner == "compiler" else buffer
        if alike in found:
            found[alike].count += 1
        else:
            found[alike] = Row(buffer, life, sizes[buffer.name])
        if first is not None and first.stages:
            found[alike].copies.add(first.stages)
    return sorted(found.values(), key=lambda row: -row.total)


@dataclass(frozen=True, slots=True)
class Residents:
    """Who lives in a memory where the most is live: at statement `at`, up to byte `end`, largest first."""

    rows: tuple[Row, ...]
    end: int
    at: Op | None


def residents(body: tuple[Stmt, ...], problem: Problem, buffers: Mapping[str, Buffer]) -> Residents:
    """The residents of a problem of a region's body."""
    lives, bound = Lifetimes(body), lower_bound(problem)
    items = [problem.items[n] for n in bound.items]
    sizes = {item.name: item.bytes for item in items}
    return Residents(tuple(rows((buffers[i.name] for i in items), lives, sizes)), bound.end, _op(lives, bound.where))


def overflow(
    region: Region,
    buffers: Sequence[Buffer],
    end: int,
    lives: Lifetimes,
    found: Rescue,
    context: Context,
) -> None:
    """Report that `buffers` do not fit: `end` bytes are needed by shared places, and `found` says why no plan is left.

    `lives` are those of the region in which no two buffers share a place.
    """
    problem, bound = found.problem, found.bound
    memory, available = problem.memory.value, problem.capacity
    needed = bound.end if found.refusal is Refusal.TOO_MUCH else min(end, found.lowest)
    sizes = {item.name: item.bytes for item in problem.items}
    live = {problem.items[n].name for n in bound.items} or set(sizes)
    at = _op(lives, bound.where)
    span = at.loc.span if at is not None else region.loc.span
    listed = rows((b for b in buffers if b.name in live), lives, sizes)
    others = rows((b for b in buffers if b.name in sizes and b.name not in live), lives, sizes)
    notes = [listing(f"live in `{memory}`{f' at line {span.line}' if at is not None else ''}:", listed, found)]
    if found.refusal is not Refusal.TOO_MUCH:
        notes.append(listing(f"in `{memory}` at other times:", others))
        notes.append(_gaps(end, found))
    shared = [d for d in context.depths if (d.region, d.memory) == (region.name, problem.memory) and d.achieved == 1]
    notes += [
        f"the {d.requested} stages of the pipeline in line {d.line} share one buffer, like a loop without stages"
        for d in shared
        if d.requested > 1
    ]
    smaller = "use smaller tiles" if shared else "use smaller tiles, or load less at a time in a loop"
    helps = [f"{size(needed - available)} too much: {smaller}"]
    if found.refusal is Refusal.NOT_INSTALLED:
        helps.append(f"or install the exact search, which may still place it: `{EXTRA}`")
    context.sink.report(
        CAPACITY,
        span,
        f"region `{region.name}` needs {size(needed)} of `{memory}` memory, {size(available)} are available",
        label="the most is live here",
        secondary=[
            Label(first.loc.span, f"`{row.name}` takes {size(row.total)}")
            for row in listed[:3]
            if row.life.values and (first := row.life.first) is not None and first.loc.span != span
        ],
        notes=[note for note in notes if note],
        helps=helps,
        figures=[
            ("needed_bytes", needed),
            ("available_bytes", available),
            ("excess_bytes", needed - available),
            ("region", region.name),
            ("space", memory),
            ("live_bytes", bound.end),
        ],
    )


def _gaps(end: int, found: Rescue) -> str:
    """What was tried where no statement alone is too much."""
    lines = [
        f"at most {size(found.bound.end)} are live at once, but what stays where it is leaves gaps:",
        f"  {size(end)}: shared places, one behind the other",
        f"  {size(found.lowest)}: packed one by one",
    ]
    if found.refusal in (Refusal.NO_FIT, Refusal.EXHAUSTED):
        lines.append(f"  {found.refusal.value}")
    return "\n".join(lines)


def _op(lives: Lifetimes, where: int | None) -> Op | None:
    """The op at a statement number, or the next one behind it: a loop or `if` has a number of its own."""
    if where is None:
        return None
    return lives.ops.get(where) or next((o for n, o in sorted(lives.ops.items()) if n >= where), None)


def listing(title: str, found: Sequence[Row], rescue: Rescue | None = None) -> str:
    """Rows under a title; with a rescue also what is reserved, and the sum. Empty where there are none."""
    lines = [row.text() for row in found[:SHOWN]]
    if len(found) > SHOWN:
        rest = found[SHOWN:]
        lines.append(f"{size(sum(row.total for row in rest))}: {sum(row.count for row in rest)} smaller buffers")
    if rescue is not None and rescue.problem.reserved:
        lines.append(f"{size(rescue.problem.reserved)}: reserved")
    if rescue is not None and len(lines) > 1:
        lines.append(f"{size(rescue.bound.end)} in all, of {size(rescue.problem.capacity)}")
    return "\n".join([title, *("  " + line for line in lines)]) if lines else ""


def _base(name: str) -> str:
    return name.split(".")[0]
