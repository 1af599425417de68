"""First fit: buffer by buffer, each at the lowest address where nothing keeps it out.

What comes first stands lowest, so everything hangs on the order. Several canonical ones are tried, and the best of them
is improved: the buffer that stands highest is let in earlier, a bounded number of times. No library, no chance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pypto_spec.ir.types import round_up
from pypto_spec.passes.memory.planners.bound import lower_bound
from pypto_spec.passes.memory.problem import Item, Placement, Problem, neighbours

ORDERS: dict[str, Callable[[Item], tuple[int, ...]]] = {
    "size": lambda i: (-i.bytes, i.start, i.end),
    "area": lambda i: (-i.bytes * (i.end - i.start + 1), i.start),
    "start": lambda i: (i.start, -i.end, -i.bytes),
    "end": lambda i: (-i.end, i.start, -i.bytes),
    "length": lambda i: (i.start - i.end, -i.bytes, i.start),
    "size, then start": lambda i: (-(i.bytes.bit_length()), i.start, -i.bytes),
}
"""The canonical orders by name; equal keys stay in the order in which the buffers were made."""

MOST_WORK = 1_500_000
"""Comparisons of two buffers in all improvements of one plan: about a quarter of a second."""
MOST_ROUNDS = 200
"""Improvements of one plan."""


def first_fit(problem: Problem) -> Placement:
    """The best placement over all orders and improvements; one as low as the bound ends the search."""
    goal = lower_bound(problem).end
    packer = _Packer(problem)
    free = [n for n, item in enumerate(problem.items) if item.address is None]
    best: tuple[int, list[int], list[int]] | None = None
    for key in ORDERS.values():
        order = sorted(free, key=lambda n: key(problem.items[n]))
        addresses = packer.pack(order)
        end = packer.end(addresses)
        if best is None or end < best[0]:
            best = end, order, addresses
        if end <= goal:
            break
    assert best is not None
    end, addresses = _improved(packer, best, goal)
    named = {item.name: at for item, at in zip(problem.items, addresses, strict=True)}
    return Placement(named, end, proven=end <= goal)


def _improved(packer: _Packer, best: tuple[int, list[int], list[int]], goal: int) -> tuple[int, list[int]]:
    """Let in earlier what stands highest, again and again, and keep the best that was seen."""
    end, order, addresses = best
    lowest, kept = end, addresses
    rounds = min(MOST_ROUNDS, MOST_WORK // max(1, packer.work))
    seen = {tuple(order)}
    for _ in range(rounds):
        if lowest <= goal or not order:
            break
        top = max(order, key=lambda n: (addresses[n] + packer.items[n].bytes, n))
        place = order.index(top)
        # Halfway to the front; a buffer that keeps sticking out gets there in a few rounds.
        order = [*order[: place // 2], top, *order[place // 2 : place], *order[place + 1 :]]
        if tuple(order) in seen:
            break
        seen.add(tuple(order))
        addresses = packer.pack(order)
        end = packer.end(addresses)
        if end < lowest:
            lowest, kept = end, addresses
    return lowest, kept


class _Packer:
    """Packs the items of a problem in any order."""

    def __init__(self, problem: Problem) -> None:
        self.items = problem.items
        self.reserved = problem.reserved
        self.apart = neighbours(len(problem.items), problem.apart)
        self.level = neighbours(len(problem.items), problem.level)
        self.work = 2 * (len(problem.apart) + len(problem.level)) + len(problem.items)

    def end(self, addresses: Sequence[int]) -> int:
        """The highest end address, in bytes."""
        return max((at + i.bytes for at, i in zip(addresses, self.items, strict=True)), default=self.reserved)

    def pack(self, order: Sequence[int]) -> list[int]:
        """Addresses of all items, those in `order` packed one after the other."""
        addresses = [-1 if item.address is None else item.address for item in self.items]
        for n in order:
            addresses[n] = self._lowest(n, addresses)
        return addresses

    def _lowest(self, n: int, addresses: Sequence[int]) -> int:
        items, item = self.items, self.items[n]
        taken = [(addresses[m], addresses[m] + items[m].bytes) for m in self.apart[n] if addresses[m] >= 0]
        meets = [(addresses[m], addresses[m] + items[m].bytes) for m in self.level[n] if addresses[m] >= 0]
        blocked = sorted(taken + meets)
        at = round_up(self.reserved, item.grid)
        for low, high in blocked:
            if low >= at + item.bytes:
                break
            if high > at:
                at = round_up(high, item.grid)
        for start in sorted({low for low, _ in meets if low < at and low >= self.reserved and low % item.grid == 0}):
            stop = start + item.bytes
            if all(high <= start or low >= stop for low, high in taken) and all(
                low == start or high <= start or low >= stop for low, high in meets
            ):
                return start
        return at
