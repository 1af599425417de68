"""Which core an operator runs on: the cube core (`aic`) or the vector core (`aiv`).

The memories and pipes of an AI core belong to one of the two (Ascend C guide, separated architecture; hardware rules):
the cube has Mat, Left, Right, Acc and Bias with the pipes MTE1, M and FIX, the vector core has Vec with the pipe V.
MTE2, MTE3 and the scalar unit exist on both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from pypto_spec.ir.nodes import Buffer, Op, Pipe, Stmt
from pypto_spec.ir.rewrite import ops
from pypto_spec.ir.types import Memory, TileType

Core = Literal["aiv", "aic"]

PIPES: Mapping[Pipe, Core] = {"v": "aiv", "m": "aic", "mte1": "aic", "fix": "aic"}
"""Pipes that one core only has."""

MEMORIES: Mapping[Memory, Core] = {
    Memory.VEC: "aiv",
    Memory.MAT: "aic",
    Memory.LEFT: "aic",
    Memory.RIGHT: "aic",
    Memory.ACC: "aic",
    Memory.BIAS: "aic",
}

NAMES: Mapping[Core, str] = {"aiv": "the vector core (`aiv`)", "aic": "the cube core (`aic`)"}
"""How messages call the cores."""


def cores_of(op: Op, buffers: Mapping[str, Buffer]) -> frozenset[Core]:
    """The cores that an op certainly needs; none where it may run on either.

    Asked before memories are inferred: a tile's memory counts where it is one of the cube's, or was written, because a
    tile in Vec may only be there by default. An op that exists for several memories, or only looks at a tile in another
    way, says nothing by its pipe.
    """
    found: set[Core] = set()
    for value in (*op.operands.values(), *op.results):
        kind = value.type
        if isinstance(kind, TileType) and kind.memory is not None and MEMORIES[kind.memory] == "aic":
            found.add("aic")
        buffer = buffers.get(value.buffer.buffer) if value.buffer is not None else None
        if buffer is not None and value in op.results:
            found.add(MEMORIES[buffer.memory])
    found.update(MEMORIES[attr] for attr in op.attrs.values() if isinstance(attr, Memory) and attr in MEMORIES)
    return frozenset(found.union(_by_pipe(op)))


def _by_pipe(op: Op) -> Iterator[Core]:
    core = PIPES.get(op.defn.pipe)
    memories = {memory for spaces in op.defn.spaces.values() for memory in spaces}
    several = len({MEMORIES[memory] for memory in memories if memory in MEMORIES}) > 1
    if core is not None and op.defn.role != "view" and not (core == "aiv" and several):
        yield core


def first_on(core: Core, body: Sequence[Stmt], buffers: Mapping[str, Buffer]) -> Op | None:
    """The first op of a body that needs a core."""
    return next((op for op in ops(body) if core in cores_of(op, buffers)), None)
