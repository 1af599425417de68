"""The checker's findings in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pypto_spec.check.model import Execute, Touch
from pypto_spec.diagnostics.model import Label, Repair, Rule, Sink
from pypto_spec.diagnostics.rules.sync import (
    FLAG_ID,
    FLAG_KIND,
    FLAG_LEFT_SET,
    FLAG_SET_TWICE,
    RACE,
    SYNC_UNDECIDED,
    WAIT_NEVER_SET,
)
from pypto_spec.diagnostics.span import Loc, Span
from pypto_spec.ir.expr import Expr, add, to_text
from pypto_spec.ir.nodes import Barrier, Op, SetFlag, WaitFlag
from pypto_spec.targets.events import BARRIERS, FLAG_KINDS

MOST_RACES = 20
"""Races reported in one region; a forgotten flag at its start can make hundreds."""

FlagNode = SetFlag | WaitFlag
Race = tuple[Touch, Touch, bool, int]
"""Earlier and later access, whether only an earlier iteration's, and what the later one's pipe does not know."""


def _id(node: FlagNode) -> str:
    return to_text(node.id)


def _flag(node: FlagNode) -> str:
    return f"{node.source} to {node.target}, id {_id(node)}"


def _statement(keyword: str, node: FlagNode) -> str:
    return f"`- {keyword}: {{from: {node.source}, to: {node.target}, id: {_id(node)}}}`"


def _flagged(where: Literal["before", "after"], keyword: str, node: FlagNode) -> Repair:
    """A statement more that sets a flag, or waits for it."""
    number = node.id if isinstance(node.id, int) else to_text(node.id)
    fields = {"from": node.source, "to": node.target, "id": number}
    return Repair(
        where, node.loc.span, value={keyword: fields}, title=f"put a `{keyword}` {where.replace('after', 'behind')} it"
    )


class Reporter:
    """Words and counts the findings of one region."""

    def __init__(self, sink: Sink) -> None:
        self.sink = sink
        self.races: dict[tuple[Op, Op], Race] = {}
        self.refused = False

    def _report(
        self, rule: Rule, loc: Loc, message: str, label: str, helps: Sequence[str] = (),
        secondary: Sequence[Label] = (), figures: Sequence[tuple[str, int | str]] = (), notes: Sequence[str] = (),
        fixes: Sequence[Repair] = (),
    ) -> None:  # fmt: skip
        self.refused = True
        places = list(secondary)
        if loc.dump is not None:
            places.append(Label(loc.dump, "here in the dump"))
        self.sink.report(
            rule, loc.span, message, label=label, helps=helps, secondary=places, figures=figures, notes=notes,
            fixes=fixes,
        )  # fmt: skip

    # Races

    def race(self, first: Touch, then: Touch, past: bool, unknown: int) -> None:
        """`then` may run while `first` does; `past`: only the `first` of an earlier iteration.

        `unknown` holds the epochs that the pipe of `then` does not know to be complete, in whatever iteration.
        """
        key, found = (first.step.op, then.step.op), (first, then, past, unknown)
        if key not in self.races or _weight(found) < _weight(self.races[key]):
            self.races[key] = found

    def finish(self, pipes: Sequence[str]) -> None:
        """Report the races: those around a loop last, and none that follows from another."""
        later: dict[Op, list[Execute]] = {}
        for first, then, past, _ in self.races.values():
            if not past:
                later.setdefault(first.step.op, []).append(then.step)
        causes = [race for race in self.races.values() if not _follows(race, later.get(race[0].step.op, ()))]
        causes.sort(key=lambda race: (race[2], race[0].step.op is race[1].step.op))
        causes = self._inside_statements(causes)
        for first, then, past, _ in causes[:MOST_RACES]:
            self._race(first, then, past, pipes)

    def _inside_statements(self, causes: Sequence[Race]) -> list[Race]:
        """Report those between the ops of one statement (a `let`), each statement once; the other ones are left.

        Between such ops the author has no place to put a flag. In a dump every op is a statement.
        """
        outside: list[Race] = []
        inside: dict[Span, list[Race]] = {}
        made: dict[Span, set[Op]] = {}
        for race in self.races.values():
            for touch in race[:2]:
                made.setdefault(touch.step.op.loc.span, set()).add(touch.step.op)
        for race in causes:
            a, b = race[0].step.op, race[1].step.op
            span = b.loc.span
            own = a.loc.span == span and b.loc.dump is None and len(made[span]) > 1
            (inside.setdefault(span, []) if own else outside).append(race)
        for span, races in inside.items():
            self._inside_statement(races, sorted({op.name for op in made[span]}))
        return outside

    def _inside_statement(self, races: Sequence[Race], names: Sequence[str]) -> None:
        listed = ", ".join(f"`{name}`" for name in names)
        pairs = "one pair of accesses needs" if len(races) == 1 else f"{len(races)} pairs of accesses need"
        helps = [
            "write one operator a statement, on tiles that fit, with flags and barriers between them; "
            "`pypto-spec lower --after ConvertTensorToTileOps` prints that form",
            "leave `sync: manual` out: the compiler then puts in all flags and barriers, and "
            "`pypto-spec lower --after InsertSync` shows them",
        ]
        self._report(
            RACE,
            races[0][1].step.op.loc,
            f"with `sync: manual` nothing orders what this statement becomes: the operators {listed}; {pairs} a flag "
            "or a barrier",
            "no flag can stand inside one statement",
            helps,
            figures=[("pairs", len(races))],
        )

    def _race(self, first: Touch, then: Touch, past: bool, pipes: Sequence[str]) -> None:
        a, b = first.step, then.step
        source, target = pipes[a.pipe], pipes[b.pipe]
        hazard = ("WAW" if first.write else "WAR") if then.write else "RAW"
        where, low, high = _bytes(first, then)
        does, did = ("writes" if then.write else "reads"), ("written" if first.write else "read")
        when = " in an earlier iteration of the loop" if past else ""
        if a.op is not b.op:
            by, label = f"`{a.op.name}` on {source}{when}", f"{does} on {target}"
            others = [Label(a.op.loc.span, f"{did} on {source}{when}")]
        else:
            by = f"the same statement{when}" if past else f"another of its instructions on {source}"
            label, others = f"{does} on {target}, {did} on {source}{when}", []
        self._report(
            RACE,
            b.op.loc,
            f"{hazard} race in {where}: `{b.op.name}` on {target} {does} them while they may still be {did} by {by}",
            label,
            _order(source, target, past),
            others,
            [
                ("hazard", hazard),
                ("from", source),
                ("to", target),
                ("space", first.group.space),
                ("first_byte", low),
                ("end_byte", high),
            ],
            _why(first, then),
        )

    # Flags

    def never_set(self, node: WaitFlag, always: bool, former: WaitFlag | None) -> None:
        """A wait on a flag that is clear, always or on some path."""
        path = "" if always else " on some path (an arm of an `if`, or the first or a later iteration of a loop)"
        again = former is not None and former is not node
        self._report(
            WAIT_NEVER_SET, node.loc,
            f"{node.target} waits forever: nothing sets the flag {_flag(node)} before this wait{path}",
            "never ends" if always else "does not end on every path",
            [f"put {_statement('set_flag', node)} before it, after the work of {node.source} that it waits for"
             + ("" if always else ", on every path; for a loop: once before the loop, then at the end of its body")],
            [Label(former.loc.span, "the last set was consumed here")] if former is not None and again else (),
            _figures(node),
            fixes=[_flagged("before", "set_flag", node)] if always and not again else [],
        )  # fmt: skip

    def set_twice(self, node: SetFlag, former: SetFlag | None, always: bool) -> None:
        """A set on a flag that no wait has cleared, always or on some path."""
        path = "" if always else " on some path (an arm of an `if`, or a later iteration of a loop)"
        same = former is node or former is None
        self._report(
            FLAG_SET_TWICE, node.loc,
            f"the flag {_flag(node)} is set a second time with no wait in between{path}",
            "already set",
            [f"wait for it first: {_statement('wait_flag', node)}, or use another id"],
            [Label(former.loc.span, "set here first")] if former is not None and not same else (),
            _figures(node),
        )  # fmt: skip

    def set_unordered(self, node: SetFlag, waiter: WaitFlag | None) -> None:
        """A set that may come before the wait for the former set."""
        self._report(
            FLAG_SET_TWICE, node.loc,
            f"the flag {_flag(node)} may be set again before {node.target} has waited for the former set: nothing "
            f"makes {node.source} come after that wait",
            "may be too early",
            [f"let {node.source} wait for a flag that {node.target} sets after its wait ("
             f"`- wait_flag: {{from: {node.target}, to: {node.source}, id: N}}` before this set), or use another id"],
            [Label(waiter.loc.span, "the former set is consumed here")] if waiter is not None else (),
            _figures(node),
        )  # fmt: skip

    def left_set(self, node: SetFlag, always: bool) -> None:
        """A flag that is set at the end of the region, always or on some path."""
        path = "" if always else " on some path (an arm of an `if`, or a loop that does not run)"
        self._report(
            FLAG_LEFT_SET, node.loc, f"the flag {_flag(node)} is still set at the end of the region{path}",
            "no wait consumes this", [f"put {_statement('wait_flag', node)} after it, at the latest after the loop"],
            (), _figures(node), fixes=[_flagged("after", "wait_flag", node)] if always else [],
        )  # fmt: skip

    # Unit flags

    def units_down(self, op: Op) -> None:
        """A Fixpipe that waits for unit flags which nothing raises."""
        self._report(
            WAIT_NEVER_SET, op.loc,
            f"`{op.name}` waits forever: no matmul before it raises the unit flags of what it reads",
            "never ends", ["write `phase: final` on the last matmul of this accumulator, or leave `phase` out on both"],
        )  # fmt: skip

    def units_up(self, op: Op, former: Op) -> None:
        """A Mmad that waits for unit flags which nothing lowers."""
        others = [Label(former.loc.span, "raised here")] if former is not op else []
        self._report(
            FLAG_SET_TWICE, op.loc,
            f"`{op.name}` waits forever: the unit flags of its accumulator are up, and nothing stores it in between",
            "never ends",
            ["store the accumulator with `phase: final` first, or write `phase: partial` on the matmul before"],
            others,
        )  # fmt: skip

    def units_left(self, op: Op) -> None:
        """Unit flags that are up at the end of the region."""
        self._report(
            FLAG_LEFT_SET, op.loc, f"the unit flags that `{op.name}` raises are still up at the end of the region",
            "nothing lowers them", ["store the whole accumulator with `phase: final`, or leave `phase` out here"],
        )  # fmt: skip

    # What a core does not have, and what cannot be told

    def flag_kind(self, node: FlagNode, core: str) -> None:
        """A flag between two pipes that has no event on this core."""
        from_here = sorted(t for s, t in FLAG_KINDS[core] if s == node.source)
        has = f"flags from {node.source} go to {', '.join(from_here)}" if from_here else f"{core} has no {node.source}"
        self._report(
            FLAG_KIND, node.loc, f"{core} has no flag from {node.source} to {node.target}; {has}", "no such flag",
            ["go by way of a third pipe, or use `- barrier: all`"],
        )  # fmt: skip

    def barrier_kind(self, node: Barrier | Op, pipe: str, core: str) -> None:
        """A barrier of a pipe that has none on this core."""
        legal = ", ".join(sorted(BARRIERS[core]))
        self._report(
            FLAG_KIND, node.loc, f"{core} has no barrier of {pipe}; barriers are {legal}", "no such barrier",
            [f"use one of {legal}"],
        )  # fmt: skip

    def flag_id(self, node: FlagNode, ids: int, values: Sequence[int]) -> None:
        """An id that the target does not have; `values` are those that are out of range."""
        takes = "" if isinstance(node.id, int) else f"; it takes the values {', '.join(map(str, values))}"
        self._report(
            FLAG_ID, node.loc, f"flag id {_id(node)} is outside 0..{ids - 1}{takes}", f"0..{ids - 1} is allowed",
            [f"use an id from 0 to {ids - 1}; each pair of pipes has its own"],
        )  # fmt: skip

    def flag_id_unknown(self, nodes: Sequence[FlagNode]) -> None:
        """Flags with the same id, of which it is not known in which round it is what."""
        first, others = nodes[0], nodes[1:]
        self._report(
            SYNC_UNDECIDED, first.loc,
            f"the region cannot be proven free of races: the id {_id(first)} of this flag is not known at compile time",
            "not decidable",
            ["write the id as a number, or as `i % N` with the index of a loop that starts at a known number; as "
             "`(i - S) % N` where it starts at `S`"],
            [Label(node.loc.span, "the same id") for node in others],
        )  # fmt: skip

    def undecided(self, loc: Loc, what: str, way_out: str) -> None:
        """Something that the checker cannot judge, which counts as an error."""
        self._report(
            SYNC_UNDECIDED, loc, f"the region cannot be proven free of races: {what}", "not decidable",
            [way_out] if way_out else (), (), (),
            () if way_out else ("this is a bug of the compiler, not of the spec",),
        )  # fmt: skip


def _weight(race: Race) -> tuple[bool, bool, bool]:
    """Which of several races between two statements is told: in the same iteration, RAW before WAW before WAR."""
    first, then, past, _ = race
    return past, then.write, not first.write


def _follows(race: Race, others: Sequence[Execute]) -> bool:
    """Whether ordering another statement behind the first one orders this one too: it comes after that statement."""
    _, then, past, unknown = race
    return any(
        b.op is not then.step.op and not (unknown >> b.epoch) & 1 and (past or b.order < then.step.order)
        for b in others
    )


def _figures(node: FlagNode) -> list[tuple[str, int | str]]:
    return [("from", node.source), ("to", node.target), ("id", node.id if isinstance(node.id, int) else "?")]


def _bytes(first: Touch, then: Touch) -> tuple[str, int | str, int | str]:
    """The bytes the two share, at most: of both where addresses are known, else those of `then`."""
    space = then.group.space
    where = f"`{space[3:]}`" if space.startswith("gm ") else space
    if not first.group.terms and not then.group.terms:
        low = max(first.const, then.const)
        high = min(first.const + first.shape.extent, then.const + then.shape.extent)
        return f"bytes {low}..{high} of {where}", low, high
    base = add(Expr(then.group.terms, 0), then.const) if then.group.terms else then.const
    low_text, high_text = to_text(base), to_text(add(base, then.shape.extent))
    return f"bytes {low_text}..{high_text} of {where}", low_text, high_text


def _why(first: Touch, then: Touch) -> tuple[str, ...]:
    if first.group.terms == then.group.terms:
        return ()
    return ("the distance of the two is known at run time only; what cannot be excluded counts as an overlap",)


def _order(source: str, target: str, past: bool) -> list[str]:
    if source == target:
        return [f"put `- barrier: {source}` between them" + (", inside the loop" if past else "")]
    if past:
        return [
            f"carry a flag around the loop: `- set_flag: {{from: {source}, to: {target}, id: N}}` before the loop and "
            f"after the earlier statement, `- wait_flag: {{from: {source}, to: {target}, id: N}}` before the later one "
            "and after the loop"
        ]
    return [
        f"put `- set_flag: {{from: {source}, to: {target}, id: N}}` after the earlier statement and "
        f"`- wait_flag: {{from: {source}, to: {target}, id: N}}` before this one"
    ]
