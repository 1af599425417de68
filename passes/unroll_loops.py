"""UnrollLoops: an `unroll` becomes its iterations, one after the other, with the index as a constant in each.

It decides nothing: names that the body binds again go from one copy to the next as if they were written so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pypto_spec.diagnostics.model import CompileError, Repair, diagnose
from pypto_spec.diagnostics.rules.flow import UNROLL_COUNT
from pypto_spec.ir.expr import Index
from pypto_spec.ir.naming import Names
from pypto_spec.ir.nodes import For, Program, Region, Stmt
from pypto_spec.ir.rewrite import Rewriter, Substitution, statements
from pypto_spec.passes.base import Context, Pass, Property
from pypto_spec.passes.copying import Copy

MOST_STATEMENTS = 20_000
"""Statements of a region after unrolling; a kernel of more is no longer something a person reads or a core fetches."""


class _Unroller(Substitution):
    """Unrolls the loops of one region; numbers that a loop gave are put in place behind it."""

    def __init__(self, region: Region) -> None:
        super().__init__({})
        self.names = Names.of(region)
        self.made = 0

    def index(self, index: Index) -> Index:
        return super().index(index) if self.symbols else index

    def loop(self, loop: For) -> Sequence[Stmt]:
        if loop.kind != "unroll":
            return super().loop(loop)
        assert isinstance(loop.start, int) and isinstance(loop.stop, int) and isinstance(loop.step, int)
        values = {n.arg: self.index(n.init) for n in loop.numbers}
        statements_each = max(1, sum(1 for _ in statements(loop.body)))
        found: list[Stmt] = []
        for number in range(loop.start, loop.stop, loop.step):
            self.made += statements_each
            if self.made > MOST_STATEMENTS:
                raise _too_many(loop)
            copy = Copy({loop.index: number, **values}, loop.body, self.names)
            body = copy.block(loop.body)
            values = {n.arg: copy.index(n.yielded) for n in loop.numbers}
            found += self.block(body)
        self.symbols = {**self.symbols, **{n.result: self.index(values[n.arg]) for n in loop.numbers}}
        return found


def _too_many(loop: For) -> CompileError:
    return CompileError(
        [
            diagnose(
                UNROLL_COUNT,
                loop.loc.span,
                f"unrolling makes more than {MOST_STATEMENTS} statements of this region",
                label="unrolled here",
                helps=["write `for` in place of `unroll`, or unroll the innermost loop only"],
                fixes=[Repair("rename", loop.loc.span, ("unroll",), "for", title="write `for` in place of `unroll`")],
            )
        ]
    )


class _Regions(Rewriter):
    def region(self, region: Region) -> Region:
        if not any(isinstance(s, For) and s.kind == "unroll" for s in statements(region.body)):
            return region
        return replace(region, body=_Unroller(region).block(region.body))


def run(program: Program, context: Context) -> Program:
    """Unroll what is marked in every region."""
    return _Regions().program(program)


UNROLL_LOOPS = Pass(
    name="UnrollLoops",
    run=run,
    requires=frozenset({Property.INLINE_FUNCTIONS_ELIMINATED}),
    produces=frozenset({Property.UNROLL_RESOLVED}),
    doc=__doc__,
)
