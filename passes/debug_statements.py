"""Debug statements that nobody asked for: gone before the first pass, so that the kernel does not know of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pypto_spec.diagnostics.rules.names import UNUSED_VALUE
from pypto_spec.ir.nodes import Op, Program, Region, Stmt
from pypto_spec.ir.rewrite import Rewriter, ops, regions


def without_debug(program: Program) -> Program:
    """The program as it was read, without `debug`. What only they show is no unused value: no warning names it."""
    if not any(op.defn.effects == "shows" for region in regions(program.body) for op in ops(region.body)):
        return program
    return _Stripper().program(program)


class _Stripper(Rewriter):
    """Operands are found by name: ConvertToSSA has not run."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: set[str] = set()

    def region(self, region: Region) -> Region:
        self.shown = {v.name for op in ops(region.body) if op.defn.effects == "shows" for v in op.operands.values()}
        before = -1
        while before != len(self.shown):
            before = len(self.shown)
            for op in ops(region.body):
                if any(r.name in self.shown for r in op.results):
                    self.shown.update(v.name for v in op.operands.values())
        return super().region(region)

    def op(self, op: Op) -> Sequence[Stmt]:
        if op.defn.effects == "shows":
            return ()
        if any(r.name in self.shown for r in op.results):
            return (replace(op, allow=op.allow | {UNUSED_VALUE.code}),)
        return (op,)
