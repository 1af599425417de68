"""The modelled timeline of a run of the host model: the instructions it recorded, with the cycles of the cost table."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from pypto_spec.report.timeline.events import BARRIER, RUN, SET, WAIT, Event, pipe_number, tile
from pypto_spec.report.timeline.launches import BlockTime, Total, block_time, in_waves
from pypto_spec.report.timeline.machine import Machine
from pypto_spec.report.timeline.model import SizesFrom, Timeline
from pypto_spec.targets.cycles import cycles
from pypto_spec.targets.model import Target


class Recorded(Protocol):
    """One dispatched call, as the host model records it."""

    @property
    def block(self) -> int:
        """The block that dispatched it."""

    @property
    def pipe(self) -> str:
        """Where it runs, sets a flag, or waits."""

    @property
    def name(self) -> str:
        """The call."""

    @property
    def line(self) -> int:
        """The kernel's line."""

    @property
    def bytes(self) -> int:
        """Bytes of the call."""

    @property
    def repeats(self) -> int:
        """Repeats, or rows of a copy."""

    @property
    def flag(self) -> int:
        """The flag of a set or wait; where an accumulator with unit flags begins, or -1."""


class LaunchRecords(NamedTuple):
    """One launch of a run; `lines` leads from the kernel's lines to the spec's.

    `readers` gives for a number of cores that run at once how many of them have bytes of their own to load, by the
    kernel's line; lines that are not there are those of all cores.
    """

    kernel: str
    region: str
    core: str
    blocks: int
    records: Sequence[Recorded]
    lines: Mapping[int, int]
    readers: Callable[[int], Mapping[int, int]] = lambda active: {}


_SYNC = {"SetFlag": SET, "WaitFlag": WAIT, "PipeBarrier": BARRIER}


def events_of(
    records: Iterable[Recorded],
    target: Target,
    active: int,
    lines: Mapping[int, int] | None = None,
    readers: Mapping[int, int] | None = None,
) -> list[Event]:
    """The events of one block's records, `active` cores running at once, of which some find their bytes in L2."""
    own = readers or {}
    costs = target.costs
    fixed = {SET: costs.set_flag, WAIT: costs.wait_flag, BARRIER: costs.barrier}
    made = []
    for record in records:
        kind = _SYNC.get(record.name, RUN)
        taken = fixed.get(kind)
        pipe = record.pipe.lower()
        if taken is None:
            taken = cycles(
                target, pipe, record.name, bytes=record.bytes, repeats=record.repeats, active=active,
                readers=own.get(record.line),
            )  # fmt: skip
        flag: Hashable = record.flag if kind in (SET, WAIT) else None
        if kind == RUN and record.flag >= 0:
            flag = tile(record.flag)
        line = record.line if lines is None else lines.get(record.line, 0)
        made.append(Event(kind, pipe_number(pipe), taken, flag, record.name, line))
    return made


def recorded(
    program: str,
    target: Target,
    launches: Iterable[LaunchRecords],
    sizes: Mapping[str, int],
    sizes_from: SizesFrom,
    *,
    spans: bool = False,
) -> Timeline:
    """The modelled timeline of a run, launch by launch. Raises StuckError for a run that ended in a deadlock."""
    total = Total()
    for launch in launches:
        by_block: dict[int, list[Recorded]] = {}
        for record in launch.records:
            by_block.setdefault(record.block, []).append(record)

        def simulate(
            block: int,
            active: int,
            by_block: Mapping[int, list[Recorded]] = by_block,
            launch: LaunchRecords = launch,
        ) -> BlockTime:
            machine = Machine(target.costs, keep_spans=spans)
            found = events_of(by_block.get(block, ()), target, active, launch.lines, launch.readers(active))
            machine.feed(found)
            return block_time(machine)

        time = in_waves(launch.blocks, target.cores(launch.core), lambda block: block, simulate)
        total.add(launch.kernel, launch.region, launch.core, time)
    return total.timeline(program, target, sizes, sizes_from)
