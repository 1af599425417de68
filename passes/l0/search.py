"""All tiles that a form can take, and the cheapest of them."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_spec.passes.l0.problem import Axis, Form, Problem, Stationary
from pypto_spec.passes.l0.room import outputs, room
from pypto_spec.passes.l0.terms import Grid, Terms, ceil_div, grid, least_wall, terms
from pypto_spec.records import dataclass


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tile of m x n x k in a form, with the cost of the whole matmul in such tiles.

    The output has `rows` x `columns` tiles, and each takes `blocks` blocks of K; a rest counts. `kept` is the operand
    that the outer loop of the grid keeps, where a tile has all of K, and None where K is cut.
    """

    form: Form
    m: int
    n: int
    k: int
    rows: int
    columns: int
    blocks: int
    kept: Stationary | None
    terms: Terms

    @property
    def tile(self) -> tuple[int, int, int]:
        """(m, n, k)."""
        return self.m, self.n, self.k

    @property
    def tiles(self) -> int:
        """Tiles of the output."""
        return self.rows * self.columns

    @property
    def stays(self) -> Stationary:
        """What stays put in the loops: the kept operand, or the output where K is cut."""
        return self.kept or Stationary.OUTPUT

    @property
    def moves(self) -> Axis | None:
        """The axis of the inner loop of the grid; None where K is cut."""
        return self.kept.moves if self.kept is not None else None


@dataclass(frozen=True, slots=True)
class Found:
    """What a search gave: the cheapest tile, None without any, and of how many tiles that fit.

    `longest_k` is the largest k of any m x n, 0 where not even the smallest tile fits. `overlaps` says that some m x n
    with as much of K as the form needs has two full tiles in its inner loop.
    """

    best: Candidate | None
    legal: int
    longest_k: int
    overlaps: bool


def search(problem: Problem, form: Form) -> Found:
    """The cheapest tile of a form. Tiles that cannot beat the best so far are not priced."""
    best: Candidate | None = None
    order: tuple[float, ...] = ()
    legal = reach = 0
    overlaps = False
    for m, n, longest in outputs(problem, room(problem, form)):
        reach = max(reach, longest)
        if form.needs_whole_k and longest < problem.k:
            continue
        at = grid(problem, m, n)
        if form.double and not _overlaps(problem, form, at):
            continue
        overlaps = True
        ks = _ks(problem, form, at, longest)
        legal += len(ks)
        if not ks or (best is not None and least_wall(problem, form, at, longest) > best.terms.wall):
            continue
        for k in ks:
            candidate = _candidate(problem, form, at, k)
            place = rank(candidate)
            if best is None or place < order:
                best, order = candidate, place
    return Found(best, legal, reach, overlaps)


def candidates(problem: Problem, form: Form) -> Iterator[Candidate]:
    """Every tile of a form with its cost, none left out: for tables; `search` is faster."""
    for m, n, longest in outputs(problem, room(problem, form)):
        at = grid(problem, m, n)
        if not form.double or _overlaps(problem, form, at):
            yield from (_candidate(problem, form, at, k) for k in _ks(problem, form, at, longest))


def rank(candidate: Candidate) -> tuple[float, ...]:
    """The order of the tiles of a form, the best first.

    By wall, then less padding, fewer blocks of K, fewer cycles of loads, larger m * n, larger k; at last smaller m, so
    that the order is total.
    """
    it = candidate
    padded = it.rows * it.m * it.columns * it.n * it.blocks * it.k
    return it.terms.wall, padded, it.blocks, it.terms.load.total, -it.m * it.n, -it.k, it.m


def _ks(problem: Problem, form: Form, at: Grid, longest: int) -> range:
    step = problem.step[2]
    least = problem.k if form.needs_whole_k else step
    if longest == problem.k and not _bias_fits(problem, form, at):
        longest -= step
    return range(least, longest + 1, step)


def _overlaps(problem: Problem, form: Form, at: Grid) -> bool:
    """Whether the inner loop has two full tiles for two accumulators; a peeled rest is not in it."""
    full = problem.n // at.n if at.kept(form.stationary).moves is Axis.N else problem.m // at.m
    return full >= 2


def _bias_fits(problem: Problem, form: Form, at: Grid) -> bool:
    """Whether the bias of a tile with all of K fits into the bias table as often as the loops of the grid need it."""
    if problem.width is None or at.tiles == 1 or form.stationary is Stationary.B:
        return True
    nested = form.stationary is Stationary.OUTPUT and at.kept(form.stationary) is Stationary.A
    return at.n <= (problem.width.nested if nested else problem.width.pipelined)


def _candidate(problem: Problem, form: Form, at: Grid, k: int) -> Candidate:
    kept = at.kept(form.stationary) if k == problem.k else None
    blocks = ceil_div(problem.k, k)
    return Candidate(form, at.m, at.n, k, at.rows, at.columns, blocks, kept, terms(problem, form, at, k))
