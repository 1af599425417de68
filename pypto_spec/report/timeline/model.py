"""What a modelled timeline says. Every figure in here is modelled, none was measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pypto_spec.records import dataclass
from pypto_spec.report.timeline.events import PIPES
from pypto_spec.report.timeline.machine import Again, Span

SATURATED = 0.8
"""Share from which on a pipe is said to be what bounds a kernel; below, its pipes wait for one another."""

SizesFrom = Literal["compile time", "given", "golden", "bounds"]


class Busy:
    """Cycles by pipe out of a makespan."""

    __slots__ = ()

    cycles: int
    busy: Mapping[str, int]

    @property
    def shares(self) -> dict[str, float]:
        """The share of the makespan in which each pipe works, of the pipes that work at all, 0 to 1."""
        return {pipe: busy / self.cycles for pipe, busy in self.busy.items() if busy} if self.cycles else {}

    @property
    def busiest(self) -> str:
        """The pipe that works longest; `s` where none works."""
        return max(self.busy, key=lambda pipe: self.busy[pipe], default="s")

    @property
    def share(self) -> float:
        """The share of the busiest pipe."""
        return self.shares.get(self.busiest, 0.0)

    @property
    def bound_by(self) -> str:
        """The busiest pipe where it hardly ever rests, else `waits`: the pipes wait for one another."""
        return self.busiest if self.share >= SATURATED else "waits"


@dataclass(frozen=True, slots=True)
class KernelTimeline(Busy):
    """All launches of one kernel. `cycles` and `busy` add up, over its waves, the block that takes longest.

    `blocks` and `waves` are of its last launch. `spans` (with `again`) is when each instruction of the longest block of
    its last launch ran, where that was asked for.
    """

    kernel: str
    region: str
    core: str
    launches: int
    blocks: int
    waves: int
    cycles: int
    busy: Mapping[str, int]
    instructions: int
    spans: tuple[Span, ...] = ()
    again: tuple[Again, ...] = ()


@dataclass(frozen=True, slots=True)
class Timeline(Busy):
    """A program: its launches, one after the other. `cycles` is the makespan without the time of launching.

    `sizes` are the run-time sizes taken, `sizes_from` says where they come from. Where `complete` is false, there was
    more than is worth simulating, or something is not known, and `cycles` is what was seen of it. `assumptions` are
    sentences.
    """

    program: str
    platform: str
    clock_mhz: int
    cycles: int
    busy: Mapping[str, int]
    kernels: tuple[KernelTimeline, ...]
    sizes: Mapping[str, int]
    sizes_from: SizesFrom
    assumptions: tuple[str, ...] = ()
    complete: bool = True

    @property
    def microseconds(self) -> float:
        """The makespan at the clock of the cost table."""
        return self.cycles / self.clock_mhz


def by_pipe(busy: tuple[int, ...] | list[int]) -> dict[str, int]:
    """Cycles by the names of pipes, of those that work."""
    return {name: cycles for name, cycles in zip(PIPES, busy, strict=True) if cycles}
