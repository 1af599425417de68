"""Changing the buffers that values and scratch live in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pypto_spec.ir.nodes import BufferRef, For, If, Op, Phi, Stmt, Value
from pypto_spec.ir.rewrite import Rewriter, with_parts

Choose = Callable[[Value], BufferRef | None]


class Rebuffer(Rewriter):
    """Gives every tile value the buffer that `choose` says, and every scratch reference what `scratch` says."""

    def __init__(self, choose: Choose, scratch: Callable[[BufferRef], BufferRef] = lambda ref: ref) -> None:
        super().__init__()
        self.choose = choose
        self.scratch = scratch

    def _renew(self, value: Value) -> Value:
        """The value with its buffer; the same object each time it is asked for."""
        found = self.values.get(value)
        if found is not None:
            return found
        chosen = self.choose(value)
        new = value if chosen == value.buffer else Value(value.name, value.type, chosen)
        self.values[value] = new
        return new

    def op(self, op: Op) -> Sequence[Stmt]:
        results = tuple(self._renew(v) for v in op.results)
        scratch = tuple(self.scratch(s) for s in op.scratch)
        if all(a is b for a, b in zip(results, op.results, strict=True)) and scratch == op.scratch:
            return (op,)
        return (with_parts(op, results=results, scratch=scratch),)

    def loop(self, loop: For) -> Sequence[Stmt]:
        for carry in loop.carries:
            self._renew(carry.arg)
            self._renew(carry.result)
        return super().loop(loop)

    def phi(self, phi: Phi) -> Phi:
        self._renew(phi.result)
        return super().phi(phi)

    def branch(self, branch: If) -> Sequence[Stmt]:
        return super().branch(branch)
