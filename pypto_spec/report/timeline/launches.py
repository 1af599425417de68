"""Blocks shared out over the cores of a platform, in waves, and launches one after the other."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import NamedTuple

from pypto_spec.report.timeline.machine import Again, Machine, N, Span
from pypto_spec.report.timeline.model import KernelTimeline, SizesFrom, Timeline, by_pipe
from pypto_spec.targets.model import Target


class BlockTime(NamedTuple):
    """One block: its cycles, and how long each pipe works."""

    cycles: int
    busy: tuple[int, ...]
    instructions: int
    spans: tuple[Span, ...] = ()
    again: tuple[Again, ...] = ()


def block_time(machine: Machine) -> BlockTime:
    """What a machine has done. Raises StuckError where it never ends."""
    spans = tuple(machine.spans or ())
    return BlockTime(machine.end, tuple(machine.busy), machine.instructions, spans, tuple(machine.again))


class LaunchTime(NamedTuple):
    """One launch: each wave takes as long as its longest block."""

    blocks: int
    waves: int
    cycles: int
    busy: tuple[int, ...]
    instructions: int
    longest: BlockTime


def in_waves(
    blocks: int, cores: int, key: Callable[[int], Hashable], simulate: Callable[[int, int], BlockTime]
) -> LaunchTime:
    """A launch. Blocks with one `key` take the same time; `simulate` takes a block and how many run at once."""
    made: dict[tuple[Hashable, int], BlockTime] = {}
    cycles = instructions = 0
    busy = [0] * N
    longest = BlockTime(0, (0,) * N, 0)
    for first in range(0, blocks, cores):
        active = min(cores, blocks - first)
        slowest: BlockTime | None = None
        for block in range(first, first + active):
            which = (key(block), active)
            time = made.get(which)
            if time is None:
                time = made[which] = simulate(block, active)
            instructions += time.instructions
            if slowest is None or time.cycles > slowest.cycles:
                slowest = time
        assert slowest is not None
        cycles += slowest.cycles
        busy = [a + b for a, b in zip(busy, slowest.busy, strict=True)]
        if slowest.cycles > longest.cycles:
            longest = slowest
    return LaunchTime(blocks, -(-blocks // cores), cycles, tuple(busy), instructions, longest)


class Total:
    """Adds up launches by kernel."""

    def __init__(self) -> None:
        self.kernels: dict[str, KernelTimeline] = {}

    def add(self, kernel: str, region: str, core: str, launch: LaunchTime, times: int = 1) -> None:
        """`times` launches of a kernel."""
        before = self.kernels.get(kernel)
        busy = {pipe: cycles * times for pipe, cycles in by_pipe(launch.busy).items()}
        if before is not None:
            busy = {p: before.busy.get(p, 0) + busy.get(p, 0) for p in dict.fromkeys((*before.busy, *busy))}
        self.kernels[kernel] = KernelTimeline(
            kernel,
            region,
            core,
            times + (before.launches if before else 0),
            launch.blocks,
            launch.waves,
            launch.cycles * times + (before.cycles if before else 0),
            busy,
            launch.instructions * times + (before.instructions if before else 0),
            launch.longest.spans,
            launch.longest.again,
        )

    def timeline(
        self,
        program: str,
        target: Target,
        sizes: Mapping[str, int],
        sizes_from: SizesFrom,
        assumptions: tuple[str, ...] = (),
        complete: bool = True,
    ) -> Timeline:
        """The whole program."""
        kernels = tuple(self.kernels.values())
        busy: dict[str, int] = {}
        for kernel in kernels:
            for pipe, cycles in kernel.busy.items():
                busy[pipe] = busy.get(pipe, 0) + cycles
        return Timeline(
            program,
            target.name,
            target.costs.clock_mhz,
            sum(k.cycles for k in kernels),
            busy,
            kernels,
            dict(sizes),
            sizes_from,
            assumptions,
            complete,
        )
