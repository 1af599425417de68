"""What stands above a drawing."""

from __future__ import annotations

from pypto_spec.report.map.drawing import amount
from pypto_spec.report.map.model import MappedKernel, MappedMemory, MappedProgram


def program_name(program: MappedProgram) -> str:
    """The program, with its variant where it is one."""
    return program.name if program.variant is None else f"{program.name} [{program.variant}]"


def title(program: MappedProgram, kernel: MappedKernel, memory: MappedMemory, *, several: bool) -> str:
    """Which memory of which kernel, of which program where there are `several`."""
    where = f"{kernel.region}: {memory.memory}"
    return f"{program_name(program)}, {where}" if several else where


def share(count: int, capacity: int) -> str:
    """Per cent of a capacity."""
    return f"{100 * count / capacity:.1f} %"


def summary(memory: MappedMemory) -> str:
    """How full a memory is, in one line."""
    text = (
        f"{memory.end:,} of {amount(memory.capacity)} ({share(memory.end, memory.capacity)}), "
        f"at most {amount(memory.peak.bytes)} in use at once (line {memory.peak.line})"
    )
    count = len(memory.conflicts)
    return text + (f", {count} conflict{'s' * (count != 1)}" if count else "")
