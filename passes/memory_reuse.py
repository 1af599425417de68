"""MemoryReuse: tiles that are never needed at the same time share a buffer.

Buffers of one memory are taken largest first; each joins the first place whose members it gets along with, else it
opens a place of its own, named after its first member. Two get along if one's lifetime ends before the other's begins,
or if they meet in one op that may write its result over that operand (the op's `no_alias` table says where it may not).
Shape and dtype do not matter. An author's buffers are never shared; that what the author put in one fits, and does not
overwrite what is still needed, is checked first.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import replace

from pypto_spec.ir.nodes import Buffer, BufferRef, Program, Value
from pypto_spec.ir.rewrite import regions
from pypto_spec.passes.base import Context, Pass, Property
from pypto_spec.passes.memory.lifetimes import Lifetime, Lifetimes
from pypto_spec.passes.memory.rebuffer import Rebuffer
from pypto_spec.passes.memory.written import check_values


class _Place:
    """Buffers that share one place: their lifetimes follow each other, so only neighbours need to be compared."""

    def __init__(self, lead: str) -> None:
        self.lead = lead
        self.keys: list[tuple[int, int, str]] = []
        self.lives: dict[str, Lifetime] = {}

    def admits(self, life: Lifetime, all_lives: Lifetimes) -> bool:
        """Whether a buffer gets along with those that come before and after it here."""
        at = bisect_left(self.keys, (life.start, life.end, life.buffer))
        near = self.keys[max(0, at - 1) : at + 1]
        return all(all_lives.compatible(self.lives[name], life) for _, _, name in near)

    def add(self, life: Lifetime) -> None:
        """Let a buffer live here."""
        insort(self.keys, (life.start, life.end, life.buffer))
        self.lives[life.buffer] = life


def share(lives: Lifetimes, buffers: dict[str, Buffer]) -> dict[str, str]:
    """For each of the compiler's buffers of one region, the buffer in whose place it lives."""
    chosen: dict[str, str] = {}
    mine = [b for b in buffers.values() if b.name in lives.of and b.owner == "compiler" and b.address is None]
    for memory in dict.fromkeys(b.memory for b in mine):
        places: list[_Place] = []
        here = [b for b in mine if b.memory is memory]
        here.sort(key=lambda b: (-(b.bytes or 0), lives.of[b.name].start, lives.of[b.name].end))
        for buffer in here:
            life = lives.of[buffer.name]
            place = next((p for p in places if p.admits(life, lives)), None)
            if place is None:
                place = _Place(buffer.name)
                places.append(place)
            place.add(life)
            chosen[buffer.name] = place.lead
    return chosen


def run(program: Program, context: Context) -> Program:
    """Let buffers of each region share places."""
    check_values(program, context)
    buffers = {b.name: b for b in program.buffers}
    chosen: dict[str, str] = {}
    used: set[str] = set()
    for region in regions(program.body):
        lives = Lifetimes(region.body)
        used |= lives.of.keys()
        chosen.update(share(lives, buffers))
    # A value that MaterializeSemanticAliases brought home has left an empty buffer behind.
    kept = tuple(
        b for b in program.buffers if b.owner == "author" or (b.name in used and chosen.get(b.name, b.name) == b.name)
    )
    if len(kept) == len(program.buffers):
        return program

    def moved(ref: BufferRef) -> BufferRef:
        place = chosen.get(ref.buffer, ref.buffer)
        return ref if place == ref.buffer else replace(ref, buffer=place)

    def choose(value: Value) -> BufferRef | None:
        return None if value.buffer is None else moved(value.buffer)

    return replace(Rebuffer(choose, moved).program(program), buffers=kept)


MEMORY_REUSE = Pass(
    name="MemoryReuse",
    run=run,
    requires=frozenset({Property.HAS_MEM_REFS}),
    produces=frozenset({Property.HAS_MEM_REFS}),
    doc=__doc__,
)
