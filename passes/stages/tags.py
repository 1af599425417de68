"""What says of a statement which copy of a pipeline's body it is, and taking that out when all is decided by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pypto_spec.ir.loops import trips
from pypto_spec.ir.nodes import For, Op, Program, Stmt
from pypto_spec.ir.rewrite import Rewriter, Substitution, ops, with_parts


class _Untag(Rewriter):
    def op(self, op: Op) -> Sequence[Stmt]:
        return (with_parts(op, stages=()) if op.stages else op,)

    def loop(self, loop: For) -> Sequence[Stmt]:
        if trips(loop) == 1 and not loop.numbers and any(op.stages for op in ops(loop.body)):
            return self.round(loop)
        (made,) = super().loop(loop)
        if isinstance(made, For) and (made.insist or made.l0c_double_buffer):
            made = replace(made, insist=frozenset(), l0c_double_buffer=False)
        return (made,)

    def round(self, loop: For) -> Sequence[Stmt]:
        """The copies of a pipeline that has one round of them: the loop was there so that they stay together."""
        fixed = Substitution({loop.index: loop.start})
        for carry in loop.carries:
            self.bind(carry.arg, self.use(carry.init))
        body = self.block(fixed.block(loop.body))
        for carry in loop.carries:
            self.bind(carry.result, self.use(fixed.use(carry.yielded)))
        return body


def without_tags(program: Program) -> Program:
    """The program without stages, and without what loops insist on and how they are ordered: nobody looks there."""
    return _Untag().program(program)
