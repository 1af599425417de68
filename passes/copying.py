"""Copies of a block that share nothing with it: what UnrollLoops and LowerPipelineLoops write out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pypto_spec.ir.expr import Index, Sym, sym
from pypto_spec.ir.naming import Names
from pypto_spec.ir.nodes import For, If, NumberCarry, NumberPhi, Op, Stmt, Value
from pypto_spec.ir.rewrite import Substitution, local_symbols, with_parts


class Copy(Substitution):
    """One copy of a block: statements, values and symbols are new; `symbols` of the original become indices.

    Before ConvertToSSA values keep their names, which are bound again; with `versions` each gets a name of its own.
    """

    def __init__(
        self, symbols: Mapping[Sym, Index], body: Sequence[Stmt], names: Names, *, versions: bool = False
    ) -> None:
        self.names = names
        self.versions = versions
        self.fresh = {s: Sym(self._name(s), s.kind, s.low, s.high, s.multiple) for s in local_symbols(body)}
        super().__init__({**symbols, **{old: sym(new) for old, new in self.fresh.items()}})

    def _name(self, symbol: Sym) -> str:
        return self.names.fresh(symbol.name) if symbol.kind == "local" else symbol.name

    def define(self, value: Value) -> Value:
        made = super().define(value)
        name = self.names.fresh(value.name) if self.versions else value.name
        return self.bind(value, Value(name, made.type, made.buffer))

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
