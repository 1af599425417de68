"""Mutation: every flag and barrier of a kernel is there because something breaks without it.

Each set, each wait, each barrier and each whole dependency (all sets and waits of one flag: before, in and after a
loop) is taken away in turn, from the rendered kernel on the host model and from the program under the checker. Both
have to object. A dropped dependency or barrier must show on the host model as a race that names two lines of the
kernel. What nobody objects to is redundant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from pypto_spec.check import check_program
from pypto_spec.diagnostics.model import Sink
from pypto_spec.golden.run import Subject, sizes
from pypto_spec.golden.sampled import golden_run
from pypto_spec.ir.expr import bounds, to_text
from pypto_spec.ir.instr import InnerBarrier
from pypto_spec.ir.nodes import Barrier, For, If, Op, Program, Region, SetFlag, Stmt, WaitFlag
from pypto_spec.ir.rewrite import Rewriter, regions
from pypto_spec.ops.instructions import effects
from pypto_spec.targets import TARGETS

Sync = SetFlag | WaitFlag | Barrier | InnerBarrier
MutantKind = Literal["set", "wait", "barrier", "inner barrier", "dependency"]


@dataclass(frozen=True, slots=True)
class Mutant:
    """Statements of one region taken away, and the kernel lines they stand on."""

    kind: MutantKind
    region: Region
    kernel: str
    nodes: tuple[Sync, ...]
    lines: tuple[int, ...]

    def __str__(self) -> str:
        first = self.nodes[0]
        what = (
            f"{first.source}>{first.target} {to_text(first.id)}"
            if isinstance(first, SetFlag | WaitFlag)
            else first.pipe
        )
        return f"{self.kernel}: {self.kind} {what} (kernel lines {', '.join(map(str, self.lines))})"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Who objected to a mutant; `race` is whether the host model named a race between two lines."""

    mutant: Mutant
    host: bool
    race: bool
    checker: bool

    @property
    def dead(self) -> bool:
        """Whether both objected, in the way this kind of mutant must show."""
        needs_race = self.mutant.kind in ("barrier", "inner barrier", "dependency")
        return self.checker and (self.race if needs_race else self.host)


def syncs(body: Sequence[Stmt]) -> Iterator[Sync]:
    """All flags and barriers of a region in the order in which they are printed."""
    for stmt in body:
        if isinstance(stmt, SetFlag | WaitFlag | Barrier):
            yield stmt
        elif isinstance(stmt, Op):
            yield from (s for s in stmt.instrs or () if isinstance(s, InnerBarrier))
        elif isinstance(stmt, For):
            yield from syncs(stmt.body)
        elif isinstance(stmt, If):
            yield from syncs(stmt.then)
            yield from syncs(stmt.other)


def dependencies(body: Sequence[Stmt]) -> list[tuple[SetFlag | WaitFlag, ...]]:
    """Sets and waits that belong together: those whose set can be the one that a wait lowers, and so on."""
    flags = [s for s in syncs(body) if isinstance(s, SetFlag | WaitFlag)]
    parent = {f: f for f in flags}

    def root(flag: SetFlag | WaitFlag) -> SetFlag | WaitFlag:
        while parent[flag] is not flag:
            flag = parent[flag]
        return flag

    def walk(block: Sequence[Stmt], pending: dict[tuple[str, str, int], set[SetFlag | WaitFlag]]) -> None:
        for stmt in block:
            if isinstance(stmt, SetFlag):
                for key in _keys(stmt):
                    pending.setdefault(key, set()).add(stmt)
            elif isinstance(stmt, WaitFlag):
                keys = _keys(stmt)
                for key in keys:
                    for raised in pending.get(key, ()):
                        parent[root(raised)] = root(stmt)
                if len(keys) == 1:  # else it lowers one of them, and the others stay up
                    pending.pop(keys[0], None)
            elif isinstance(stmt, For):
                walk(stmt.body, pending)
                walk(stmt.body, pending)
            elif isinstance(stmt, If):
                other = {key: set(found) for key, found in pending.items()}
                walk(stmt.then, pending)
                walk(stmt.other, other)
                for key, found in other.items():
                    pending.setdefault(key, set()).update(found)

    walk(body, {})
    groups: dict[SetFlag | WaitFlag, list[SetFlag | WaitFlag]] = {}
    for flag in flags:
        groups.setdefault(root(flag), []).append(flag)
    return [tuple(group) for group in groups.values()]


def _keys(flag: SetFlag | WaitFlag) -> list[tuple[str, str, int]]:
    """The flags that a statement raises or lowers, one at a time; several where the id changes with a loop."""
    low, high = bounds(flag.id)
    assert low is not None and high is not None, "the checker takes no id without bounds"
    return [(flag.source, flag.target, number) for number in range(low, high + 1)]


def mutants(subject: Subject) -> list[Mutant]:
    """Every mutant of a program."""
    found: list[Mutant] = []
    for region, kernel in zip(regions(subject.program.body), subject.rendered.kernels, strict=True):
        nodes = list(syncs(region.body))
        lines = [info.line for info in kernel.lines if info.kind in ("set", "wait", "barrier")]
        assert len(nodes) == len(lines), f"{kernel.name} prints {len(lines)} flags and barriers of {len(nodes)}"
        line_of = {id(node): line for node, line in zip(nodes, lines, strict=True)}
        for node in nodes:
            kind: MutantKind = (
                "set" if isinstance(node, SetFlag) else "wait" if isinstance(node, WaitFlag)
                else "barrier" if isinstance(node, Barrier) else "inner barrier"
            )  # fmt: skip
            found.append(Mutant(kind, region, kernel.name, (node,), (line_of[id(node)],)))
        for group in dependencies(region.body):
            found.append(Mutant("dependency", region, kernel.name, group, tuple(line_of[id(n)] for n in group)))
    return found


class _Without(Rewriter):
    """The program without some of its flags and barriers."""

    def __init__(self, mutant: Mutant) -> None:
        super().__init__()
        self.gone = {id(node) for node in mutant.nodes}
        self.target = mutant.region

    def region(self, region: Region) -> Region:
        return super().region(region) if region is self.target else region

    def stmt(self, node: Stmt) -> Sequence[Stmt]:
        return () if id(node) in self.gone else super().stmt(node)

    def op(self, op: Op) -> Sequence[Stmt]:
        steps = op.instrs or ()
        if any(id(s) in self.gone for s in steps):
            return (replace(op, instrs=tuple(s for s in steps if id(s) not in self.gone)),)
        return (op,)


def refused(program: Program, mutant: Mutant) -> bool:
    """Whether the checker refuses the mutant."""
    sink = Sink()
    check_program(_Without(mutant).program(program), TARGETS[program.target.platform], sink, effects)
    return sink.has_errors


def judge(subject: Subject, *, schedules: Sequence[int] = (0, 1, 2), auto_blocks: int = 3) -> list[Verdict]:
    """Every mutant's verdict; the host model runs a mutant under sizes and schedules until it objects as it must.

    The last size comes first, which is mostly the largest; others are there for branches that it does not take.
    """
    verdicts: list[Verdict] = []
    runs = [golden_run(subject, values, 0, most=1) for values in reversed(sizes(subject.program))]
    for mutant in mutants(subject):
        host = race = False
        needs_race = mutant.kind in ("barrier", "inner barrier", "dependency")
        for run, schedule in product(runs, schedules):
            outputs, faults = run.run(schedule, auto_blocks, {mutant.kernel: mutant.lines})
            host = host or bool(faults) or bool(run.compare(outputs))
            race = race or any(f.finding.kind == "race" and len(f.finding.lines) == 2 for f in faults)
            if race or (host and not needs_race):
                break
        verdicts.append(Verdict(mutant, host, race, refused(subject.program, mutant)))
    return verdicts
