"""Taking the values of shared buffers apart: each set of values that must stand in one memory gets its own buffer.

What must: a view and what it looks at, what an op changes in place, the values that a loop carries or an `if` merges.
That is what InitMemRef and MaterializeSemanticAliases decided; only what MemoryReuse put together comes apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from pypto_spec.ir.nodes import Buffer, BufferRef, For, If, Op, Region, Stmt, Value
from pypto_spec.ir.rewrite import definitions, statements, with_parts
from pypto_spec.ir.types import TileType
from pypto_spec.passes.memory.buffers import BufferPool
from pypto_spec.passes.memory.lifetimes import scratch_bytes
from pypto_spec.passes.memory.rebuffer import Rebuffer
from pypto_spec.passes.memory.uses import base_of
from pypto_spec.records import dataclass


@dataclass(frozen=True, slots=True)
class Unshared:
    """A region with what stood in shared buffers taken apart; `place_of` says of each new buffer where it stood."""

    region: Region
    buffers: tuple[Buffer, ...]
    place_of: Mapping[str, str]


def unshare(region: Region, names: Set[str], pool: BufferPool, precision: str) -> Unshared:
    """Take apart what stands in the buffers `names`; `pool` names the new ones.

    A buffer of which all must stay together keeps its name and size.
    """
    groups = _Groups(names)
    groups.read(region.body)
    apart = _Apart(groups, pool, precision)
    made = apart.region(region)
    return Unshared(made, tuple(apart.made.values()), apart.place_of)


class _Groups:
    """Union-find over the values in some buffers."""

    def __init__(self, names: Set[str]) -> None:
        self.names = names
        self.parent: dict[Value, Value] = {}
        self.scratch: dict[str, int] = {}

    def read(self, body: Sequence[Stmt]) -> None:
        """Note all values, and which of them stand together."""
        self.parent.update((v, v) for v in definitions(body) if self.watched(v))
        for stmt in statements(body):
            if isinstance(stmt, Op):
                base = base_of(stmt)
                if base is not None:
                    self.join(stmt.result, base)
                for ref in stmt.scratch:
                    if ref.buffer in self.names:
                        self.scratch[ref.buffer] = self.scratch.get(ref.buffer, 0) + 1
            elif isinstance(stmt, For):
                inside = list(definitions(stmt.body))
                for carry in stmt.carries:
                    # What stands where a carried value does, in its loop, is a step on the way to the next one.
                    for value in (carry.init, carry.yielded, carry.result, *inside):
                        self.join(carry.arg, value)
            elif isinstance(stmt, If):
                for phi in stmt.phis:
                    self.join(phi.result, phi.then)
                    self.join(phi.result, phi.other)

    def watched(self, value: Value) -> bool:
        return value.buffer is not None and value.buffer.buffer in self.names and isinstance(value.type, TileType)

    def join(self, a: Value, b: Value) -> None:
        if a in self.parent and b in self.parent and a.buffer is not None and b.buffer is not None:
            first, second = self.root(a), self.root(b)
            if first is not second and a.buffer.buffer == b.buffer.buffer:
                self.parent[second] = first

    def root(self, value: Value) -> Value:
        while self.parent[value] is not value:
            self.parent[value] = self.parent[self.parent[value]]
            value = self.parent[value]
        return value


class _Apart(Rebuffer):
    """Gives every group of values, and every scratch area, a buffer of its own."""

    def __init__(self, groups: _Groups, pool: BufferPool, precision: str) -> None:
        super().__init__(self.chosen)
        self.groups, self.pool, self.precision = groups, pool, precision
        self.old = {b.name: b for b in pool.buffers}
        self.made: dict[str, Buffer] = {}
        self.place_of: dict[str, str] = {}
        self.home: dict[Value, str] = {}
        self.sizes: dict[Value, int] = {}
        many: dict[str, int] = dict(groups.scratch)
        for value in groups.parent:
            root, ref = groups.root(value), value.buffer
            assert ref is not None and isinstance(value.type, TileType)
            if isinstance(ref.offset, int):  # a view at a run-time offset ends inside what it looks at
                self.sizes[root] = max(self.sizes.get(root, 0), ref.offset + value.type.bytes)
            if root is value:
                many[ref.buffer] = many.get(ref.buffer, 0) + 1
        self.alone = {name for name, count in many.items() if count == 1}
        for name in self.old:
            if name in self.alone:
                self.made[name], self.place_of[name] = self.old[name], name

    def chosen(self, value: Value) -> BufferRef | None:
        ref = value.buffer
        if ref is None or value not in self.groups.parent or ref.buffer in self.alone:
            return ref
        root = self.groups.root(value)
        if root not in self.home:
            self.home[root] = self.fresh(ref.buffer, self.sizes[root])
        return replace(ref, buffer=self.home[root])

    def fresh(self, name: str, size: int) -> str:
        old = self.old[name]
        made = replace(old, name=self.pool.fresh(old.memory, size, old.loc).buffer, bytes=size)
        self.made[made.name], self.place_of[made.name] = made, name
        return made.name

    def op(self, op: Op) -> Sequence[Stmt]:
        (made,) = super().op(op)
        assert isinstance(made, Op)
        apart = [r.buffer in self.groups.names and r.buffer not in self.alone for r in op.scratch]
        if not any(apart):
            return (made,)
        needed = scratch_bytes(op, self.precision)
        whole = [self.old[ref.buffer].bytes or 0 for ref in op.scratch]  # of an edited dump, which says what it likes
        sizes = needed if len(needed) == len(op.scratch) else whole
        scratch = tuple(
            BufferRef(self.fresh(ref.buffer, size)) if split else ref
            for ref, split, size in zip(op.scratch, apart, sizes, strict=True)
        )
        return (with_parts(made, scratch=scratch),)
