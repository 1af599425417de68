"""What a tile costs, in cycles, term by term: loads from L1, the cube's MADs, and drains out of L0C."""

from __future__ import annotations

from pypto_spec.passes.l0.problem import Form, Problem, Stationary
from pypto_spec.records import dataclass


@dataclass(frozen=True, slots=True)
class Load:
    """Cycles of MTE1, which loads A and B one after the other."""

    a: float
    b: float

    @property
    def total(self) -> float:
        """Of both."""
        return self.a + self.b


@dataclass(frozen=True, slots=True)
class Terms:
    """The cost of the whole matmul in tiles of one shape, in cycles.

    `wall` is what counts. With one accumulator a drain stands still between two tiles: `max(load, mad) + drain`. With
    two it runs under the next tile, but for the first or last one: `max(work, drain) + min(work, drain) / tiles` with
    `work = max(load, mad)`.
    """

    load: Load
    mad: int
    drain: float
    wall: int

    @property
    def bound(self) -> str:
        """The term that the wall is made of most: `load`, `mad` or `drain`."""
        terms = {"load": self.load.total, "mad": float(self.mad), "drain": self.drain}
        return max(terms, key=terms.__getitem__)


@dataclass(frozen=True, slots=True)
class Grid:
    """The output in tiles of m x n: how many rows and columns of tiles, and what does not depend on k."""

    m: int
    n: int
    rows: int
    columns: int
    keep_a: Load
    """A is loaded once, and B once for each row of tiles."""
    keep_b: Load
    """B is loaded once, and A once for each column of tiles."""
    stream: Load
    """Both are loaded for each tile."""
    drain: float

    @property
    def tiles(self) -> int:
        """Tiles of the output."""
        return self.rows * self.columns

    def kept(self, stationary: Stationary) -> Stationary:
        """Which operand the outer loop keeps where a tile has all of K: the cheaper one if the output stays put."""
        if stationary is Stationary.OUTPUT:
            return Stationary.A if self.keep_a.total <= self.keep_b.total else Stationary.B
        return stationary

    def load(self, form: Form, whole_k: bool) -> Load:
        """Cycles of all loads; `whole_k` says that a tile has all of K."""
        if not whole_k:
            return self.stream
        return self.keep_a if self.kept(form.stationary) is Stationary.A else self.keep_b


def ceil_div(value: int, by: int) -> int:
    """The quotient rounded up."""
    return -(-value // by)


def grid(problem: Problem, m: int, n: int) -> Grid:
    """The output in tiles of m x n."""
    rows, columns = ceil_div(problem.m, m), ceil_div(problem.n, n)
    a = problem.dtype.bytes * problem.m * problem.k
    b = problem.dtype.bytes * problem.k * problem.n
    left, right = problem.costs.left_bandwidth, problem.costs.right_bandwidth
    a_once, a_often, b_once, b_often = a / left, a * columns / left, b / right, b * rows / right
    return Grid(
        m,
        n,
        rows,
        columns,
        keep_a=Load(a_once, b_often),
        keep_b=Load(a_often, b_once),
        stream=Load(a_often, b_often),
        drain=rows * columns * drain_of_tile(problem, m, n),
    )


def drain_of_tile(problem: Problem, m: int, n: int) -> float:
    """Cycles until one tile of m x n has left L0C."""
    return problem.costs.drain(m, problem.acc.bytes * n)


def passes(problem: Problem) -> int:
    """How often the cube takes a fractal of this dtype."""
    return problem.costs.mad_fp32_passes if problem.dtype.bytes == 4 else max(1, problem.dtype.bytes // 2)


def fractals_along_k(problem: Problem, k: int) -> int:
    """Fractals of all blocks of K of one tile; the last block counts at its own width."""
    width = max(1, problem.costs.mad_fractal // problem.dtype.bytes)
    full, rest = divmod(problem.k, k)
    return full * ceil_div(k, width) + ceil_div(rest, width)


def mad(problem: Problem, at: Grid, k: int) -> int:
    """Cycles of the cube on all tiles."""
    return _mad(problem, at, ceil_div(problem.k, k), fractals_along_k(problem, k))


def _mad(problem: Problem, at: Grid, blocks: int, fractals: int) -> int:
    """For each tile a head for each block of K, and a cycle for each fractal and pass."""
    unit = problem.costs.fractal
    area = ceil_div(at.m, unit) * ceil_div(at.n, unit)
    return at.tiles * (blocks * problem.costs.mad_head + passes(problem) * area * fractals)


def wall(form: Form, at: Grid, load: float, mad: float) -> int:
    """Cycles from the first load to the end of the last drain, rounded to the nearest, halves up."""
    work = max(load, mad)
    if form.double:
        return int(max(work, at.drain) + min(work, at.drain) / at.tiles + 0.5)
    return int(work + at.drain + 0.5)


def terms(problem: Problem, form: Form, at: Grid, k: int) -> Terms:
    """The cost of all tiles of m x n x k in one form."""
    load = at.load(form, k >= problem.k)
    cycles = mad(problem, at, k)
    return Terms(load, cycles, at.drain, wall(form, at, load.total, cycles))


def least_wall(problem: Problem, form: Form, at: Grid, longest: int) -> int:
    """A wall that no tile of m x n undercuts whose k is `longest` at most."""
    least = _mad(problem, at, ceil_div(problem.k, longest), fractals_along_k(problem, problem.k))
    return wall(form, at, at.load(form, longest >= problem.k).total, least)
