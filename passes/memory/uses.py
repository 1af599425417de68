"""Who reads what when: the values that statements read, and whether the start of a loop is needed again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pypto_spec.ir.nodes import For, If, Op, Stmt, Value
from pypto_spec.ir.rewrite import statements


def reads(stmt: Stmt) -> list[Value]:
    """Values a statement reads, at whatever depth."""
    return [v for inner in statements((stmt,)) for v in (*entering(inner), *leaving(inner))]


def entering(stmt: Stmt) -> Iterable[Value]:
    """What a statement reads before any statement in it."""
    if isinstance(stmt, Op):
        return stmt.operands.values()
    return [c.init for c in stmt.carries] if isinstance(stmt, For) else ()


def leaving(stmt: Stmt) -> Iterable[Value]:
    """What a statement reads behind the statements in it."""
    if isinstance(stmt, For):
        return [c.yielded for c in stmt.carries]
    return [v for p in stmt.phis for v in (p.then, p.other)] if isinstance(stmt, If) else ()


def base_of(op: Op) -> Value | None:
    """The operand in whose memory the op's result stands, where it has none of its own."""
    if op.defn.role == "view":
        return next(iter(op.operands.values()))
    return None if op.defn.reuses is None else op.operands[op.defn.reuses]


class Uses:
    """Whose memory is read when, in one region: by position in the text, views counted as what they look at."""

    def __init__(self, body: Sequence[Stmt]) -> None:
        self.base: dict[Value, Value] = {}
        self.last: dict[Value, int] = {}
        self.inside: dict[Value, tuple[For, ...]] = {}
        self.entered: dict[For, tuple[int, tuple[For, ...]]] = {}
        self.clock = 0
        self._walk(body, ())

    def _walk(self, body: Sequence[Stmt], loops: tuple[For, ...]) -> None:
        for stmt in body:
            self._read(entering(stmt))
            inner = loops
            if isinstance(stmt, Op):
                base = base_of(stmt)
                for value in stmt.results:
                    self.inside[value] = loops
                    if base is not None:
                        self.base[value] = self.owner(base)
            elif isinstance(stmt, For):
                self.entered[stmt] = (self.clock, loops)
                inner = (*loops, stmt)
                for carry in stmt.carries:
                    self.inside[carry.arg], self.inside[carry.result] = inner, loops
                self._walk(stmt.body, inner)
            elif isinstance(stmt, If):
                self._walk(stmt.then, loops)
                self._walk(stmt.other, loops)
                for phi in stmt.phis:
                    self.inside[phi.result] = loops
                    if self.owner(phi.then) is self.owner(phi.other):
                        self.base[phi.result] = self.owner(phi.then)
            self._read(leaving(stmt))

    def _read(self, values: Iterable[Value]) -> None:
        self.clock += 1
        for value in values:
            self.last[self.owner(value)] = self.clock

    def owner(self, value: Value) -> Value:
        """The value in whose memory a view stands."""
        return self.base.get(value, value)

    def needed(self, value: Value, loop: For) -> bool:
        """Whether what a loop starts from is read again: behind its head, or when a loop around it comes round."""
        owner = self.owner(value)
        clock, around = self.entered[loop]
        return self.last.get(owner, 0) > clock or self.inside.get(owner, ()) != around
