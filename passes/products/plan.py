"""How a product larger than L0 and L1 is divided: the tile of the output, the chunk of K in L1, and the block in L0.

Of all tiles that fit L0C the one is taken whose rounds over the cores cost least: a round is the longest of loading
both operands into L1 (as the timeline counts it, in whole bursts, and as if from L2, whose bandwidth the cores share),
loading them from L1, and the products, plus the drain, which with two accumulators (dbC) runs under the next round.
Terms other than the first are those of the chooser (`l0.terms`). The chunk of K is as large as two of them fit L1,
with nothing left over where that costs less than half of it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from math import prod

from pypto_spec.ir.expr import bounds
from pypto_spec.ir.layouts import FRACTAL_BYTES, round_up
from pypto_spec.ir.nodes import Value
from pypto_spec.ir.types import Memory, TensorType
from pypto_spec.ops.cube.nd2nz import MAX_PITCH
from pypto_spec.ops.window import MAX_ROWS
from pypto_spec.passes.l0.problem import BASELINE, Problem, pose
from pypto_spec.passes.l0.room import outputs, room
from pypto_spec.passes.l0.terms import ceil_div, drain_of_tile, grid, mad
from pypto_spec.passes.products.product import Product, Window
from pypto_spec.records import dataclass
from pypto_spec.targets.cycles import cycles
from pypto_spec.targets.model import Target

STAGES = 2
"""Chunks of K in L1 at once: one is loaded while the other is used."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A tile of `m` x `n` of the output, summed over chunks of `chunk` of K, each in blocks of `block`.

    `double` lets two accumulators take turns; `cycles` is the modelled wall of the whole product. It has `tiles`, and
    so many `rounds`, in each of which a core makes one. A round is made of these terms, in cycles: to `read` both
    operands from L2, to `load` them from L1, the products (`mad`), and the `drain`.
    """

    m: int
    n: int
    chunk: int
    block: int
    double: bool
    cycles: int
    tiles: int
    rounds: int
    read: float
    load: float
    mad: float
    drain: float


@dataclass(frozen=True, slots=True)
class Division:
    """The cheapest plan with one accumulator and with two, `asked` and `turns` saying whether two are a choice.

    `double` is None where no tile leaves each block two of them, or nobody wants to know. `cores` is how many make
    tiles at once.
    """

    single: Plan
    double: Plan | None
    asked: bool
    turns: bool
    cores: int

    @property
    def taken(self) -> Plan:
        """The plan that is followed: of equals the one with one accumulator."""
        if self.double is None or not (self.asked and self.turns):
            return self.single
        return min(self.single, self.double, key=_rank)


def divide(
    product: Product,
    target: Target,
    *,
    blocks: int,
    planner: str,
    l0c_double_buffer: bool,
    turns: bool = True,
    every: bool = False,
) -> Division:
    """The plans of one product, shared out over `blocks`; without `turns` two accumulators are no choice.

    With `every` the plan with two accumulators is made even where it is no choice.
    """
    m, n, k = product.extents
    bias = Memory.MAT if product.bias is not None else None
    problem = pose(
        target,
        m,
        n,
        k,
        product.operand_dtype,
        planner=planner,
        l0c_double_buffer=l0c_double_buffer,
        bias=bias,
        pad=True,
    )
    batch = prod(product.result[:-2])
    half = replace(problem, acc_bytes=problem.acc_bytes // 2)
    cores = min(blocks, target.cube_cores)
    single = min(_plans(problem, target, product, cores, batch, 0), key=_rank, default=None)
    assert single is not None, "the smallest tile always fits"
    double = None
    if every or (problem.double and turns):
        double = min(_plans(half, target, product, cores, batch, blocks), key=_rank, default=None)
    return Division(single, double, problem.double, turns, cores)


def _rank(plan: Plan) -> tuple[int, int, int, float]:
    return plan.cycles, plan.double, -plan.m * plan.n, plan.load + plan.mad


def _plans(problem: Problem, target: Target, product: Product, cores: int, batch: int, turns: int) -> Iterator[Plan]:
    """Every tile that fits; with `turns`, the number of blocks, those of which each block has two or more."""
    double = turns > 0
    most_m, most_n, most_k = _reach(product)
    for m, n, longest in outputs(problem, room(problem, BASELINE)):
        if m > most_m or n > most_n:
            continue
        at = grid(problem, m, n)
        cells = at.tiles * batch
        if double and ceil_div(cells, turns) < 2:
            continue
        edge = _edge(problem, product)
        if longest < min(edge, problem.k):
            continue
        chunk, block = _chunk(problem, target, product, m, n, longest, edge, most_k)
        load = at.stream.total / at.tiles
        work = mad(problem, at, block) / at.tiles
        read = _read(problem, target, product, m, n, chunk, cores)
        drain = drain_of_tile(problem, m, n)
        longest_pipe = max(load, work, read)
        rounds = ceil_div(cells, cores)
        wall = (
            rounds * max(longest_pipe, drain) + min(longest_pipe, drain) if double else rounds * (longest_pipe + drain)
        )
        yield Plan(m, n, chunk, block, double, round(wall), cells, rounds, read, load, work, drain)


def _read(problem: Problem, target: Target, product: Product, m: int, n: int, chunk: int, cores: int) -> int:
    """Cycles in which both operands of a tile come into L1, chunk by chunk, where all cores find them in L2.

    How long the rows are is what tells one tile from another of the same size: GM moves whole bursts.
    """
    whole, rest = divmod(problem.k, chunk)
    found = 0
    for times, depth in ((whole, chunk), (1, rest)):
        for side, across in enumerate((m, n)):
            rows, length = (depth, across) if product.turned[side] == (side == 0) else (across, depth)
            found += times * cycles(
                target, "mte2", "DataCopy.nz", bytes=rows * length * problem.dtype.bytes, repeats=rows, active=cores,
                readers=1,
            ) * (depth > 0)  # fmt: skip
    return found


def _reach(product: Product) -> tuple[int, int, int]:
    """The most of M, N and K that one load brings: rows far apart in GM take a call each."""
    found = [sys.maxsize] * 3
    for side, window in enumerate((product.lhs, product.rhs)):
        assert isinstance(window, Window)
        if far_apart(window.tensor):
            axis = 2 if product.turned[side] == (side == 0) else side
            found[axis] = MAX_ROWS
    return found[0], found[1], found[2]


def far_apart(tensor: Value) -> bool:
    """Whether rows of a tensor are further apart than a copy into L1 steps over."""
    assert isinstance(tensor.type, TensorType)
    pitch = bounds(tensor.type.strides[-2])[1]
    return pitch is None or pitch > MAX_PITCH


def _edge(problem: Problem, product: Product) -> int:
    """What blocks of K are multiples of; a row of A that is stored as one comes to L0A from whole fractals."""
    if product.extents[0] == 1 and not product.turned[0]:
        return FRACTAL_BYTES // problem.dtype.bytes
    return _square(problem)


def _square(problem: Problem) -> int:
    """The step of the chooser along K, for 1-byte types two of them."""
    return problem.step[2] * (2 if problem.dtype.bytes == 1 else 1)


def _chunk(
    problem: Problem, target: Target, product: Product, m: int, n: int, longest: int, edge: int, most_k: int
) -> tuple[int, int]:
    """The chunk of K in L1, at most `most_k`, and the block of it in L0; multiples of `edge` if not all of K."""
    square = _square(problem)
    across = (round_up(m, square) + round_up(n, square)) * problem.dtype.bytes
    free = target.capacity[Memory.MAT] - (0 if product.bias is None else 2 * round_up(n * problem.acc.bytes, 512))
    most = free // across // edge * edge
    if most < problem.k:
        most = free // (STAGES * across) // edge * edge
    most = min(most, most_k)
    block = min(longest, max(most, edge))
    if block < problem.k and block > edge:
        block = block // edge * edge
    if most >= problem.k:
        return problem.k, block
    largest = most // block * block
    for chunk in range(largest, largest // 2, -block):
        if problem.k % chunk == 0 and chunk // block % STAGES == 0:
            return chunk, block  # nothing is left over, and blocks go through L0 in pairs
    chunks = ceil_div(problem.k, largest)
    return round_up(ceil_div(problem.k, chunks), block), block
