"""The pipeline groups of a region, as MemoryReuse sees them: which stages' buffers are to be kept apart.

A group is the copies of one pipeline's body. In each memory it asks for as many buffers as it has stages there. With
fewer (`depth`), stage number `k` (counted among the stages that are there) takes the place of number `k mod depth`;
with one, the stages are no reason any more to keep buffers apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from pypto_spec.ir.nodes import Buffer, For, If, Op, Stage, Stmt
from pypto_spec.ir.opdef import issue_pipe
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


OPERANDS = frozenset({Memory.MAT, Memory.LEFT, Memory.RIGHT, Memory.BIAS})
"""Where operands of the cube stand on their way to it."""


def stages_apart(op: Op) -> tuple[Stage, ...]:
    """The copies that an op is in, of all pipelines whose copies of what it makes have buffers of their own.

    Operands of the cube are brought to L1 and L0 by the innermost pipeline around them, in turn through as many buffers
    as it has stages. The copies of a pipeline outside go on in these: the next one's first operand comes in as soon as
    one of them is free, and buffers of its own would be empty most of the time.
    """
    if any(isinstance(v.type, TileType) and v.type.memory in OPERANDS for v in op.results):
        return op.stages[:1]
    return op.stages


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
    """The groups of one region, and the stages that each of its buffers belongs to.

    A buffer that one pipe alone works on (what stays between two vector instructions, scratch) is `local`: its stages
    are in order anyway, so that two of them may share a place, and it counts for no depth. It stays apart from what
    other pipes move for other stages.
    """

    def __init__(
        self, body: Sequence[Stmt], lives: Lifetimes, buffers: Mapping[str, Buffer], grid: Mapping[Memory, int]
    ) -> None:
        self.of: dict[Key, Group] = {}
        self.stages: dict[str, dict[int, frozenset[int]]] = {}
        """By buffer: its stages in each group; several of what goes from copy to copy, or is shared already."""
        self.local: set[str] = set()
        makers, pipes = _touched(body)
        found: dict[Key, set[int]] = {}
        for life in lives.of.values():
            buffer = buffers[life.buffer]
            mine: dict[int, set[int]] = {}
            for op in makers.get(life.buffer, ()) if buffer.owner == "compiler" else ():
                for number, stage in stages_apart(op):
                    mine.setdefault(number, set()).add(stage)
            if not mine:
                continue
            self.stages[life.buffer] = {number: frozenset(stages) for number, stages in mine.items()}
            if len(pipes[life.buffer]) == 1:
                self.local.add(life.buffer)
                continue
            for number, stages in mine.items():
                if len(stages) > 1:
                    continue
                key = (buffer.memory, number)
                group = self.of.setdefault(key, Group(*key))
                group.first = group.first or life.first
                size = round_up(buffer.bytes or 0, grid[buffer.memory])
                if size > group.slot:
                    group.slot, group.widest = size, life.first
                found.setdefault(key, set()).update(stages)
        for key, stages in found.items():
            self.of[key].ordinals = {stage: ordinal for ordinal, stage in enumerate(sorted(stages))}

    def sharing(self, buffer: Buffer, depths: Mapping[Key, int]) -> dict[int, frozenset[int]]:
        """The stages of each group that may stand in a buffer; two with no stage of a group in common stay apart."""
        found: dict[int, frozenset[int]] = {}
        for number, stages in self.stages.get(buffer.name, {}).items():
            key = (buffer.memory, number)
            depth = depths.get(key, 1)
            if len(stages) > 1:
                found[number] = stages
            elif depth > 1:
                ordinals = self.of[key].ordinals
                (stage,) = stages
                if stage in ordinals:
                    found[number] = frozenset(s for s, n in ordinals.items() if (n - ordinals[stage]) % depth == 0)
        return found


def _touched(body: Sequence[Stmt]) -> tuple[dict[str, list[Op]], dict[str, set[str]]]:
    """By buffer: the ops of stages that write it, and the pipes that work on it."""
    makers: dict[str, list[Op]] = {}
    pipes: dict[str, set[str]] = {}
    for op in ops(body):
        if op.defn.role == "view":
            continue
        written = [*(v.buffer for v in op.results), *op.scratch]
        for ref in (*written, *(v.buffer for v in op.operands.values())):
            if ref is not None:
                pipes.setdefault(ref.buffer, set()).add(issue_pipe(op))
        for ref in written if op.stages and keeps_stages_apart(op) else ():
            if ref is not None:
                makers.setdefault(ref.buffer, []).append(op)
    return makers, pipes


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
