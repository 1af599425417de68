"""The chooser again, as slowly and plainly as it can be written: every tile of every form is tried."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import ceil, floor

from pypto_spec.passes.l0.problem import Problem

ORDER = ("output", "A", "B")


@dataclass(frozen=True)
class Tile:
    """A legal tile with its cost; `key` is what the order of tiles is made of."""

    stationary: str
    double: bool
    m: int
    n: int
    k: int
    wall: int
    key: tuple[float, ...]


def up(value: int, unit: int) -> int:
    return ceil(value / unit) * unit


def edge(p: Problem) -> int:
    """What extents are rounded up to in L0."""
    return {1: 32, 2: 16, 4: 16}[p.dtype.bytes]


def acc_rows(p: Problem) -> int:
    """What rows of an accumulator are rounded up to: 32 for int32 on a2a3, whose figures have 21 cycles of a head."""
    return 32 if p.acc.name == "int32" and p.costs.mad_head == 21 else 16


def all_tiles(p: Problem) -> list[Tile]:
    """Every legal tile of every form, open or not."""
    found = []
    for stationary, double in product(ORDER, (False, True)):
        for m in range(p.step[0], p.m + 1, p.step[0]):
            for n in range(p.step[1], p.n + 1, p.step[1]):
                if up(m, acc_rows(p)) * up(n, edge(p)) * p.acc.bytes * (1 + double) > p.acc_bytes:
                    break
                for k in range(p.step[2], p.k + 1, p.step[2]):
                    if legal(p, stationary, double, m, n, k):
                        found.append(price(p, stationary, double, m, n, k))
    return found


def holds_a(p: Problem, stationary: str, m: int, n: int) -> bool:
    held_a, held_b, _ = loads(p, m, n)
    return stationary == "A" or (stationary == "output" and held_a <= held_b)


def legal(p: Problem, stationary: str, double: bool, m: int, n: int, k: int) -> bool:
    size = p.dtype.bytes
    if up(m, edge(p)) * up(k, edge(p)) * size * (1 if stationary == "A" else 2) > p.left_bytes:
        return False
    if up(n, edge(p)) * up(k, edge(p)) * size * (1 if stationary == "B" else 2) > p.right_bytes:
        return False
    if (double or stationary != "output") and k != p.k:
        return False
    if double and (p.n // n if holds_a(p, stationary, m, n) else p.m // m) < 2:
        return False
    if p.width is None:
        return True
    limit = p.width.most
    if k == p.k and (m, n) != (p.m, p.n):
        if stationary in ("A", "output"):
            limit = min(limit, p.width.pipelined)
        if stationary == "output" and holds_a(p, stationary, m, n):
            limit = min(limit, p.width.nested)
    return n <= limit and (n == p.n or not p.width.whole)


def loads(p: Problem, m: int, n: int) -> tuple[float, float, float]:
    """Cycles of all loads with A held, with B held, and with neither."""
    a = p.dtype.bytes * p.m * p.k
    b = p.dtype.bytes * p.k * p.n
    columns, rows = ceil(p.n / n), ceil(p.m / m)
    left, right = p.costs.left_bandwidth, p.costs.right_bandwidth
    return (
        a / left + b * rows / right,
        a * columns / left + b / right,
        a * columns / left + b * rows / right,
    )


def price(p: Problem, stationary: str, double: bool, m: int, n: int, k: int) -> Tile:
    c = p.costs
    tiles = ceil(p.m / m) * ceil(p.n / n)
    held_a, held_b, neither = loads(p, m, n)
    load = neither if k < p.k else held_a if holds_a(p, stationary, m, n) else held_b

    width = c.mad_fractal / p.dtype.bytes
    fractals = floor(p.k / k) * ceil(k / width) + ceil((p.k - floor(p.k / k) * k) / width)
    passes = {4: c.mad_fp32_passes, 2: 1, 1: 1}[p.dtype.bytes]
    mad = tiles * (ceil(p.k / k) * c.mad_head + passes * ceil(m / 16) * ceil(n / 16) * fractals)

    blocks = ceil(n / (c.drain_block / p.acc.bytes))
    odd = next(blocks // 2**e for e in range(30, -1, -1) if blocks % 2**e == 0)
    row = max(c.drain_row, p.acc.bytes * n / c.drain_bandwidth) + c.drain_penalty * (odd - 1)
    drain = tiles * (c.drain_fixed + m * row)

    work = max(load, mad)
    exact = max(work, drain) + min(work, drain) / tiles if double else work + drain
    wall = floor(exact + 0.5)
    padded = up(p.m, m) * up(p.n, n) * up(p.k, k)
    return Tile(stationary, double, m, n, k, wall, (wall, padded, ceil(p.k / k), load, -m * n, -k, m))


def chosen(p: Problem, tiles: list[Tile]) -> Tile:
    """What the rules of the choice take among all tiles."""
    best = min((t for t in tiles if t.stationary == "output" and not t.double), key=lambda t: t.key)
    if (best.m, best.n, best.k) == p.shape:
        return best
    for stationary, double in product(ORDER, (False, True)):
        form = [t for t in tiles if (t.stationary, t.double) == (stationary, double)]
        allowed = stationary in [s.value for s in p.stationary] and (p.double or not double)
        if form and allowed:
            better = min(form, key=lambda t: t.key)
            if better.wall < best.wall:
                best = better
    return best
