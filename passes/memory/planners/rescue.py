"""What is tried for a memory in which the shared places do not fit: first fit, then the exact search.

Both take buffers out of their places, so that they overlap as their lives allow. The exact search is asked last and
only here, so a program that fits without it has the same bytes whether or not it is installed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import Enum

from pypto_spec.ir.nodes import Buffer, Planner
from pypto_spec.passes.memory.planners import exact
from pypto_spec.passes.memory.planners.bound import Bound, lower_bound
from pypto_spec.passes.memory.planners.first_fit import first_fit
from pypto_spec.passes.memory.planners.pose import slot_bytes
from pypto_spec.passes.memory.problem import Placement, Problem
from pypto_spec.records import dataclass


class Refusal(Enum):
    """Why nobody did."""

    TOO_MUCH = "too much is live at once"
    NO_FIT = "an exact search has shown that no placement fits"
    EXHAUSTED = "an exact search found no placement within its limit"
    NOT_INSTALLED = "the exact search is not installed"
    NOT_ASKED = "the exact search was not asked"


@dataclass(frozen=True, slots=True)
class Rescue:
    """A placement and whose it is, or why there is none.

    `bound` is what no placement can go below, `lowest` the lowest end that first fit found, in bytes.
    """

    problem: Problem
    bound: Bound
    lowest: int
    placement: Placement | None = None
    planner: Planner | None = None
    refusal: Refusal | None = None

    def placed(self, buffers: Iterable[Buffer]) -> dict[str, Buffer]:
        """The buffers of the problem with their addresses, by name; empty where there is no placement."""
        if self.placement is None or self.planner is None:
            return {}
        items = {item.name: item for item in self.problem.items}
        found: dict[str, Buffer] = {}
        for buffer in buffers:
            if buffer.name in items and buffer.address is None:
                size, address = slot_bytes(buffer, items[buffer.name].grid), self.placement.addresses[buffer.name]
                found[buffer.name] = replace(buffer, bytes=size, address=address, planner=self.planner)
            elif buffer.name in items:
                found[buffer.name] = buffer
        return found


def rescue(problem: Problem, *, search: bool = True) -> Rescue:
    """Place a problem that the places overflow. Without `search` only the heuristic is asked."""
    bound, found = lower_bound(problem), first_fit(problem)
    if found.end <= problem.capacity:
        return Rescue(problem, bound, found.end, found, "first_fit")
    if bound.end > problem.capacity:
        return Rescue(problem, bound, found.end, refusal=Refusal.TOO_MUCH)
    if not search:
        return Rescue(problem, bound, found.end, refusal=Refusal.NOT_ASKED)
    answer = exact.fits(problem)
    if isinstance(answer, exact.Fits):
        return Rescue(problem, bound, found.end, answer.placement, "exact")
    return Rescue(problem, bound, found.end, refusal=_REFUSALS[type(answer)])


_REFUSALS: Mapping[type[exact.Answer], Refusal] = {
    exact.NoFit: Refusal.NO_FIT,
    exact.Exhausted: Refusal.EXHAUSTED,
    exact.NotInstalled: Refusal.NOT_INSTALLED,
}
