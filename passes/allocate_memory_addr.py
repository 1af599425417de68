"""AllocateMemoryAddr: every buffer gets its byte address.

In each region and memory, buffers stand one behind the other in the order in which they were made, each on the
target's alignment, or on a coarser one where an op asks for it. Addresses that are already written are checked and
stay, and the others keep clear of them. Where a memory overflows like that, shared buffers are taken apart and placed
one by one, so that they overlap as their lives allow: by first fit, then by an exact search if it is installed. Where
that fails too, the error lists who is live at the peak, with bytes. Behind it nothing depends on a pipeline's stages
any more, and statements do not name them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from pypto_spec.ir.nodes import Buffer, Program, Region
from pypto_spec.ir.rewrite import Rewriter, regions
from pypto_spec.ir.types import Memory, round_up
from pypto_spec.passes.base import Context, Pass, Property
from pypto_spec.passes.memory.buffers import BufferPool
from pypto_spec.passes.memory.grids import grids, grids_of
from pypto_spec.passes.memory.ledger import overflow
from pypto_spec.passes.memory.lifetimes import Lifetimes
from pypto_spec.passes.memory.planners.pose import problem_of
from pypto_spec.passes.memory.planners.rescue import rescue
from pypto_spec.passes.memory.unshare import unshare
from pypto_spec.passes.memory.written import check_addresses
from pypto_spec.passes.stages.tags import without_tags
from pypto_spec.targets import Target


def total(buffer: Buffer) -> int:
    """Bytes of a buffer with all its slots."""
    assert buffer.bytes is not None, f"buffer {buffer.name} has no size"
    return buffer.bytes * buffer.slots


def place(buffers: list[Buffer], memory: Memory, target: Target, asked: Mapping[str, int]) -> tuple[list[Buffer], int]:
    """The buffers of one memory with their addresses, and the highest end address in bytes.

    `asked` are the buffers that start on a coarser grid than the memory's, each slot of them, and bytes of that grid.
    """
    fixed = sorted((b.address, b.address + total(b)) for b in buffers if b.address is not None)
    cursor = 0
    placed: list[Buffer] = []
    for buffer in buffers:
        if buffer.address is None:
            unit = max(target.address_alignment[memory], asked.get(buffer.name, 1))
            if buffer.slots > 1 and buffer.bytes is not None:
                buffer = replace(buffer, bytes=round_up(buffer.bytes, asked.get(buffer.name, 1)))
            cursor = round_up(cursor, unit)
            for low, high in fixed:
                if cursor < high and low < cursor + total(buffer):
                    cursor = round_up(high, unit)
            buffer = replace(buffer, address=cursor)
            cursor += total(buffer)
        placed.append(buffer)
    return placed, max((b.address + total(b) for b in placed if b.address is not None), default=0)


class _Allocation(Rewriter):
    """Goes through the regions; `buffers` are all of the program by name, those that have their place with it."""

    def __init__(self, program: Program, context: Context) -> None:
        super().__init__()
        self.context = context
        self.precision = program.target.precision
        self.pool = BufferPool(program)
        self.buffers = {b.name: b for b in program.buffers}
        self.asked = dict(grids(program))
        self.common(program)

    def common(self, program: Program) -> None:
        """Place the buffers of several regions, ahead of all others: they have one address everywhere."""
        uses = Counter(name for region in regions(program.body) for name in Lifetimes(region.body).of)
        shared = [b for b in program.buffers if uses[b.name] > 1]
        if all(b.address is not None for b in shared):
            return
        written = [b for b in program.buffers if b.address is not None and b not in shared]
        for memory in dict.fromkeys(b.memory for b in shared):
            here = [b for b in (*shared, *written) if b.memory is memory]
            self.buffers.update((b.name, b) for b in place(here, memory, self.context.target, self.asked)[0])

    def region(self, region: Region) -> Region:
        lives = Lifetimes(region.body)
        mine = [b for b in self.buffers.values() if b.name in lives.of]
        for memory in dict.fromkeys(b.memory for b in mine):
            here = [b for b in mine if b.memory is memory]
            placed, end = place(here, memory, self.context.target, self.asked)
            if end > self.context.target.capacity[memory]:
                region = self.pack(region, memory, here, end)
            else:
                self.buffers.update((b.name, b) for b in placed)
        return region

    def pack(self, region: Region, memory: Memory, here: Iterable[Buffer], end: int) -> Region:
        """The region with the buffers of a memory that overflows at `end` taken apart and placed, or the error."""
        names = {b.name for b in here if b.owner == "compiler" and b.address is None and b.slots == 1}
        apart = unshare(region, names, self.pool, self.precision)
        buffers = [b for b in here if b.name not in names] + list(apart.buffers)
        lives = Lifetimes(apart.region.body)
        asked = {**self.asked, **grids_of(apart.region)}
        problem = problem_of(lives, buffers, self.context.target, memory, asked)
        found = rescue(problem, search=not self.context.trial)
        if found.placement is None:
            overflow(apart.region, buffers, end, lives, found, self.context)
            return region
        for name in names:
            del self.buffers[name]
        self.buffers.update(found.placed(buffers))
        return apart.region


def run(program: Program, context: Context) -> Program:
    """Give every buffer in use its address; an overflow is an error with a ledger."""
    check_addresses(program, context)
    context.sink.stop_on_errors()
    allocation = _Allocation(program, context)
    made = without_tags(allocation.program(program))
    context.sink.stop_on_errors()
    buffers = tuple(allocation.buffers.values())
    return made if buffers == made.buffers else replace(made, buffers=buffers)


ALLOCATE_MEMORY_ADDR = Pass(
    name="AllocateMemoryAddr",
    run=run,
    requires=frozenset({Property.HAS_MEM_REFS}),
    produces=frozenset({Property.ALLOCATED_MEMORY_ADDR}),
    doc=__doc__,
)
