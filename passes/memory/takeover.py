"""Ops that change an operand in place (`OpDef.reuses`): whose operand is still needed, so that it must be copied first.

An op may take over its operand's buffer where nothing reads what stands there after it: neither the operand, nor
another value that lives in the same buffer (what it is a view of, other views of that), nor a later round of a loop.
The arms of an `if` exclude each other: what one reads is not read after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pypto_spec.ir.nodes import For, If, Op, Stmt, Value

Arms = tuple[tuple[If, bool], ...]
"""The arms around a statement, from the outside in: of which `if`, and whether it is `then`."""


class _Read(NamedTuple):
    """A statement that reads a value, when, and in which arms."""

    number: int
    arms: Arms
    stmt: Stmt


class Takeovers:
    """The ops of one region that need a copy of the operand they reuse: `result in takeovers`."""

    def __init__(self, body: Sequence[Stmt]) -> None:
        self._found: dict[Value, list[_Read]] = {}
        self._root: dict[Value, Value] = {}
        self._members: dict[Value, list[Value]] = {}
        self._home: dict[Value, tuple[int, ...]] = {}  # loops around the definition of a root
        self._copied: dict[Value, Stmt | None] = {}
        self._number = 0
        self._arms: Arms = ()
        self._reads(body)
        self._number = 0
        self._walk(body, ())

    def __contains__(self, result: Value) -> bool:
        return result in self._copied

    def reader(self, result: Value) -> Stmt | None:
        """The statement behind the op that reads its operand as it was; None where a later round of a loop does."""
        return self._copied[result]

    def _reads(self, body: Sequence[Stmt]) -> None:
        for stmt in body:
            self._number += 1
            if isinstance(stmt, Op):
                self._note(stmt, stmt.operands.values())
            elif isinstance(stmt, For):
                self._note(stmt, (c.init for c in stmt.carries))
                self._reads(stmt.body)
                self._number += 1
                self._note(stmt, (c.yielded for c in stmt.carries))
            elif isinstance(stmt, If):
                outside = self._arms
                for first in (True, False):
                    self._arms = (*outside, (stmt, first))
                    self._reads(stmt.then if first else stmt.other)
                    self._number += 1
                    self._note(stmt, (p.then if first else p.other for p in stmt.phis))
                self._arms = outside

    def _note(self, stmt: Stmt, values: Iterable[Value]) -> None:
        for value in values:
            self._found.setdefault(value, []).append(_Read(self._number, self._arms, stmt))

    def _walk(self, body: Sequence[Stmt], loops: tuple[int, ...]) -> None:
        for stmt in body:
            self._number += 1
            if isinstance(stmt, Op):
                self._op(stmt, loops)
            elif isinstance(stmt, For):
                inside = (*loops, self._number)
                for carry in stmt.carries:
                    self._define(carry.arg, inside)
                self._walk(stmt.body, inside)
                self._number += 1
                for carry in stmt.carries:
                    self._define(carry.result, loops)
            elif isinstance(stmt, If):
                outside = self._arms
                for first in (True, False):
                    self._arms = (*outside, (stmt, first))
                    self._walk(stmt.then if first else stmt.other, loops)
                    self._number += 1
                self._arms = outside
                for phi in stmt.phis:
                    one, two = self._root.get(phi.then, phi.then), self._root.get(phi.other, phi.other)
                    self._define(phi.result, loops, phi.then if one is two else None)

    def _op(self, op: Op, loops: tuple[int, ...]) -> None:
        source: Value | None = None
        if op.defn.role == "view":
            source = next(iter(op.operands.values()))
        elif op.defn.reuses is not None:
            source = op.operands[op.defn.reuses]
            if self._needed(op, source, loops):
                self._copied[op.result] = self._later(source)
                source = None
        for result in op.results:
            self._define(result, loops, source)

    def _needed(self, op: Op, source: Value, loops: tuple[int, ...]) -> bool:
        root = self._root.get(source, source)
        if self._home.get(root) != loops:
            return True
        if self._later(source) is not None:
            return True
        others = [v for field, v in op.operands.items() if field != op.defn.reuses]
        return any(self._root.get(v) is root for v in others)

    def _later(self, source: Value) -> Stmt | None:
        """What reads the memory of a value behind the current statement."""
        members = self._members[self._root.get(source, source)]
        later = (
            read
            for value in members
            for read in reversed(self._found.get(value, ()))
            if read.number > self._number and not _exclude(read.arms, self._arms)
        )
        found = next(later, None)
        return None if found is None else found.stmt

    def _define(self, value: Value, loops: tuple[int, ...], source: Value | None = None) -> None:
        root = value if source is None else self._root.get(source, source)
        self._root[value] = root
        self._members.setdefault(root, []).append(value)
        self._home.setdefault(root, loops)


def _exclude(one: Arms, other: Arms) -> bool:
    """Whether two places stand in different arms of one `if`."""
    return any(a is b and first != second for a, first in one for b, second in other)
