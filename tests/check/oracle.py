"""Brute force: every schedule of a short straight-line program on the machine that the checker's page describes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.check.making import At, Bar, Do, Down, Item, Up

State = tuple[int, int, int, frozenset[tuple[str, str, int]]]
"""Dispatched instructions, issued ones and completed ones as bit sets, flags that are up."""


@dataclass
class Verdict:
    """What happens on some schedule. Races are pairs of positions in the program."""

    races: set[tuple[int, int]] = field(default_factory=set)
    deadlock: bool = False
    twice: bool = False
    left: bool = False

    @property
    def flags_wrong(self) -> bool:
        return self.deadlock or self.twice or self.left


def _bytes(at: At) -> set[tuple[str, int]]:
    starts = [at.base]
    for count, stride in at.steps:
        starts = [s + k * stride for s in starts for k in range(count)]
    return {(at.space, s + b) for s in starts for b in range(at.width)}


def _all(places: Sequence[At]) -> set[tuple[str, int]]:
    return set().union(*map(_bytes, places))


def conflict(a: Do, b: Do) -> bool:
    """Whether two instructions need an order."""
    writes, others = _all(a.writes), _all(b.writes)
    shared = writes & others
    return bool((shared and not (a.atomic and b.atomic)) or writes & _all(b.reads) or others & _all(a.reads))


def _pipe(item: Item) -> str:
    if isinstance(item, Do | Bar):
        return item.pipe
    assert isinstance(item, Up | Down)
    return item.source if isinstance(item, Up) else item.target


class Machine:
    """Explores the schedules of one program."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items
        self.pipes = [_pipe(i) for i in items]
        self.before = [
            sum(1 << j for j in range(n) if self.pipes[n] == "all" or self.pipes[j] == self.pipes[n])
            for n in range(len(items))
        ]
        self.conflicts = [
            [j for j in range(n) if isinstance(a := items[j], Do) and isinstance(b, Do) and conflict(a, b)]
            for n, b in enumerate(items)
        ]
        self.verdict = Verdict()

    def run(self) -> Verdict:
        """Everything that can happen."""
        seen: set[State] = set()
        stack: list[State] = [(0, 0, 0, frozenset())]
        while stack:
            state = stack.pop()
            if state in seen:
                continue
            seen.add(state)
            after = self.next(state)
            stack += after
            if not after:
                finished = state[2] == (1 << len(self.items)) - 1
                self.verdict.deadlock |= not finished
                self.verdict.left |= finished and bool(state[3])
        return self.verdict

    def next(self, state: State) -> list[State]:
        dispatched, issued, done, flags = state
        found: list[State] = []
        if dispatched < len(self.items):
            if self.pipes[dispatched] in ("s", "all") and not isinstance(self.items[dispatched], Do):
                found += self.issue(dispatched, (dispatched + 1, issued, done, flags))
            else:
                found.append((dispatched + 1, issued, done, flags))
        for n in range(dispatched):
            if not issued >> n & 1 and self.before[n] & ~issued == 0:
                found += self.issue(n, state)
            elif issued >> n & 1 and not done >> n & 1:
                item = self.items[n]
                if isinstance(item, Do):
                    found.append((dispatched, issued, done | 1 << n, flags))
                elif isinstance(item, Up) and self.before[n] & ~done == 0:
                    flag = (item.source, item.target, item.id)
                    self.verdict.twice |= flag in flags
                    found.append((dispatched, issued, done | 1 << n, flags | {flag}))
        return found

    def issue(self, n: int, state: State) -> list[State]:
        dispatched, issued, done, flags = state
        item, bit = self.items[n], 1 << n
        if isinstance(item, Down):
            flag = (item.source, item.target, item.id)
            return [(dispatched, issued | bit, done | bit, flags - {flag})] if flag in flags else []
        if isinstance(item, Bar):
            return [(dispatched, issued | bit, done | bit, flags)] if self.before[n] & ~done == 0 else []
        if isinstance(item, Do):
            in_order = self.pipes[n] == "s"
            scalars = [j for j in range(n) if in_order and self.pipes[j] == "s" and isinstance(self.items[j], Do)]
            if any(not done >> j & 1 for j in scalars):
                return []
            self.verdict.races |= {(j, n) for j in self.conflicts[n] if not done >> j & 1}
        return [(dispatched, issued | bit, done, flags)]


def waits_first(items: Sequence[Item]) -> bool:
    """Whether a wait is dispatched before its set, which the checker refuses though the machine may get through."""
    up: dict[tuple[str, str, int], int] = {}
    for item in items:
        if isinstance(item, Up | Down):
            key = (item.source, item.target, item.id)
            up[key] = up.get(key, 0) + (1 if isinstance(item, Up) else -1)
            if up[key] < 0:
                return True
    return False
