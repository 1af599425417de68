"""What a memory map consists of: the JSON of `pypto-spec map` has the same names (`map.schema.json`).

Addresses and sizes are bytes, ranges are half open. A life is a pair of step numbers, both inclusive: a value begins
when its first step ends (it is a result), and ends when its last step has read it.
"""

from __future__ import annotations

from typing import Literal

from pypto_spec.records import dataclass

Range = tuple[int, int]
ValueKind = Literal["load", "computed", "view", "carried", "scratch"]


@dataclass(frozen=True, slots=True)
class Step:
    """One statement of a kernel, or the end of a loop or `if`; flags and barriers are left out.

    `lines` are the first and last line in the file that was given, `ir_lines` those in the program after the last pass
    as `pypto-spec lower` prints it.
    """

    number: int
    kind: Literal["op", "for", "while", "if", "end"]
    text: str
    depth: int
    lines: Range
    ir_lines: Range | None


@dataclass(frozen=True, slots=True)
class Resident:
    """A value, or the scratch of one statement, in a buffer.

    `ranges` has one entry for each slot it may stand in: more than one where the slot is known at run time only.
    `over` is the operand in whose place it is written, or that it is a view of. `stages` are pairs (pipeline group,
    copy), the innermost pipeline first.
    """

    name: str
    type: str
    kind: ValueKind
    bytes: int
    ranges: tuple[Range, ...]
    life: Range
    uses: tuple[int, ...]
    over: str | None
    stages: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class MappedBuffer:
    """A buffer: `bytes` are those of one slot."""

    name: str
    owner: Literal["author", "compiler"]
    address: int
    bytes: int
    slots: int
    life: Range
    line: int | None
    values: tuple[Resident, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two that share `bytes` during `life` and must not: values (with the buffers they are in), or whole buffers."""

    of: Literal["values", "buffers"]
    names: tuple[str, str]
    buffers: tuple[str, str]
    bytes: Range
    life: Range


@dataclass(frozen=True, slots=True)
class Peak:
    """The step at which the buffers in use have the most bytes."""

    bytes: int
    step: int
    line: int


@dataclass(frozen=True, slots=True)
class MappedMemory:
    """One on-chip memory of a kernel. `end` is the highest byte in use, `reserved` what lies behind `capacity`."""

    memory: str
    capacity: int
    reserved: int
    end: int
    peak: Peak
    buffers: tuple[MappedBuffer, ...]
    conflicts: tuple[Conflict, ...]


@dataclass(frozen=True, slots=True)
class MappedKernel:
    """One region with the memories it uses."""

    region: str
    kernel: str | None
    core: str | None
    steps: tuple[Step, ...]
    memories: tuple[MappedMemory, ...]


@dataclass(frozen=True, slots=True)
class MappedProgram:
    """One program: a spec, or one variant of it. `after` is the last pass that made decisions which are shown."""

    name: str
    variant: str | None
    platform: str
    planner: str
    after: str
    kernels: tuple[MappedKernel, ...]
