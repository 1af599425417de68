"""First fit: buffer by buffer, each at the lowest address where nothing keeps it out.

What comes first stands lowest, so everything hangs on the order. Several canonical ones are tried, and each of them is
improved: the buffer that stands highest is let in earlier, a bounded number of times. Of a few buffers all orders are
tried. No library, no chance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations

from pypto_spec.ir.types import round_up
from pypto_spec.passes.memory.planners.bound import lower_bound
from pypto_spec.passes.memory.problem import Item, Placement, Problem, neighbours
from pypto_spec.records import dataclass

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
FEW = 6
"""Buffers of which every order is tried."""
MOST_ROUNDS = 200
"""Improvements of one plan."""


def first_fit(problem: Problem) -> Placement:
    """The best placement over all orders and improvements; one as low as the bound ends the search."""
    goal = lower_bound(problem).end
    packer = _Packer(problem)
    free = [n for n, item in enumerate(problem.items) if item.address is None]
    plans: list[_Plan] = []
    for key in ORDERS.values():
        plans.append(packer.plan(sorted(free, key=lambda n: key(problem.items[n]))))
        if plans[-1].end <= goal:
            break
    best = min(plans, key=lambda plan: plan.end)
    if best.end > goal and len(free) <= FEW:
        best = min(map(packer.plan, permutations(free)), key=lambda plan: plan.end)
    elif best.end > goal:
        best = _improved(packer, sorted(plans, key=lambda plan: plan.end), goal)
    named = {item.name: at for item, at in zip(problem.items, best.addresses, strict=True)}
    return Placement(named, best.end, proven=best.end <= goal)


@dataclass(frozen=True, slots=True)
class _Plan:
    """The items in the order in which they were packed, all addresses, and the highest end."""

    order: tuple[int, ...]
    addresses: tuple[int, ...]
    end: int


def _improved(packer: _Packer, plans: Sequence[_Plan], goal: int) -> _Plan:
    """Let in earlier what stands highest, again and again, from each plan on; the best that was seen."""
    best = plans[0]
    left = min(MOST_ROUNDS, MOST_WORK // max(1, packer.work))
    seen = {plan.order for plan in plans}
    for plan in plans:
        rounds = -(-left // len(plans))
        while rounds and best.end > goal and plan.order:
            rounds -= 1
            order = packer.earlier(plan)
            if order in seen:
                break
            seen.add(order)
            plan = packer.plan(order)
            best = min(best, plan, key=lambda p: p.end)
    return best


class _Packer:
    """Packs the items of a problem in any order."""

    def __init__(self, problem: Problem) -> None:
        self.items = problem.items
        self.reserved = problem.reserved
        self.apart = neighbours(len(problem.items), problem.apart)
        self.level = neighbours(len(problem.items), problem.level)
        self.work = 2 * (len(problem.apart) + len(problem.level)) + len(problem.items)

    def plan(self, order: Sequence[int]) -> _Plan:
        """The items of `order` packed one after the other; those with a written address stand already."""
        addresses = [-1 if item.address is None else item.address for item in self.items]
        for n in order:
            addresses[n] = self._lowest(n, addresses)
        end = max((at + i.bytes for at, i in zip(addresses, self.items, strict=True)), default=self.reserved)
        return _Plan(tuple(order), tuple(addresses), end)

    def earlier(self, plan: _Plan) -> tuple[int, ...]:
        """The order with what stands highest halfway to the front; what keeps sticking out soon gets there."""
        order = plan.order
        top = max(order, key=lambda n: (plan.addresses[n] + self.items[n].bytes, n))
        place = order.index(top)
        half = place // 2
        return (*order[:half], top, *order[half:place], *order[place + 1 :])

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
