"""How many statements the copies of a pipeline's body come to, and how many stages keep a region readable."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_spec.ir.loops import known_trips
from pypto_spec.ir.nodes import For, Stmt
from pypto_spec.ir.rewrite import statements

MOST_STATEMENTS = 1_000
"""Statements of a region that the copies of a pipeline may bring it to. So many, each copy with some compute between
its load and its store, take all passes and the checker about 3 s; placing flags grows faster than their number.
"""


def size_of(body: Sequence[Stmt]) -> int:
    """Statements of a block, with all that is in them."""
    return sum(1 for _ in statements(body))


def made_of(loop: For, stages: int) -> int:
    """Statements that a pipeline with so many stages becomes.

    Its copies stand in a loop. What is left of the trips follows: that many copies where their number is known, else an
    `if` for each remainder with its copies.
    """
    each, trips = size_of(loop.body), known_trips(loop.start, loop.stop, loop.step)
    if isinstance(loop.start, int) and isinstance(loop.stop, int) and trips is not None:
        depth = min(stages, max(trips, 1))
        return 1 + each * (depth + trips % depth)
    return 1 + each * stages + sum(1 + each * left for left in range(1, stages))


def most_stages(loop: For, room: int) -> int:
    """The most stages, up to those it asks for, of which `room` statements are enough; 1 where there are none."""
    return next((n for n in range(loop.stages, 1, -1) if made_of(loop, n) <= room), 1)
