"""Who makes and who reads each value of a region, and what stands between two statements."""

from __future__ import annotations

from collections.abc import Sequence, Set

from pypto_spec.ir.nodes import For, If, Op, Stmt, Value
from pypto_spec.ir.rewrite import statements
from pypto_spec.passes.memory.uses import entering, leaving

Block = tuple[Stmt, ...]


class Readers:
    """The ops that make values, the statements that read them, and the block and place of each op."""

    def __init__(self, body: Block) -> None:
        self.makers: dict[Value, Op] = {}
        self.loops: dict[Value, For] = {}
        """The loop whose result a value is."""
        self._readers: dict[Value, list[Stmt]] = {}
        self._places: dict[Stmt, tuple[Block, int]] = {}
        for node in statements(body):
            for value in (*entering(node), *leaving(node)):
                self._readers.setdefault(value, []).append(node)
            if isinstance(node, Op):
                self.makers.update(dict.fromkeys(node.results, node))
            elif isinstance(node, For):
                self.loops.update((c.result, node) for c in node.carries)
        self._index(body)

    def _index(self, body: Block) -> None:
        for number, node in enumerate(body):
            self._places[node] = body, number
            if isinstance(node, For):
                self._index(node.body)
            elif isinstance(node, If):
                self._index(node.then)
                self._index(node.other)

    def of(self, value: Value) -> Sequence[Stmt]:
        """The statements that read a value, one as often as it reads it."""
        return self._readers.get(value, ())

    def only(self, value: Value) -> Op | None:
        """The op that alone reads a value, once."""
        found = self.of(value)
        return found[0] if len(found) == 1 and isinstance(found[0], Op) else None

    def follows(self, first: Stmt, then: Stmt, among: Set[Stmt] = frozenset()) -> bool:
        """Whether one statement stands behind another in its block, with nothing but loads and tiles between them.

        Those `among` which the first one is do not count.
        """
        block, start = self._places[first]
        other, end = self._places[then]
        between = (s for s in block[start + 1 : end] if s not in among)
        return block is other and start < end and all(map(_is_quiet, between))


def _is_quiet(stmt: Stmt) -> bool:
    """Whether a matmul may pass a statement: a load, a view, or an op that only makes a tile."""
    return isinstance(stmt, Op) and stmt.defn.effects in ("pure", "reads_gm")
