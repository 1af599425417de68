"""The placement problem of one memory of one region: what the planners solve.

Every item is a buffer with its bytes. Two items may share bytes only if they are never in use at the same time; where
an op turns one into the other in place they may also start at one byte, but must not overlap in part.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import field, replace
from itertools import combinations

from pypto_spec.ir.types import Memory, round_up
from pypto_spec.records import dataclass


@dataclass(frozen=True, slots=True)
class Item:
    """A buffer to place: `bytes` with all its slots, `grid` in bytes. `address` where it is written already."""

    name: str
    bytes: int
    grid: int
    start: int
    """The number of the statement at which its life begins, for orders and reports; `apart` says what must differ."""
    end: int
    address: int | None = None
    alone: bool = False
    """The author's: it shares its place with nobody, whenever it is in use."""


Pair = tuple[int, int]
"""Two items by their numbers, the smaller one first."""


@dataclass(frozen=True, slots=True)
class Problem:
    """`apart`: pairs that share no byte. `level`: pairs that share no byte or start at the same one.

    All other pairs may overlap as they like. Two whose lives have a statement in common are in one of the two sets,
    unless both addresses are written. Addresses run from `reserved` to `capacity`, in bytes.
    """

    memory: Memory
    capacity: int
    items: tuple[Item, ...]
    apart: frozenset[Pair]
    level: frozenset[Pair] = frozenset()
    reserved: int = 0

    def end(self, addresses: Mapping[str, int]) -> int:
        """The highest end address of a placement, in bytes."""
        return max((addresses[i.name] + i.bytes for i in self.items), default=self.reserved)

    def part(self, names: Collection[str]) -> Problem:
        """The problem of some of its items."""
        chosen = set(names)
        numbers = [n for n, item in enumerate(self.items) if item.name in chosen]
        within = [(p, q, (numbers[p], numbers[q])) for p, q in combinations(range(len(numbers)), 2)]
        apart, level = (
            frozenset((p, q) for p, q, pair in within if pair in pairs) for pairs in (self.apart, self.level)
        )
        return replace(self, items=tuple(self.items[n] for n in numbers), apart=apart, level=level)

    def faults(self, addresses: Mapping[str, int]) -> list[str]:
        """What is wrong with a placement; empty if it is a solution. Capacity is not looked at."""
        found: list[str] = []
        for item in self.items:
            at = addresses[item.name]
            # Whether a written address is legal is judged where it is read.
            off = at < self.reserved or at != round_up(at, item.grid)
            wrong = off if item.address is None else at != item.address
            if wrong:
                found.append(f"{item.name} at {at}")
        for pairs, level in ((self.apart, False), (self.level, True)):
            for a, b in sorted(pairs):
                first, second = self.items[a], self.items[b]
                low, high = addresses[first.name], addresses[second.name]
                meet = low < high + second.bytes and high < low + first.bytes
                if meet and not (level and low == high):
                    found.append(f"{first.name} at {low} and {second.name} at {high}")
        return found


@dataclass(frozen=True, slots=True)
class Placement:
    """Addresses by buffer name, in bytes, and the highest end address. `proven`: no placement ends lower."""

    addresses: Mapping[str, int] = field(default_factory=dict)
    end: int = 0
    proven: bool = False


def neighbours(count: int, pairs: Iterable[Pair]) -> list[list[int]]:
    """For each of `count` items those that it is paired with."""
    found: list[list[int]] = [[] for _ in range(count)]
    for a, b in pairs:
        found[a].append(b)
        found[b].append(a)
    return found
