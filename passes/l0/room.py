"""What fits into L0A, L0B and L0C in one form: physical extents against the buffers that are live at once."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_spec.ir.layouts import Memory, round_up
from pypto_spec.passes.l0.problem import Form, Problem
from pypto_spec.records import dataclass


@dataclass(frozen=True, slots=True)
class Room:
    """Elements that one buffer of each memory has room for."""

    left: int
    right: int
    acc: int


def room(problem: Problem, form: Form) -> Room:
    """Each memory divided among the buffers that a form keeps in it."""
    a, b, c = form.depths
    item = problem.dtype.bytes
    acc = problem.acc.bytes * c
    return Room(problem.left_bytes // (item * a), problem.right_bytes // (item * b), problem.acc_bytes // acc)


def longest_k(problem: Problem, has: Room, m: int, n: int) -> int:
    """The largest k with which A [m, k] and B [k, n] fit, 0 where not even the smallest does.

    Steps of n and k are whole boxes, so only rows of A have to be rounded up.
    """
    step = problem.step[2]
    fits = min(has.left // round_up(m, problem.left_box[0]), has.right // n)
    return min(problem.k, fits) // step * step


def acc_elements(problem: Problem, m: int, n: int) -> int:
    """Elements that an accumulator of m x n takes in L0C."""
    return _elements(m, n, problem.acc_box)


def outputs(problem: Problem, has: Room) -> Iterator[tuple[int, int, int]]:
    """Every (m, n) that fits, by rising m and then n, with the largest k that fits beside it."""
    step_m, step_n, _ = problem.step
    first, last = step_n, problem.n
    if problem.width is not None:
        first, last = problem.n if problem.width.whole else first, min(last, problem.width.most)
    for m in range(step_m, problem.m + 1, step_m):
        for n in range(first, last + 1, step_n):
            longest = longest_k(problem, has, m, n)
            if not longest or acc_elements(problem, m, n) > has.acc:
                if n == first:
                    return
                break
            yield m, n, longest


@dataclass(frozen=True, slots=True)
class Buffers:
    """What a form keeps in one memory: so many buffers, and the bytes of each."""

    memory: Memory
    count: int
    bytes: int
    available: int


def footprint(problem: Problem, form: Form, m: int, n: int, k: int) -> tuple[Buffers, Buffers, Buffers]:
    """What tiles of m x n x k take of L0A, L0B and L0C; one buffer each where the tile is the whole matmul."""
    counts = (1, 1, 1) if (m, n, k) == problem.shape else form.depths
    left = _elements(m, k, problem.left_box) * problem.dtype.bytes
    right = _elements(k, n, problem.right_box) * problem.dtype.bytes
    acc = _elements(m, n, problem.acc_box) * problem.acc.bytes
    return (
        Buffers(Memory.LEFT, counts[0], left, problem.left_bytes),
        Buffers(Memory.RIGHT, counts[1], right, problem.right_bytes),
        Buffers(Memory.ACC, counts[2], acc, problem.acc_bytes),
    )


def _elements(rows: int, columns: int, box: tuple[int, int]) -> int:
    return round_up(rows, box[0]) * round_up(columns, box[1])
