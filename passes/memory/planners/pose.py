"""From the lifetimes of a region to the placement problem of one of its memories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pypto_spec.ir.nodes import Buffer
from pypto_spec.ir.types import Memory, round_up
from pypto_spec.passes.memory.lifetimes import Lifetimes
from pypto_spec.passes.memory.problem import Item, Pair, Problem
from pypto_spec.targets import Target


def slot_bytes(buffer: Buffer, grid: int) -> int:
    """Bytes of one slot. Each of several slots starts on the buffer's grid, so its size is a multiple of it."""
    assert buffer.bytes is not None, f"buffer {buffer.name} has no size"
    return round_up(buffer.bytes, grid) if buffer.slots > 1 and buffer.address is None else buffer.bytes


def problem_of(
    lives: Lifetimes,
    buffers: Iterable[Buffer],
    target: Target,
    memory: Memory,
    grids: Mapping[str, int],
    extra_apart: Iterable[tuple[str, str]] = (),
) -> Problem:
    """The problem of placing a region's `buffers` of one memory; `lives` are the region's, others are left out.

    `grids` are the buffers that start on a coarser grid than the memory's (`grids.grids`), `extra_apart` pairs that
    must not share a place although they are never in use together. An author's buffer shares with nobody, nor does one
    with slots: its rounds are in flight side by side. Two whose addresses are both written are left as they are.
    """
    here = [b for b in buffers if b.memory is memory and b.name in lives.of]
    items: list[Item] = []
    for buffer in here:
        life, grid = lives.of[buffer.name], max(target.address_alignment[memory], grids.get(buffer.name, 1))
        items.append(
            Item(
                name=buffer.name,
                bytes=slot_bytes(buffer, grid) * buffer.slots,
                grid=grid,
                start=life.start,
                end=life.end,
                address=buffer.address,
                alone=buffer.owner == "author" or buffer.slots > 1,
            )
        )
    apart, level = _meetings(items, lives)
    fixed = {n for n, item in enumerate(items) if item.address is not None}
    lonely = [n for n, item in enumerate(items) if item.alone]
    apart |= {(min(a, b), max(a, b)) for a in lonely for b in range(len(items)) if a != b}
    number = {item.name: n for n, item in enumerate(items)}
    for one, other in extra_apart:
        if one in number and other in number and one != other:
            a, b = number[one], number[other]
            apart.add((min(a, b), max(a, b)))
    if fixed:
        apart = {(a, b) for a, b in apart if a not in fixed or b not in fixed}
        level = {(a, b) for a, b in level if a not in fixed or b not in fixed}
    return Problem(memory, target.capacity[memory], tuple(items), frozenset(apart), frozenset(level - apart))


def _meetings(items: Sequence[Item], lives: Lifetimes) -> tuple[set[Pair], set[Pair]]:
    """The pairs that are in use at the same time, and those that meet in one op that may work in place.

    A sweep over the statements: each item is compared with those that are live where it begins, and with no other.
    """
    apart: set[Pair] = set()
    level: set[Pair] = set()
    live: list[int] = []
    for n in sorted(range(len(items)), key=lambda n: (items[n].start, items[n].end)):
        begin = items[n].start
        live = [m for m in live if items[m].end >= begin]
        for m in live:
            pair = (m, n) if m < n else (n, m)
            touching = items[m].end == begin or items[m].start == items[n].end
            if touching and lives.compatible(lives.of[items[m].name], lives.of[items[n].name]):
                level.add(pair)
            else:
                apart.add(pair)
        live.append(n)
    return apart, level
