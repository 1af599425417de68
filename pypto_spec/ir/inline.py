"""Putting the bodies of called functions in the place of the calls, with names of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pypto_spec.ir.naming import Names
from pypto_spec.ir.nodes import Call, Op, Program, Region, Stmt, Value
from pypto_spec.ir.opdef import OpDef
from pypto_spec.ir.rewrite import Rewriter, definitions, statements, with_parts
from pypto_spec.ir.types import ArrayType, TileType


class Inliner(Rewriter):
    """Inlines the calls of one region; `fresh` gives a new version of a name."""

    def __init__(self, fresh: Callable[[str], str], same: OpDef) -> None:
        super().__init__()
        self.fresh = fresh
        self.same = same

    def stmt(self, node: Stmt) -> Sequence[Stmt]:
        return self.call(node) if isinstance(node, Call) else super().stmt(node)

    def call(self, call: Call) -> list[Stmt]:
        """The statements of a call."""
        renamed = {name: self.fresh(name) for name in dict.fromkeys(v.name for v in definitions(call.body))}
        made: list[Stmt] = []
        given: dict[str, Value] = {}
        for name, value in call.params.items():
            actual = self.use(value)
            if name in renamed:
                own = Value(renamed[name], actual.type)
                made.append(self._same(actual, own, call))
                given[name] = own
            else:
                given[name] = actual
        inside = _Renamed(renamed, given, self)
        made += inside.block(call.body)
        values = self._kept([inside.named(returned) for returned in call.returned], call, made)
        made += [self._same(value, result, call) for value, result in zip(values, call.results, strict=True)]
        return made

    def _kept(self, values: Sequence[Value], call: Call, made: list[Stmt]) -> list[Value]:
        """The returned values; an argument that goes back gets another name where an earlier result takes its own."""
        kept: list[Value] = []
        for place, value in enumerate(values):
            if any(value.name == result.name for result in call.results[:place]):
                own = Value(self.fresh(value.name), value.type)
                made.append(self._same(value, own, call))
                value = own
            kept.append(value)
        return kept

    def _same(self, value: Value, into: Value, call: Call) -> Op:
        kind = value.type
        assert isinstance(kind, TileType | ArrayType)
        return Op(defn=self.same, operands={"x": value}, attrs={"shape": kind.shape}, results=(into,), loc=call.loc)


class _Renamed(Rewriter):
    """A body with the names it binds replaced, and its parameters by the caller's values."""

    def __init__(self, names: dict[str, str], given: dict[str, Value], outer: Inliner) -> None:
        super().__init__()
        self.names = names
        self.given = given
        self.outer = outer

    def named(self, value: Value) -> Value:
        """A value under its name behind the call."""
        known = self.values.get(value)
        if known is not None:
            return known
        name = self.names.get(value.name)
        if name is not None:
            return self.bind(value, replace(value, name=name))
        return self.given.get(value.name, value) if isinstance(value.type, TileType | ArrayType) else value

    def use(self, value: Value) -> Value:
        return self.named(value)

    def operands(self, op: Op) -> Op:
        return with_parts(op, operands={field: self.named(v) for field, v in op.operands.items()})

    def op(self, op: Op) -> Sequence[Stmt]:
        return (with_parts(op, results=tuple(map(self.named, op.results))),)

    def stmt(self, node: Stmt) -> Sequence[Stmt]:
        if isinstance(node, Call):
            params = {name: self.named(value) for name, value in node.params.items()}
            results = tuple(map(self.named, node.results))
            return self.outer.call(replace(node, params=params, results=results))
        return super().stmt(node)


class _Regions(Rewriter):
    def __init__(self, same: OpDef) -> None:
        super().__init__()
        self.same = same

    def region(self, region: Region) -> Region:
        if not any(isinstance(s, Call) for s in statements(region.body)):
            return region
        return replace(region, body=Inliner(Names.of(region).fresh, self.same).block(region.body))


def inlined(program: Program, same: OpDef) -> Program:
    """The program with every function in the place of its calls; `same` is `reshape`, which copies nothing."""
    return _Regions(same).program(program)
