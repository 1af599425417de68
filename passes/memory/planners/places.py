"""The default planner: buffers share places, and the places stand one behind the other.

Largest first, each buffer joins the first place in which nothing keeps it out, else it opens a place of its own. Places
stand in the order in which their first members were made. Readable and quick; what a place has over for its smaller
members is lost, which is what the other planners save.
"""

from __future__ import annotations

from collections.abc import Mapping

from pypto_spec.ir.types import round_up
from pypto_spec.passes.memory.problem import Placement, Problem, neighbours


def places(problem: Problem) -> Placement:
    """Share, then stack."""
    return stack(problem, shared(problem))


def shared(problem: Problem) -> dict[str, str]:
    """For each buffer without a written address the one in whose place it lives."""
    items = problem.items
    apart = neighbours(len(items), problem.apart)
    order = [n for n, item in enumerate(items) if item.address is None]
    order.sort(key=lambda n: (-items[n].bytes, items[n].start, items[n].end))
    leads: list[str] = []
    at: dict[int, int] = {}
    for n in order:
        taken = {at[m] for m in apart[n] if m in at}
        place = next((p for p in range(len(leads)) if p not in taken), len(leads))
        if place == len(leads):
            leads.append(items[n].name)
        at[n] = place
    return {items[n].name: leads[place] for n, place in at.items()}


def stack(problem: Problem, lives_in: Mapping[str, str]) -> Placement:
    """The places one behind the other, clear of written addresses; `lives_in` says in whose place a buffer lives."""
    grid: dict[str, int] = {}
    for item in problem.items:
        lead = lives_in.get(item.name, item.name)
        grid[lead] = max(grid.get(lead, 1), item.grid)
    fixed = sorted((i.address, i.address + i.bytes) for i in problem.items if i.address is not None)
    start: dict[str, int] = {}
    cursor = problem.reserved
    for item in problem.items:
        if item.address is not None:
            start[item.name] = item.address
        elif lives_in.get(item.name, item.name) == item.name:
            cursor = round_up(cursor, grid[item.name])
            for low, high in fixed:
                if cursor < high and low < cursor + item.bytes:
                    cursor = round_up(high, grid[item.name])
            start[item.name] = cursor
            cursor += item.bytes
    addresses = {i.name: start[lives_in.get(i.name, i.name)] for i in problem.items}
    return Placement(addresses, problem.end(addresses))
