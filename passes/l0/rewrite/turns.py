"""Pipelines of the author's in which two accumulators can take turns.

In each round one product of an operand that stays in L0 and one that comes in, and one statement that takes its result
away: with two accumulators it does so while the next product is summed up. That pays where rounds are many, and where
a drain is long enough, and needs room for one accumulator more than L0C holds at its worst.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from pypto_spec.ir.loops import trips
from pypto_spec.ir.nodes import For, Op, Region, Stmt, TargetOptions
from pypto_spec.ir.rewrite import Rewriter, definitions, ops
from pypto_spec.ir.types import Memory, TileType, round_up
from pypto_spec.passes.l0.problem import opens_double
from pypto_spec.passes.l0.rewrite.sinks import can_be_cut
from pypto_spec.passes.l0.rewrite.uses import Readers
from pypto_spec.passes.stages.room import live_bytes
from pypto_spec.targets.model import Target

LEAST_TO_GM = 4
"""Rounds from which on it pays to store while the next product is summed up."""
LEAST_TO_MAT = 8
"""Rounds from which on it pays where results go to `mat`, with accumulators of at least a quarter of L0C."""

_IN_L0 = (Memory.LEFT, Memory.RIGHT)


def mark_turns(region: Region, target: Target, options: TargetOptions) -> Region:
    """The region with such loops marked; under `ptoas` loads rotate through slots, and bodies are not copied."""
    if options.planner != "pypto" or not opens_double(options.planner, options.l0c_double_buffer):
        return region
    return _Marker(region, target).region(region)


class _Marker(Rewriter):
    def __init__(self, region: Region, target: Target) -> None:
        super().__init__()
        self.readers = Readers(region.body)
        self.capacity = target.capacity[Memory.ACC]
        self.grid = target.address_alignment[Memory.ACC]
        self.taken = live_bytes(region.body, frozenset()).get(Memory.ACC, 0)
        """Bytes of L0C at the worst statement, with an accumulator more for each loop marked so far."""

    def loop(self, loop: For) -> Sequence[Stmt]:
        (made,) = super().loop(loop)
        size = self.turns(loop)
        if not size or loop.l0c_double_buffer or self.taken + size > self.capacity:
            return (made,)
        self.taken += size
        return (replace(cast(For, made), l0c_double_buffer=True),)

    def turns(self, loop: For) -> int:
        """The bytes of the accumulator where two of them can take turns in a loop; 0 where they cannot."""
        count = trips(loop)
        if loop.kind != "pipeline" or loop.stages < 2 or count is None or count % loop.stages or loop.carries:
            return 0
        products = [op for op in ops(loop.body) if op.defn.role == "matmul"]
        if len(products) != 1 or products[0].name != "matmul" or products[0] not in loop.body:
            return 0
        (product,) = products
        if not self._one_stays(loop, product):
            return 0
        drain = self.readers.only(product.result)
        if drain is None or drain not in loop.body or not self.readers.follows(product, drain):
            return 0
        kind = product.result.type
        assert isinstance(kind, TileType)
        size = round_up(kind.bytes, self.grid)
        return size if self._pays(drain, count, size) else 0

    def _one_stays(self, loop: For, product: Op) -> bool:
        """Whether one operand stands in L0 from before the loop, and the other one comes in each round."""
        inside = set(definitions(loop.body))
        sides = [product.operands[name] for name in ("lhs", "rhs")]
        moving = [v for v in sides if v in inside]
        if len(moving) != 1:
            return False
        (kept,) = (v for v in sides if v not in inside)
        kind = kept.type
        assert isinstance(kind, TileType)
        return kind.memory in _IN_L0

    def _pays(self, drain: Op, count: int, size: int) -> bool:
        if drain.name == "store":
            return count >= LEAST_TO_GM and can_be_cut(drain)
        to_mat = drain.name == "assemble" or (drain.name == "move" and drain.attrs.get("memory") is Memory.MAT)
        return to_mat and count >= LEAST_TO_MAT and size >= -(-self.capacity // 4)
