"""The shape of a region for the allocation of event ids: positions, blocks, and what stands in which arm."""

from __future__ import annotations

from collections.abc import Mapping

from pypto_spec.ir.nodes import For, If, Stmt
from pypto_spec.passes.sync.model import Anchor, Edge

Chain = tuple[tuple[int, int], ...]
"""Blocks, outermost first; an arm of an `if` is one."""


class Shape:
    """Where statements and flags stand in one region; `order` numbers its statements."""

    def __init__(self, body: tuple[Stmt, ...], order: Mapping[Stmt, int]) -> None:
        self.order = order
        self.ends: dict[Stmt, int] = {}
        self.loops: dict[Stmt, tuple[For, ...]] = {}
        self.blocks: dict[Stmt, tuple[int, int]] = {}
        self.holders: dict[tuple[int, int], Stmt] = {}
        self._shape(body, (), (0, 0))

    def _shape(self, body: tuple[Stmt, ...], loops: tuple[For, ...], block: tuple[int, int]) -> int:
        """For each statement: the number of the last one inside it, the loops around it, and its block."""
        last = -1
        for stmt in body:
            self.loops[stmt] = loops
            self.blocks[stmt] = block
            last = self.order[stmt]
            if isinstance(stmt, For):
                self.holders[id(stmt), 0] = stmt
                last = max(last, self._shape(stmt.body, (*loops, stmt), (id(stmt), 0)))
            elif isinstance(stmt, If):
                self.holders[id(stmt), 0] = self.holders[id(stmt), 1] = stmt
                last = max(last, self._shape(stmt.then, loops, (id(stmt), 0)))
                last = max(last, self._shape(stmt.other, loops, (id(stmt), 1)))
            self.ends[stmt] = last
        return last

    def _position(self, anchor: Anchor) -> int:
        """A number that grows along the program; behind the last statement of a loop comes what is behind the loop."""
        size, order = len(self.order) + 1, self.order[anchor.stmt]
        return (self.ends[anchor.stmt] + 1) * size - 1 - order if anchor.after else order * size

    def _interval(self, edge: Edge) -> tuple[int, int]:
        """First set and last wait of a flag in statement order."""
        if edge.home is not None:
            return self._position(Anchor(edge.home, False)), self._position(Anchor(edge.home, True))
        return self._position(edge.set_at), self._position(edge.wait_at)

    def _around(self, edge: Edge) -> tuple[For, ...]:
        return self.loops[edge.home if edge.home is not None else edge.set_at.stmt]

    def _arms(self, edge: Edge) -> Chain:
        """The blocks around a flag, outermost first; an arm of an `if` is one."""
        return tuple(reversed(self._chain(edge.home if edge.home is not None else edge.set_at.stmt)))

    def _never_both(self, first: Edge, second: Edge) -> bool:
        """Whether two flags stand in different arms of an `if` that no loop repeats."""
        for a, b in zip(self._arms(first), self._arms(second), strict=False):
            if a != b:
                holder = self.holders[a]
                return a[0] == b[0] and isinstance(holder, If) and not self.loops[holder]
        return False

    def _holder(self, stmt: Stmt, block: tuple[int, int]) -> Stmt:
        """The statement of that block that holds `stmt`."""
        while self.blocks[stmt] != block:
            stmt = self.holders[self.blocks[stmt]]
        return stmt

    def _chain(self, stmt: Stmt) -> list[tuple[int, int]]:
        """The blocks around a statement, innermost first."""
        found = [self.blocks[stmt]]
        while found[-1] != (0, 0):
            found.append(self.blocks[self.holders[found[-1]]])
        return found

    def _common(self, first: Stmt, second: Stmt) -> tuple[int, int]:
        """The innermost block that holds both."""
        around = set(self._chain(second))
        return next(block for block in self._chain(first) if block in around)
