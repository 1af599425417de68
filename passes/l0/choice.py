"""The decision: the cheapest tile of all forms, and for each form why it was or was not taken."""

from __future__ import annotations

from enum import Enum
from functools import lru_cache

from pypto_spec.passes.l0.problem import BASELINE, FORMS, Form, Problem
from pypto_spec.passes.l0.refusals import Refusal, no_tile, refuse
from pypto_spec.passes.l0.search import Candidate, Found, search
from pypto_spec.records import dataclass


class Why(Enum):
    """Why a form was or was not taken."""

    TAKEN = "taken"
    NOT_CHEAPER = "not-cheaper"
    """`Verdict.cycles` more than the winner, or as many."""
    UNTILED = "untiled"
    """The whole matmul fits as one tile of the first form: nothing is cut, whatever this form would cost."""
    NEEDS_WHOLE_K = "needs-whole-k"
    """The form needs tiles with all of K; `Verdict.longest_k` is what fits."""
    ONE_MOVING_TILE = "one-moving-tile"
    """Two accumulators need two full tiles on the axis of the inner loop."""
    BIAS_TOO_WIDE = "bias-too-wide"
    """The bias table has no room for as many places as the loops of the form keep in flight."""
    NO_ROOM = "no-room"
    """Not even the smallest tile fits."""
    GATE_OFF = "gate-off"
    """It would be cheaper, but two accumulators are not asked for (`l0c_double_buffer`)."""
    FORBIDDEN = "forbidden"
    """It would be cheaper, but whoever asked does not let this operand stay put."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why, with its figures.

    `cycles` is the wall of the form's best tile less that of the winner, negative where it would be cheaper and may not
    be taken; None without a tile. `longest_k` is the largest k of any tile that fits.
    """

    why: Why
    cycles: int | None
    longest_k: int


@dataclass(frozen=True, slots=True)
class Considered:
    """One form with its cheapest tile, of `legal` tiles that fit."""

    form: Form
    best: Candidate | None
    legal: int
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Choice:
    """What is done with a matmul, and all that was considered; `forms` are in the order of `FORMS`."""

    problem: Problem
    winner: Candidate
    forms: tuple[Considered, ...]

    @property
    def is_tiled(self) -> bool:
        """Whether anything is cut."""
        return self.winner.tile != self.problem.shape

    @property
    def cuts_output(self) -> bool:
        """Whether the output has several tiles."""
        return self.winner.tiles > 1

    @property
    def cuts_k(self) -> bool:
        """Whether K has several blocks."""
        return self.winner.blocks > 1

    @property
    def legal(self) -> int:
        """Tiles that were compared, of all forms."""
        return sum(c.legal for c in self.forms)

    def of(self, form: Form) -> Considered:
        """What became of a form."""
        return self.forms[FORMS.index(form)]


@lru_cache(maxsize=1024)
def choose(problem: Problem) -> Choice | Refusal:
    """The tile of a matmul, or why it cannot be cut.

    The best tile of the first form is kept if it is the whole matmul. Otherwise another form replaces it where it is
    strictly cheaper; of two that cost the same, the first one is taken.
    """
    refused = refuse(problem)
    if refused is not None:
        return refused
    found = {form: search(problem, form) for form in FORMS}
    winner = found[BASELINE].best
    if winner is None:
        return no_tile(problem)
    whole = winner.tile == problem.shape
    if not whole:
        for form, one in found.items():
            if one.best is not None and problem.is_open(form) and one.best.terms.wall < winner.terms.wall:
                winner = one.best
    return Choice(
        problem,
        winner,
        tuple(Considered(f, it.best, it.legal, _verdict(problem, f, it, winner, whole)) for f, it in found.items()),
    )


def _verdict(problem: Problem, form: Form, found: Found, winner: Candidate, whole: bool) -> Verdict:
    if found.best is None:
        return Verdict(_without_tile(problem, form, found), None, found.longest_k)
    cycles = found.best.terms.wall - winner.terms.wall
    if form == winner.form:
        why = Why.TAKEN
    elif whole:
        why = Why.UNTILED
    elif cycles >= 0:
        why = Why.NOT_CHEAPER
    else:
        why = Why.GATE_OFF if form.stationary in problem.stationary else Why.FORBIDDEN
    return Verdict(why, cycles, found.longest_k)


def _without_tile(problem: Problem, form: Form, found: Found) -> Why:
    if not found.longest_k:
        return Why.NO_ROOM
    if form.needs_whole_k and found.longest_k < problem.k:
        return Why.NEEDS_WHOLE_K
    return Why.BIAS_TOO_WIDE if found.overlaps else Why.ONE_MOVING_TILE
