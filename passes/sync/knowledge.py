"""Rows of knowledge (how far a pipe may rely on each pipe) at points of a program and on several ways through it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pypto_spec.passes.sync.model import Row


@dataclass(frozen=True, slots=True)
class Visit:
    """One run through a statement: the time and each pipe's knowledge before and after it.

    `known_ready` is what is known behind the waits of guards that follow. `entered` and `left` number all beginnings
    and ends in the order in which they come. `turn` is the run of the innermost loop around it (by the moment at which
    that began), and the round of it.
    """

    before: int
    known_before: tuple[Row, ...]
    entered: int
    after: int
    known_after: tuple[Row, ...]
    known_ready: tuple[Row, ...]
    left: int
    turn: tuple[int, int]


def later(row: Sequence[int], start: int, shift: int) -> Row:
    """Knowledge of what ran after `start`, as if it had run `shift` later."""
    return tuple(t + shift if t > start else t for t in row)


def common(a: Sequence[int], b: Sequence[int]) -> Row:
    """What is known on both of two ways."""
    return tuple(min(x, y) for x, y in zip(a, b, strict=True))


def both(some: Sequence[Row], others: Sequence[Row]) -> tuple[Row, ...]:
    """What several rows tell on both of two ways."""
    return tuple(common(a, b) for a, b in zip(some, others, strict=True))


def unless(skipped: Sequence[int], last: Sequence[int], ran: Sequence[int]) -> Row:
    """What is known behind a loop that may not run at all.

    If it did not run, its work is no concern; then it only matters whether all earlier work of the pipe (up to `last`)
    was known to be done.
    """
    return tuple(r if s >= t else min(s, r) for s, t, r in zip(skipped, last, ran, strict=True))
