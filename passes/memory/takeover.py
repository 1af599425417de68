"""Ops that change an operand in place (`OpDef.reuses`): whose operand is still needed, so that it must be copied first.

An op may take over its operand's buffer where nothing reads what stands there after it: neither the operand, nor
another value that lives in the same buffer (what it is a view of, other views of that), nor a later round of a loop.
What the other arm of an `if` reads is not after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pypto_spec.ir.nodes import For, If, Op, Stmt, Value
from pypto_spec.passes.memory.no_copy import stays


class Takeovers:
    """The ops of one region that need a copy of the operand they reuse: `result in takeovers`."""

    def __init__(self, body: Sequence[Stmt]) -> None:
        self._read: dict[Value, list[int]] = {}
        self._root: dict[Value, Value] = {}
        self._members: dict[Value, list[Value]] = {}
        self._home: dict[Value, tuple[int, ...]] = {}  # loops around the definition of a root
        self._copied: dict[Value, Stmt | None] = {}
        self._number = 0
        self._readers: dict[int, Stmt] = {}
        self._arms: dict[If, tuple[int, int]] = {}  # from where to where the second one goes
        self._elsewhere: list[tuple[int, int]] = []  # the second arms where this is the first
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
                self._reads(stmt.then)
                self._number += 1
                self._note(stmt, (p.then for p in stmt.phis))
                start = self._number
                self._reads(stmt.other)
                self._number += 1
                self._note(stmt, (p.other for p in stmt.phis))
                self._arms[stmt] = start, self._number

    def _note(self, stmt: Stmt, values: Iterable[Value]) -> None:
        for value in values:
            self._read.setdefault(value, []).append(self._number)
            self._readers[self._number] = stmt

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
                self._elsewhere.append(self._arms[stmt])
                self._walk(stmt.then, loops)
                self._number += 1
                self._elsewhere.pop()
                self._walk(stmt.other, loops)
                self._number += 1
                for phi in stmt.phis:
                    self._define(phi.result, loops, phi.then if stays(phi, self._owner) else None)

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
        if any(self._after(v) for v in self._members[root]):
            return True
        others = [v for field, v in op.operands.items() if field != op.defn.reuses]
        return any(self._root.get(v) is root for v in others)

    def _later(self, source: Value) -> Stmt | None:
        """What reads the memory of a value behind the current statement."""
        members = self._members[self._root.get(source, source)]
        return next((self._readers[max(after)] for v in members if (after := self._after(v))), None)

    def _after(self, value: Value) -> list[int]:
        """Where a value is read behind the current statement."""
        return [
            n
            for n in self._read.get(value, ())
            if n > self._number and not any(low < n <= high for low, high in self._elsewhere)
        ]

    def _owner(self, value: Value) -> Value:
        return self._root.get(value, value)

    def _define(self, value: Value, loops: tuple[int, ...], source: Value | None = None) -> None:
        root = value if source is None else self._root.get(source, source)
        self._root[value] = root
        self._members.setdefault(root, []).append(value)
        self._home.setdefault(root, loops)
