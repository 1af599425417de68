"""What is tried for a memory in which the shared places do not fit: first fit, then the exact search.

Both take buffers out of their places, so that they overlap as their lives allow. The exact search is asked last and only
here, so a program that fits without it has the same bytes whether or not it is installed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import Enum

from pypto_spec.ir.nodes import Buffer
from pypto_spec.passes.memory.planners import exact
from pypto_spec.passes.memory.planners.bound import Bound, lower_bound
from pypto_spec.passes.memory.planners.first_fit import first_fit
from pypto_spec.passes.memory.planners.places import stack
from pypto_spec.passes.memory.planners.pose import slot_bytes
from pypto_spec.passes.memory.problem import Placement, Problem
from pypto_spec.records import dataclass


class Planner(Enum):
    """Who placed the buffers of a memory."""

    PLACES = "places"
    FIRST_FIT = "first_fit"
    EXACT = "exact"


class Refusal(Enum):
    """Why nobody did."""

    TOO_MUCH = "too much is live at once"
    NO_FIT = "an exact search has shown that no placement fits"
    EXHAUSTED = "an exact search found no placement within its limit"
    NOT_INSTALLED = "the exact search is not installed"
    NOT_ASKED = "the exact search was not asked"


@dataclass(frozen=True, slots=True)
class Rescue:
    """A placement and whose it is, or why there is none. `bound` is what no placement can go below."""

    problem: Problem
    bound: Bound
    placement: Placement | None = None
    planner: Planner | None = None
    refusal: Refusal | None = None

    def placed(self, buffers: Iterable[Buffer]) -> dict[str, Buffer]:
        """The buffers of the problem with their addresses, by name; empty where there is no placement."""
        if self.placement is None:
            return {}
        grids = {item.name: item.grid for item in self.problem.items}
        addresses = self.placement.addresses
        return {
            b.name: replace(b, bytes=slot_bytes(b, grids[b.name]), address=addresses[b.name])
            for b in buffers
            if b.name in addresses
        }


def rescue(problem: Problem, *, search: bool = True) -> Rescue:
    """Place a problem that the places overflow. Without `search` only the heuristic is asked."""
    bound = lower_bound(problem)
    if bound.end > problem.capacity:
        return Rescue(problem, bound, refusal=Refusal.TOO_MUCH)
    found = first_fit(problem)
    if found.end <= problem.capacity:
        return Rescue(problem, bound, found, Planner.FIRST_FIT)
    if not search:
        return Rescue(problem, bound, refusal=Refusal.NOT_ASKED)
    answer = exact.fits(problem)
    if isinstance(answer, exact.Fits):
        return Rescue(problem, bound, answer.placement, Planner.EXACT)
    return Rescue(problem, bound, refusal=_REFUSALS[type(answer)])


_REFUSALS: Mapping[type[exact.Answer], Refusal] = {
    exact.NoFit: Refusal.NO_FIT,
    exact.Exhausted: Refusal.EXHAUSTED,
    exact.NotInstalled: Refusal.NOT_INSTALLED,
}


def plan(problem: Problem, lives_in: Mapping[str, str], *, search: bool = True) -> tuple[Rescue, Placement]:
    """The plan of a memory: the shared places where they fit (`lives_in`), else what `rescue` finds.

    Beside it the stacked places, whose end tells how much the places would take.
    """
    stacked = stack(problem, lives_in)
    if stacked.end <= problem.capacity:
        return Rescue(problem, lower_bound(problem), stacked, Planner.PLACES), stacked
    return rescue(problem, search=search), stacked
