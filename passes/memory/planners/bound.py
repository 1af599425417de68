"""What no placement can go below: bytes of buffers that stand apart pairwise, found where the most is live."""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd

from pypto_spec.ir.types import round_up
from pypto_spec.passes.memory.problem import Item, Problem, neighbours
from pypto_spec.records import dataclass


@dataclass(frozen=True, slots=True)
class Bound:
    """No placement ends below `end`, in bytes, for at statement `where` the `items` (numbers) all stand apart.

    `where` is None if a written address alone reaches that far, or there is nothing to place.
    """

    end: int
    where: int | None = None
    items: tuple[int, ...] = ()

    def bytes(self, problem: Problem) -> int:
        """Bytes of the items alone."""
        return sum(problem.items[n].bytes for n in self.items)


def lower_bound(problem: Problem) -> Bound:
    """The best bound of this kind over all statements."""
    fixed = max((i.address + i.bytes for i in problem.items if i.address is not None), default=problem.reserved)
    best = Bound(max(fixed, problem.reserved))
    items = problem.items
    level = neighbours(len(items), problem.level)
    always = [n for n, i in enumerate(items) if i.alone]
    begins = sorted((n for n, i in enumerate(items) if not i.alone), key=lambda n: items[n].start)
    live: list[int] = []
    at = 0
    for where in sorted({items[n].start for n in begins} or {i.start for i in items}):
        live = [n for n in live if items[n].end >= where]
        while at < len(begins) and items[begins[at]].start == where:
            live.append(begins[at])
            at += 1
        clique = _clique(problem, always + live, level)
        end = problem.reserved + _stacked(problem, clique)
        if end > best.end:
            best = Bound(end, where, tuple(sorted(clique)))
    return best


def _clique(problem: Problem, live: list[int], level: list[list[int]]) -> list[int]:
    """Items of `live` that stand apart pairwise: all that must, then of the others the largest first."""
    items = problem.items
    chosen = {n for n in live if not level[n] and items[n].address is None}
    for n in sorted((n for n in live if n not in chosen), key=lambda n: (-items[n].bytes, n)):
        if chosen.isdisjoint(level[n]) and not any(_share(items[n], items[m]) for m in chosen):
            chosen.add(n)
    return list(chosen)


def _share(one: Item, other: Item) -> bool:
    """Whether two written addresses have bytes in common."""
    if one.address is None or other.address is None:
        return False
    return one.address < other.address + other.bytes and other.address < one.address + one.bytes


def _stacked(problem: Problem, clique: Iterable[int]) -> int:
    """Bytes that items standing apart take at least: each on the finest grid, the last with no padding behind it."""
    chosen = [problem.items[n] for n in clique]
    if not chosen or any(i.address is not None for i in chosen):
        return sum(i.bytes for i in chosen)
    grid = gcd(*(i.grid for i in chosen))
    padding = [round_up(i.bytes, grid) - i.bytes for i in chosen]
    return sum(i.bytes for i in chosen) + sum(padding) - max(padding)
