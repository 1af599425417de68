"""The pipeline groups of a region, as MemoryReuse sees them: which stages' buffers are to be kept apart.

A group is the copies of one pipeline's body. In each memory it asks for as many buffers as it has stages there. With
fewer (`depth`), stage number `k` (counted among the stages that are there) takes the place of number `k mod depth`;
with one, the stages are no reason any more to keep buffers apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from pypto_spec.ir.nodes import Buffer, For, If, Op, Stmt
from pypto_spec.ir.rewrite import ops
from pypto_spec.ir.types import Memory, TileType, round_up
from pypto_spec.passes.memory.lifetimes import Lifetimes
from pypto_spec.records import dataclass

Key = tuple[Memory, int]
"""A group in one memory."""


def keeps_stages_apart(op: Op) -> bool:
    """Whether the copies of what an op makes have buffers of their own.

    An accumulator of the cube stays one buffer through all of them: it is drained once, behind the loop.
    """
    return not any(isinstance(v.type, TileType) and v.type.memory is Memory.ACC for v in op.results)


@dataclass(slots=True)
class Group:
    """A group in one memory: the ordinals of its stages and the bytes of its largest buffer, on the memory's grid."""

    memory: Memory
    number: int
    slot: int = 0
    ordinals: dict[int, int] = field(default_factory=dict)
    first: Op | None = None
    widest: Op | None = None
    """The first op that makes a value in the largest buffer."""

    @property
    def requested(self) -> int:
        """Buffers it asks for."""
        return len(self.ordinals)


class Groups:
    """The groups of one region, and the stages that each of its buffers belongs to."""

    def __init__(
        self, body: Sequence[Stmt], lives: Lifetimes, buffers: Mapping[str, Buffer], grid: Mapping[Memory, int]
    ) -> None:
        makers = {value: op for op in ops(body) if op.stages and keeps_stages_apart(op) for value in op.results}
        self.of: dict[Key, Group] = {}
        self.stages: dict[str, dict[int, int]] = {}
        """By buffer: its stage in each group. What lives through several stages of a group has none there."""
        found: dict[Key, set[int]] = {}
        for life in lives.of.values():
            buffer = buffers[life.buffer]
            if buffer.owner != "compiler":
                continue
            mine: dict[int, int] = {}
            mixed: set[int] = set()
            for op in (makers[v] for v in life.values if v in makers):
                for number, stage in op.stages:
                    if mine.setdefault(number, stage) != stage:
                        mixed.add(number)
            mine = {g: s for g, s in mine.items() if g not in mixed}
            if not mine:
                continue
            self.stages[life.buffer] = mine
            for number, stage in mine.items():
                key = (buffer.memory, number)
                group = self.of.setdefault(key, Group(*key))
                group.first = group.first or life.first
                size = round_up(buffer.bytes or 0, grid[buffer.memory])
                if size > group.slot:
                    group.slot, group.widest = size, life.first
                found.setdefault(key, set()).add(stage)
        for key, stages in found.items():
            self.of[key].ordinals = {stage: ordinal for ordinal, stage in enumerate(sorted(stages))}

    def residues(self, buffer: Buffer, depths: Mapping[Key, int]) -> dict[int, int]:
        """The place of a buffer among those of its groups; two with different places in one group stay apart."""
        found: dict[int, int] = {}
        for number, stage in self.stages.get(buffer.name, {}).items():
            depth = depths.get((buffer.memory, number), 1)
            if depth > 1:
                found[number] = self.of[buffer.memory, number].ordinals[stage] % depth
        return found


def loop_of(body: Sequence[Stmt], group: int) -> For | None:
    """The loop whose body holds the copies of a group; None where only what was left of the trips is there."""
    for node in body:
        inner = (node.body,) if isinstance(node, For) else (node.then, node.other) if isinstance(node, If) else ()
        for block in inner:
            found = loop_of(block, group)
            if found is not None:
                return found
        if isinstance(node, For) and len({s for op in ops(node.body) for g, s in op.stages if g == group}) > 1:
            return node
    return None
