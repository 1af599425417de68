"""What the chooser is asked about a matmul of a program, and its answer in terms that can be written down."""

from __future__ import annotations

from dataclasses import replace
from math import lcm

from pypto_spec.ir.layouts import round_up
from pypto_spec.ir.nodes import TargetOptions
from pypto_spec.ir.types import Memory, TileType
from pypto_spec.passes.l0.choice import Choice, choose
from pypto_spec.passes.l0.problem import BASELINE, Problem, Stationary, pose
from pypto_spec.passes.l0.refusals import Refusal, refuse
from pypto_spec.passes.l0.rewrite.grid import Tiling
from pypto_spec.passes.l0.rewrite.product import Product
from pypto_spec.passes.l0.rewrite.writer import STAGES
from pypto_spec.passes.l0.room import longest_k, room
from pypto_spec.passes.l0.search import Candidate
from pypto_spec.passes.l0.terms import grid, terms
from pypto_spec.records import dataclass
from pypto_spec.targets.model import Target

BIAS_UNIT = 16
"""Accumulators of a bias that are moved at once: 64 B."""


@dataclass(frozen=True, slots=True)
class Question:
    """A product whose extents are known, with on what multiples its parts may start along M, N and K."""

    target: Target
    options: TargetOptions
    product: Product
    m: int
    n: int
    k: int

    @property
    def units(self) -> tuple[int, int, int]:
        """On multiples of what rows of A, columns of B and K may be cut."""
        lhs, rhs = self.product.lhs.units, self.product.rhs.units
        n = rhs[1] if self.product.bias is None else lcm(rhs[1], BIAS_UNIT)
        return lhs[0], n, lcm(lhs[1], rhs[0])

    def pose(self, *, pad: bool) -> Problem:
        """The problem; `pad` rounds its extents up to whole fractals."""
        product, options = self.product, self.options
        bias = None
        if product.bias is not None:
            kind = product.bias.tile.type
            assert isinstance(kind, TileType)
            bias = kind.memory if kind.memory is Memory.BIAS else Memory.MAT
        return pose(
            self.target,
            self.m,
            self.n,
            self.k,
            product.lhs.kind.dtype,
            planner=options.planner,
            l0c_double_buffer=options.l0c_double_buffer,
            bias=bias,
            pad=pad,
        )

    @property
    def refusal(self) -> Refusal | None:
        """Why extents that are no whole fractals are not what the cube is good at; PyPTO does not cut them at all."""
        return refuse(self.pose(pad=False))

    def answer(self, *, stages: int = 0) -> Choice | Refusal:
        """The chooser's answer; where it cuts inside a box of L1, the answer with larger steps.

        With `stages` operands come block by block in a pipeline of so many, so that the output alone can stay put.
        """
        problem = self.pose(pad=True)
        if stages:
            problem = replace(problem, stationary=(Stationary.OUTPUT,), double=False)
            found = choose(problem)
            if stages > STAGES and isinstance(found, Choice) and not found.cuts_k:
                left, right = (room * STAGES // stages for room in (problem.left_bytes, problem.right_bytes))
                problem = replace(problem, left_bytes=left, right_bytes=right)
        choice = choose(problem)
        if isinstance(choice, Refusal) or self._starts_on_boxes(choice.winner):
            return choice
        step = tuple(
            lcm(have, unit) if cut else have
            for have, unit, cut in zip(problem.step, self.units, _cuts(choice.winner), strict=True)
        )
        m, n, k = (round_up(extent, one) for extent, one in zip(problem.shape, step, strict=True))
        return choose(replace(problem, m=m, n=n, k=k, step=(step[0], step[1], step[2])))

    def _starts_on_boxes(self, winner: Candidate) -> bool:
        parts = zip(winner.tile, self.units, _cuts(winner), strict=True)
        return all(extent % unit == 0 for extent, unit, cut in parts if cut)

    def whole_output(self) -> int:
        """The cheapest block of K with which the whole output is one tile; 0 if there is none."""
        problem = self.pose(pad=True)
        m, n = problem.m, problem.n
        has = room(problem, BASELINE)
        output = TileType(problem.acc, (self.m, self.n), Memory.ACC)
        if output.bytes > problem.acc_bytes or (problem.width is not None and n > problem.width.most):
            return 0
        longest = longest_k(problem, has, m, n)
        if longest == problem.k:
            return longest
        at, unit = grid(problem, m, n), lcm(problem.step[2], self.units[2])
        blocks = range(unit, longest + 1, unit)
        return min(blocks, key=lambda k: (terms(problem, BASELINE, at, k).wall, -k), default=0)


def tiling_of(winner: Candidate) -> Tiling:
    """The winner as loops."""
    streamed = winner.form.stationary is Stationary.OUTPUT and winner.kept is not None
    return Tiling(winner.m, winner.n, winner.k, winner.kept, streamed, winner.form.double)


def _cuts(winner: Candidate) -> tuple[bool, bool, bool]:
    return winner.rows > 1, winner.columns > 1, winner.blocks > 1
