"""Walks a program with numbers for the symbols that have one on the way, round by round of its loops.

Checks look for examples, or for all that may be, in this way: a `Walk` says which rounds it goes through, and whether
it leaves out what depends on values that are not known (what it finds is then certain) or takes all that may happen.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, TypeVar

from pypto_spec.ir.condition import holds
from pypto_spec.ir.expr import Index, Sym, add, evaluate, mul
from pypto_spec.ir.nodes import Branch, Condition, Control, For, Grid, If, Loop, Op, Region, Stmt

Values = Mapping[Sym, int]

_Body = TypeVar("_Body")


class Walk(ABC):
    """One way through programs. `most` bounds the statements it looks at, over everything it is used for."""

    certain: ClassVar[bool]
    """Leave out loops and branches that are not known; else go once through such a loop, its index without a value,
    and through both arms."""

    def __init__(self, most: int | None = None) -> None:
        self.left = most

    @abstractmethod
    def pick(self, numbers: range) -> Iterable[int] | None:
        """The values of a loop's index that are gone through; None: they count as not known."""

    def regions(self, body: Sequence[Control], values: Values) -> Iterator[tuple[Region, Values]]:
        """The regions, with the values of the indices around them."""
        for node in body:
            if isinstance(node, Region):
                yield node, values
            elif isinstance(node, Branch):
                for arm in self._arms(node.condition, node.then, node.other, values):
                    yield from self.regions(arm, values)
            elif isinstance(node, Loop):
                for known in self._rounds(node.index, (node.start, node.stop, node.step), values):
                    yield from self.regions(node.body, known)
            else:
                for known in self.blocks(node, values):
                    yield from self.regions(node.body, known)

    def blocks(self, grid: Grid, values: Values) -> Iterator[Values]:
        """The values in the blocks of a launch."""
        if grid.count == "auto":
            yield from () if self.certain else (values,)
            return
        if grid.kind == "spmd" and isinstance(grid.count, int):
            values = {**values, grid.blocks_symbol: grid.count}
        stop = add(grid.start, mul(grid.count, grid.step))
        found = self._rounds(grid.index, (grid.start, stop, grid.step), values)
        for index, count in grid.inner:
            found = (known for outer in list(found) for known in self._rounds(index, (0, count, 1), outer))
        yield from found

    def ops(self, body: Sequence[Stmt], values: Values) -> Iterator[tuple[Op, Values]]:
        """The ops of a region, with the values around them."""
        for stmt in body:
            if self.left is not None:
                self.left -= 1
                if self.left < 0:
                    return
            if isinstance(stmt, Op):
                yield stmt, values
            elif isinstance(stmt, If):
                for arm in self._arms(stmt.condition, stmt.then, stmt.other, values):
                    yield from self.ops(arm, values)
                values = _picked(stmt, values)
            elif isinstance(stmt, For) and not (self.certain and stmt.condition is not None):
                for known in self._rounds(stmt.index, (stmt.start, stmt.stop, stmt.step), values):
                    yield from self.ops(stmt.body, known)

    def _rounds(self, index: Sym, span: tuple[Index, Index, Index], values: Values) -> Iterator[Values]:
        try:
            picked = self.pick(range(*(evaluate(part, values) for part in span)))
        except KeyError:
            picked = None
        if picked is not None:
            for number in picked:
                yield {**values, index: number}
        elif not self.certain:
            yield values

    def _arms(self, condition: Condition, then: _Body, other: _Body, values: Values) -> tuple[_Body, ...]:
        try:
            return (then,) if holds(condition, values) else (other,)
        except KeyError:
            return () if self.certain else (then, other)


def _picked(branch: If, values: Values) -> Values:
    """The values behind an `if`, with those of the numbers that it picks where they are known."""
    if not branch.numbers:
        return values
    try:
        taken = holds(branch.condition, values)
        found = {n.result: evaluate(n.then if taken else n.other, values) for n in branch.numbers}
    except KeyError:
        return values
    return {**values, **found}
