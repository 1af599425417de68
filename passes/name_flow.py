"""Which names a stretch of statements reads before it binds them, binds for certain, and binds at all.

This is liveness by name, before values have names of their own; ConvertToSSA asks it which names a loop must carry and
an `if` must merge. Everything is computed once per loop and `if`, bottom-up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pypto_spec.ir.nodes import For, If, Op, Stmt, Value
from pypto_spec.ir.types import ScalarType, TensorType
from pypto_spec.records import dataclass


def is_argument(value: Value) -> bool:
    """Whether a value is an argument of the program; those are never rebound and need no versions."""
    return isinstance(value.type, TensorType | ScalarType)


@dataclass(frozen=True, slots=True)
class Flow:
    """What a statement or block does with names: `reads` first, `kills` for certain, `writes` perhaps (in order)."""

    reads: frozenset[str]
    kills: frozenset[str]
    writes: tuple[str, ...]


class NameFlow:
    """Flows of the loops and ifs of one region."""

    def __init__(self, body: Sequence[Stmt]) -> None:
        self._flows: dict[int, Flow] = {}
        self.bodies: dict[int, Flow] = {}
        self._block(body, ())

    def of(self, node: For | If) -> Flow:
        """The flow of a loop or `if` seen from outside."""
        return self._flows[id(node)]

    def body(self, loop: For) -> Flow:
        """The flow of one iteration of a loop."""
        return self.bodies[id(loop)]

    def apply(self, node: Stmt, live: set[str]) -> None:
        """Turn the names live after a statement into those live before it."""
        if isinstance(node, Op):
            for result in node.results:
                live.discard(result.name)
            live.update(v.name for v in node.operands.values() if not is_argument(v))
        elif isinstance(node, For | If):
            flow = self.of(node)
            live -= flow.kills
            live |= flow.reads

    def _block(self, body: Sequence[Stmt], tail: Iterable[str]) -> Flow:
        live = set(tail)
        kills: set[str] = set()
        writes: dict[str, None] = {}
        for node in body:
            if isinstance(node, For):
                self._loop(node)
            elif isinstance(node, If):
                self._branch(node)
        for node in reversed(body):
            if isinstance(node, Op):
                for result in node.results:
                    live.discard(result.name)
                    kills.add(result.name)
                live.update(v.name for v in node.operands.values() if not is_argument(v))
            elif isinstance(node, For | If):
                flow = self.of(node)
                live -= flow.kills
                live |= flow.reads
                kills |= flow.kills
        for node in body:
            if isinstance(node, Op):
                writes.update((r.name, None) for r in node.results)
            elif isinstance(node, For | If):
                writes.update((name, None) for name in self.of(node).writes)
        return Flow(frozenset(live), frozenset(kills), tuple(writes))

    def _loop(self, loop: For) -> None:
        inner = self._block(loop.body, (c.yielded.name for c in loop.carries))
        arguments = {c.arg.name for c in loop.carries}
        self.bodies[id(loop)] = Flow(inner.reads - arguments, inner.kills, inner.writes)
        results = [c.result.name for c in loop.carries]
        writes = dict.fromkeys([n for n in inner.writes if n not in arguments] + results)
        reads = (inner.reads - arguments) | {c.init.name for c in loop.carries}
        self._flows[id(loop)] = Flow(reads, frozenset(results), tuple(writes))

    def _branch(self, branch: If) -> None:
        then = self._block(branch.then, (p.then.name for p in branch.phis))
        other = self._block(branch.other, (p.other.name for p in branch.phis))
        results = [p.result.name for p in branch.phis]
        self._flows[id(branch)] = Flow(
            then.reads | other.reads,
            (then.kills & other.kills) | frozenset(results),
            tuple(dict.fromkeys([*then.writes, *other.writes, *results])),
        )
