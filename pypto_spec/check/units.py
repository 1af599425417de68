"""The unit flags of a region: that every Mmad and Fixpipe which waits for some gets them.

There is a flag for each 512 B of L0C. With unit flag 2 or 3 an Mmad waits until those of its accumulator are down, and
a Fixpipe until they are up; 3 turns them over. So behind the last Mmad of an accumulator comes its Fixpipe, before the
next Mmad, and at the end of the region all are down. This goes through a region as it runs: loops round by round up to
a bound, and where it is not known how often a loop runs or which arm is taken, flags must stand afterwards as before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pypto_spec.check.report import Reporter
from pypto_spec.ir.condition import holds
from pypto_spec.ir.expr import Index, Sym, add, evaluate
from pypto_spec.ir.instr import Effect, Region
from pypto_spec.ir.loops import trips
from pypto_spec.ir.nodes import For, If, Op, Stmt

UNIT_BYTES = 512
"""Bytes of L0C that share a flag."""
MOST_ROUNDS = 256
"""Rounds of a loop that are gone through one by one."""
FEW_ROUNDS = 8
"""Rounds of a loop that runs longer, or as often as a run-time value says."""

Up = dict[int, Op]
"""The flags that are up, by the Mmad that raised them."""
Values = Mapping[Sym, int]
Locate = Callable[[Op, str], tuple[str, Index]]


class Units:
    """Goes through one region. `effects` are those of the ops with unit flags."""

    def __init__(self, effects: Mapping[Op, Sequence[Effect]], locate: Locate, out: Reporter) -> None:
        self.effects = effects
        self.locate = locate
        self.out = out
        self.told: set[Op] = set()

    def run(self, body: Sequence[Stmt]) -> None:
        """The whole region; stops at the first thing that cannot be decided."""
        up: Up = {}
        if self.block(body, up, {}):
            for op in dict.fromkeys(up.values()):
                self.out.units_left(op)

    def block(self, body: Sequence[Stmt], up: Up, values: Values) -> bool:
        """Run statements; `up` is changed in place. False where something cannot be decided."""
        for stmt in body:
            if isinstance(stmt, Op):
                if stmt in self.effects and not all(self.step(stmt, e, up, values) for e in self.effects[stmt]):
                    return False
            elif isinstance(stmt, For | If) and self.concerns(stmt):
                done = self.loop(stmt, up, values) if isinstance(stmt, For) else self.branch(stmt, up, values)
                if not done:
                    return False
        return True

    def concerns(self, stmt: Stmt) -> bool:
        """Whether anything in a statement has unit flags."""
        if isinstance(stmt, For):
            return any(map(self.concerns, stmt.body))
        if isinstance(stmt, If):
            return any(map(self.concerns, (*stmt.then, *stmt.other)))
        return isinstance(stmt, Op) and stmt in self.effects

    def step(self, op: Op, effect: Effect, up: Up, values: Values) -> bool:
        try:
            flag = evaluate(effect.unit, values)
            units = {u for r in effect.regions if r.ordered for u in self.units(op, r, values)}
        except KeyError:
            what = f"which accumulator `{op.name}` has, or whether it is its last matmul, is known at run time only"
            self.out.undecided(op.loc, what, "leave `phase` out, here and on the store")
            return False
        if effect.pipe == "fix":
            if not units <= up.keys() and op not in self.told:
                self.told.add(op)
                self.out.units_down(op)
            if flag == 3:
                for unit in units:
                    up.pop(unit, None)
            return True
        busy = sorted(units & up.keys())
        if busy and op not in self.told:
            self.told.add(op)
            self.out.units_up(op, up[busy[0]])
        up.update(dict.fromkeys(units, op) if flag == 3 else {})
        return True

    def units(self, op: Op, region: Region, values: Values) -> set[int]:
        """The flags of the bytes an instruction touches in L0C."""
        _, start = self.locate(op, region.operand)
        places = [evaluate(add(start, region.base), values)]
        for count, stride in region.steps:
            places = [p + k * stride for p in places for k in range(count)]
        return {u for p in places for u in range(p // UNIT_BYTES, (p + region.width - 1) // UNIT_BYTES + 1)}

    def branch(self, branch: If, up: Up, values: Values) -> bool:
        try:
            return self.block(branch.then if holds(branch.condition, values) else branch.other, up, values)
        except KeyError:
            other = dict(up)
            if not self.block(branch.then, up, values) or not self.block(branch.other, other, values):
                return False
            return self.same(branch, up, other)

    def loop(self, loop: For, up: Up, values: Values) -> bool:
        count = trips(loop) if loop.condition is None else None
        whole = count is not None and count <= MOST_ROUNDS
        for number in range(count if count is not None and whole else FEW_ROUNDS):
            before = dict(up)
            known = {**values}
            try:
                known[loop.index] = evaluate(loop.start, values) + number * evaluate(loop.step, values)
            except KeyError:
                known.pop(loop.index, None)
            if not self.block(loop.body, up, known) or not (whole or self.same(loop, up, before)):
                return False
        return True

    def same(self, stmt: For | If, up: Up, other: Up) -> bool:
        """Whether two states are alike; it is told where they are not."""
        if up.keys() == other.keys():
            return True
        what = "a round of a loop" if isinstance(stmt, For) else "an arm of an `if`"
        self.out.undecided(
            stmt.loc,
            f"{what} leaves unit flags up or down that stood otherwise before, and how often it runs is not known",
            "let the last matmul of an accumulator and its store stand in the same block",
        )
        return False
