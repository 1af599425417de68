"""UnrollLoops: an `unroll` becomes its iterations, one after the other, with the index as a constant in each.

It decides nothing: names that the body binds again go from one copy to the next as if they were written so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pypto_spec.diagnostics.model import CompileError, diagnose
from pypto_spec.diagnostics.rules.flow import UNROLL_COUNT
from pypto_spec.ir.expr import Index, Sym, sym
from pypto_spec.ir.naming import Names
from pypto_spec.ir.nodes import For, If, NumberCarry, NumberPhi, Op, Program, Region, Stmt, Value
from pypto_spec.ir.rewrite import Rewriter, Substitution, local_symbols, statements, with_parts
from pypto_spec.passes.base import Context, Pass, Property

MOST_STATEMENTS = 20_000
"""Statements of a region after unrolling; a kernel of more is no longer something a person reads or a core fetches."""


class _Copy(Substitution):
    """A copy of an iteration that shares nothing with the others: statements, values and symbols are new."""

    def __init__(self, symbols: Mapping[Sym, Index], body: Sequence[Stmt], names: Names) -> None:
        self.fresh = {s: Sym(self._name(s, names), s.kind, s.low, s.high, s.multiple) for s in local_symbols(body)}
        super().__init__({**symbols, **{old: sym(new) for old, new in self.fresh.items()}})

    @staticmethod
    def _name(symbol: Sym, names: Names) -> str:
        return names.fresh(symbol.name) if symbol.kind == "local" else symbol.name

    def define(self, value: Value) -> Value:
        made = super().define(value)
        return made if made is not value else self.bind(value, Value(value.name, value.type, value.buffer))

    def op(self, op: Op) -> Sequence[Stmt]:
        made = super().op(op)
        return made if made[0] is not op else (with_parts(op),)

    def stmt(self, node: Stmt) -> Sequence[Stmt]:
        made = super().stmt(node)
        return made if made[0] is not node else (replace(node),)

    def loop(self, loop: For) -> Sequence[Stmt]:
        (made,) = super().loop(loop)
        assert isinstance(made, For)
        numbers = tuple(NumberCarry(self.fresh[n.arg], n.init, n.yielded, self.fresh[n.result]) for n in made.numbers)
        return (replace(made, index=self.fresh[loop.index], numbers=numbers),)

    def branch(self, branch: If) -> Sequence[Stmt]:
        (made,) = super().branch(branch)
        assert isinstance(made, If)
        return (replace(made, numbers=tuple(NumberPhi(self.fresh[n.result], n.then, n.other) for n in made.numbers)),)


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
            copy = _Copy({loop.index: number, **values}, loop.body, self.names)
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
