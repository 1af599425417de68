"""Ops that change an operand in place (`OpDef.reuses`): whose operand is still needed, so that it must be copied first.

An op may take over its operand's buffer where nothing reads what stands there after it: neither the operand, nor
another value that lives in the same buffer (what it is a view of, other views of that), nor a later round of a loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pypto_spec.ir.nodes import For, If, Op, Stmt, Value


class Takeovers:
    """The ops of one region that need a copy of the operand they reuse: `result in takeovers`."""

    def __init__(self, body: Sequence[Stmt]) -> None:
        self._last: dict[Value, int] = {}
        self._root: dict[Value, Value] = {}
        self._members: dict[Value, list[Value]] = {}
        self._home: dict[Value, tuple[int, ...]] = {}  # loops around the definition of a root
        self._copied: dict[Value, Stmt | None] = {}
        self._number = 0
        self._readers: dict[Value, Stmt] = {}  # the last
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
                self._reads(stmt.other)
                self._number += 1
                self._note(stmt, (v for p in stmt.phis for v in (p.then, p.other)))

    def _note(self, stmt: Stmt, values: Iterable[Value]) -> None:
        for value in values:
            self._last[value], self._readers[value] = self._number, stmt

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
                self._walk(stmt.then, loops)
                self._walk(stmt.other, loops)
                self._number += 1
                for phi in stmt.phis:
                    self._define(phi.result, loops)

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
        if any(self._last.get(v, 0) > self._number for v in self._members[root]):
            return True
        others = [v for field, v in op.operands.items() if field != op.defn.reuses]
        return any(self._root.get(v) is root for v in others)

    def _later(self, source: Value) -> Stmt | None:
        """What reads the memory of a value behind the current statement."""
        members = self._members[self._root.get(source, source)]
        return next((self._readers[v] for v in members if self._last.get(v, 0) > self._number), None)

    def _define(self, value: Value, loops: tuple[int, ...], source: Value | None = None) -> None:
        root = value if source is None else self._root.get(source, source)
        self._root[value] = root
        self._members.setdefault(root, []).append(value)
        self._home.setdefault(root, loops)
