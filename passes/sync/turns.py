"""Event ids that take turns with the rounds of a loop.

A flag carried over d rounds has d ids. A flag within a round may need several as well: where its source pipe knows of
the wait w rounds ago, but not of the last, w ids let it run ahead, and one would hold it back. Such a flag has its ids
for itself.
"""

from __future__ import annotations

from collections.abc import Iterable

from pypto_spec.passes.sync.knowledge import Visit
from pypto_spec.passes.sync.model import Edge


def least_width(edge: Edge, sets: Iterable[Visit], waits: Iterable[Visit], most: int, tied: int) -> int | None:
    """The fewest ids (2 to `most`) with which each set comes after the former wait for its id; None if too few.

    `edge` is set and waited for in each round of one loop; `sets` and `waits` are the visits of the two places. Of
    another run of the loop it is not known which id its last rounds used; with `tied` ids that does not matter.
    """
    needed: set[int] = set()
    between = False
    for done in sets:
        for asked in waits:
            if asked.entered < done.left and done.known_ready[edge.source][edge.target] <= asked.before:
                if done.turn[0] == asked.turn[0]:
                    needed.add(done.turn[1] - asked.turn[1])
                else:
                    between = True
    widths = (tied,) if between else range(2, most + 1)
    return next((w for w in widths if w and all(apart % w for apart in needed)), None)
