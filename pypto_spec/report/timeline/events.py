"""What a core dispatches, as the simulator sees it: instructions with their cycles, flags and barriers."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, NamedTuple

PIPES: Final = ("s", "v", "m", "mte1", "mte2", "mte3", "fix")
"""The pipes of a core; `s` is the scalar stream, which dispatches."""

RUN: Final = 0
SET: Final = 1
WAIT: Final = 2
BARRIER: Final = 3

ALL: Final = -1
"""The pipe of a barrier that stops the scalar stream until every pipe is done."""


class Event(NamedTuple):
    """One dispatched call. `pipe` counts in `PIPES`: where it runs, a flag is set, or a flag is waited for.

    `cycles` is how long it keeps its pipe. `flag` names the flag of a set or wait; any key does that is the same for
    both. Of an instruction with unit flags it is the accumulator (`tile`). `name` and `line` (of the user's file or the
    kernel's) are for drawing.
    """

    kind: int
    pipe: int
    cycles: int
    flag: Hashable = None
    name: str = ""
    line: int = 0


def tile(*address: int) -> tuple[str | int, ...]:
    """The accumulator whose unit flags an instruction waits for and turns over, by the byte of L0C it begins at."""
    return ("l0c", *address)


def pipe_number(name: str) -> int:
    """The number of a pipe, `ALL` for `all`; case does not matter."""
    lower = name.lower()
    return ALL if lower == "all" else PIPES.index(lower)
