"""CtrlFlowTransform: `break` and `continue` become conditions, so that every block has one way in and one way out.

What stands behind an `if` whose one arm leaves moves into the other arm. Where both may go on, a number says whether
the iteration does, and guards the rest. A `break` also sets a number that the loop carries and tests before each
iteration. Numbers that the loop carries meet here; values do so in ConvertToSSA.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pypto_spec.diagnostics.model import Repair
from pypto_spec.diagnostics.rules.flow import UNREACHABLE
from pypto_spec.ir.expr import Index, Sym, bounds, sym
from pypto_spec.ir.jumps import jumps, leaves
from pypto_spec.ir.naming import Names, split
from pypto_spec.ir.nodes import Condition, For, If, Jump, NumberCarry, NumberPhi, Program, Region, Stmt
from pypto_spec.ir.rewrite import Rewriter, Substitution, statements
from pypto_spec.passes.base import Context, Pass, Property

Exit = tuple[Index, ...]
"""At the end of a stretch of statements: the loop's numbers, whether it broke, whether control goes on behind the
stretch (all 0 or 1), and what the stretch gives to what follows if it does."""


@dataclass(slots=True)
class _Lowering:
    """One loop being lowered."""

    loop: For
    names: Names
    context: Context

    def run(self) -> For:
        loop = self.loop
        ends: Exit = (*(n.yielded for n in loop.numbers), 0, 0)
        body, left = self.block(loop.body, ends)
        count = len(loop.numbers)
        numbers = [NumberCarry(n.arg, n.init, left[k], n.result) for k, n in enumerate(loop.numbers)]
        condition = loop.condition
        if left[count] != 0:
            flag, behind = self._bit("done"), self._bit("done")
            numbers.append(NumberCarry(flag, 0, left[count], behind))
            going = Condition("==", sym(flag), 0)
            condition = going if condition is None else Condition("and", going, condition)
        return replace(loop, body=tuple(body), numbers=tuple(numbers), condition=condition)

    def _bit(self, name: str) -> Sym:
        return Sym(self.names.fresh(name), "local", 0, 1)

    def block(self, body: Sequence[Stmt], end: Exit) -> tuple[list[Stmt], Exit]:
        """Lower a stretch of statements whose end gives `end`."""
        count = len(self.loop.numbers)
        for place, stmt in enumerate(body):
            rest = body[place + 1 :]
            if isinstance(stmt, Jump):
                self._unreachable(stmt, rest)
                left: Exit = (*stmt.numbers, int(stmt.kind == "break"), 0, *(0 for _ in end[count + 2 :]))
                return list(body[:place]), left
            if isinstance(stmt, If) and (jumps(stmt.then) or jumps(stmt.other)):
                made, left = self.branch(stmt, rest, end)
                return [*body[:place], *made], left
        return list(body), end

    def branch(self, stmt: If, rest: Sequence[Stmt], end: Exit) -> tuple[list[Stmt], Exit]:
        """Lower an `if` with jumps, and what stands behind it."""
        first, second = leaves(stmt.then), leaves(stmt.other)
        if not first and not second:
            return self._guarded(stmt, rest, end)
        if first and second and rest:
            self._unreachable(rest[0], rest)
        then, other = list(stmt.then), list(stmt.other)
        one = two = end
        if first is not second:
            picked = {n.result: n.other if first else n.then for n in stmt.numbers}
            inside = Substitution(picked)
            moved = inside.block(tuple(rest))
            if first:
                other += moved
                two = inside.indices(end)
            else:
                then += moved
                one = inside.indices(end)
        then, one = self.block(then, one)
        other, two = self.block(other, two)
        numbers, left = self._meet(one, two)
        return [replace(stmt, then=tuple(then), other=tuple(other), numbers=tuple(numbers))], left

    def _guarded(self, stmt: If, rest: Sequence[Stmt], end: Exit) -> tuple[list[Stmt], Exit]:
        """An `if` after which control may go on from both arms, or from none."""
        loop = self.loop
        count = len(loop.numbers)
        idle: Exit = (*(sym(n.arg) for n in loop.numbers), 0, 1)
        then, one = self.block(stmt.then, (*idle, *(n.then for n in stmt.numbers)))
        other, two = self.block(stmt.other, (*idle, *(n.other for n in stmt.numbers)))
        given = count + 2
        numbers, met = self._meet(one[:given], two[:given])
        numbers += [NumberPhi(n.result, one[given + k], two[given + k]) for k, n in enumerate(stmt.numbers)]
        head = replace(stmt, then=tuple(then), other=tuple(other), numbers=tuple(numbers))
        inner, last = self.block(rest, end)
        skipped = (*met[: count + 1], 0, *(0 for _ in end[given:]))
        more, left = self._meet(last, skipped)
        going = Condition("==", met[count + 1], 1)
        return [head, If(condition=going, then=tuple(inner), other=(), loc=stmt.loc, numbers=tuple(more))], left

    def _meet(self, one: Exit, two: Exit) -> tuple[list[NumberPhi], Exit]:
        """What two arms give, as numbers of the `if` where they differ."""
        names = [split(n.arg.name)[0] for n in self.loop.numbers]
        names += ["done", "going"]
        numbers: list[NumberPhi] = []
        left: list[Index] = []
        for place, (a, b) in enumerate(zip(one, two, strict=True)):
            if a == b:
                left.append(a)
                continue
            low, high = bounds(a)
            other_low, other_high = bounds(b)
            symbol = Sym(
                self.names.fresh(names[place] if place < len(names) else "given"),
                "local",
                None if low is None or other_low is None else min(low, other_low),
                None if high is None or other_high is None else max(high, other_high),
            )
            numbers.append(NumberPhi(symbol, a, b))
            left.append(sym(symbol))
        return numbers, tuple(left)

    def _unreachable(self, jump: Stmt, rest: Sequence[Stmt]) -> None:
        if not rest:
            return
        self.context.sink.report(
            UNREACHABLE,
            rest[0].loc.span,
            "control never comes to this statement",
            label="left out of the kernel",
            helps=["remove it, or put the `break` or `continue` before it under an `if`"],
            fixes=[Repair("remove", rest[0].loc.span, safe=True, title="remove the statement")],
        )


class _Loops(Rewriter):
    """Lowers loops from the inside out."""

    def __init__(self, region: Region, context: Context) -> None:
        super().__init__()
        self.names = Names.of(region)
        self.context = context

    def loop(self, loop: For) -> Sequence[Stmt]:
        (made,) = super().loop(loop)
        assert isinstance(made, For)
        return (_Lowering(made, self.names, self.context).run() if jumps(made.body) else made,)


class _Regions(Rewriter):
    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context

    def region(self, region: Region) -> Region:
        if not any(isinstance(s, Jump) for s in statements(region.body)):
            return region
        return replace(region, body=_Loops(region, self.context).block(region.body))


def run(program: Program, context: Context) -> Program:
    """Lower the jumps of every region."""
    return _Regions(context).program(program)


CTRL_FLOW_TRANSFORM = Pass(
    name="CtrlFlowTransform",
    run=run,
    requires=frozenset({Property.UNROLL_RESOLVED}),
    produces=frozenset({Property.STRUCTURED_CTRL_FLOW}),
    doc=__doc__,
)
