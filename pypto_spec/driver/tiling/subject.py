"""What is explained: a matmul, for a target and its options, with the choice that was made."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nsmallest

from pypto_spec.passes.l0.choice import Choice, choose
from pypto_spec.passes.l0.problem import Problem
from pypto_spec.passes.l0.refusals import Refusal
from pypto_spec.passes.l0.rewrite.asked import Built
from pypto_spec.passes.l0.search import Candidate, candidates, rank
from pypto_spec.records import dataclass


@dataclass(frozen=True, slots=True)
class Subject:
    """One matmul. `where` names it in a spec, and is None where there is no spec."""

    problem: Problem
    platform: str
    planner: str
    where: str | None = None
    built: Built | None = None
    """What a spec has in place of the tile that is chosen."""
    kept: str = ""
    """Why a spec has the output as one tile, whatever would be cheaper; empty where it can be cut."""

    @property
    def choice(self) -> Choice | Refusal:
        """What the chooser says."""
        return choose(self.problem)


def runners_up(choice: Choice, most: int) -> Sequence[Candidate]:
    """The next best tiles of the winner's form, at most so many."""
    if not most:
        return ()
    return nsmallest(most + 1, candidates(choice.problem, choice.winner.form), key=rank)[1:]
