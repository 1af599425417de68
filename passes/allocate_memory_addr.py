"""AllocateMemoryAddr: every buffer gets its byte address.

In each region and memory, buffers stand one behind the other in the order in which they were made, each on the
target's alignment, or on a coarser one where an op asks for it. Addresses that are already written are checked and
stay, and the others keep clear of them. If a memory overflows, the error lists who is live at the peak, with bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pypto_spec.ir.nodes import Buffer, Program, Region
from pypto_spec.ir.rewrite import regions
from pypto_spec.ir.types import Memory, round_up
from pypto_spec.passes.base import Context, Pass, Property
from pypto_spec.passes.memory.grids import grids
from pypto_spec.passes.memory.ledger import overflow
from pypto_spec.passes.memory.lifetimes import Lifetimes
from pypto_spec.passes.memory.written import check_addresses
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


def _region(region: Region, program: Program, asked: Mapping[str, int], context: Context) -> dict[str, Buffer]:
    lives = Lifetimes(region.body)
    placed: dict[str, Buffer] = {}
    mine = [b for b in program.buffers if b.name in lives.of]
    for memory in dict.fromkeys(b.memory for b in mine):
        here, end = place([b for b in mine if b.memory is memory], memory, context.target, asked)
        if end > context.target.capacity[memory]:
            overflow(region, memory, here, end, lives, context)
        placed.update((b.name, b) for b in here)
    return placed


def run(program: Program, context: Context) -> Program:
    """Give every buffer in use its address; an overflow is an error with a ledger."""
    asked = grids(program)
    check_addresses(program, context)
    context.sink.stop_on_errors()
    placed: dict[str, Buffer] = {}
    for region in regions(program.body):
        placed.update(_region(region, program, asked, context))
    context.sink.stop_on_errors()
    buffers = tuple(placed.get(b.name, b) for b in program.buffers)
    return program if buffers == program.buffers else replace(program, buffers=buffers)


ALLOCATE_MEMORY_ADDR = Pass(
    name="AllocateMemoryAddr",
    run=run,
    requires=frozenset({Property.HAS_MEM_REFS}),
    produces=frozenset({Property.ALLOCATED_MEMORY_ADDR}),
    doc=__doc__,
)
