"""The order of launches: the task graph of `program`, and the order on one stream that follows from it.

Two launches depend on each other where one writes a tensor that the other uses, and where `after` says so. `after`
decides which of the two comes first; where it says nothing about them, that is the one that stands first in the text.
Launches that do not depend on each other keep the order of the text as well, so that without `after` the order is that
of the text. A host loop, an `if` and a grid count as one in the list they stand in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from heapq import heapify, heappop, heappush
from itertools import pairwise

from pypto_spec.diagnostics.model import CompileError, Label, Repair, diagnose
from pypto_spec.diagnostics.rules.cores import LAUNCH_CYCLE
from pypto_spec.ir.nodes import Branch, Control, Grid, Loop, Region, Value
from pypto_spec.ir.rewrite import ops, regions
from pypto_spec.ir.types import TensorType
from pypto_spec.records import dataclass
from pypto_spec.spec.tree import Node

Afters = Mapping[str, Mapping[str, Node]]
"""For each region the regions that must be done before, each with the place where `after` says so."""


@dataclass(frozen=True, slots=True)
class Uses:
    """The tensors that launches read and write."""

    reads: frozenset[Value]
    writes: frozenset[Value]

    def shared(self, other: Uses) -> Value | None:
        """A tensor that one of the two writes and the other uses."""
        common = (self.writes & (other.reads | other.writes)) | (other.writes & self.reads)
        return min(common, key=lambda v: v.name, default=None)


def uses_of(nodes: Sequence[Control]) -> Uses:
    """What the regions in these nodes use."""
    reads: set[Value] = set()
    writes: set[Value] = set()
    for region in regions(nodes):
        for op in ops(region.body):
            for name, value in op.operands.items():
                if isinstance(value.type, TensorType):
                    (writes if op.defn.effects == "writes_gm" and name == "to" else reads).add(value)
    return Uses(frozenset(reads), frozenset(writes))


def in_order(body: tuple[Control, ...], afters: Afters) -> tuple[Control, ...]:
    """The nodes in the order in which they are launched. Raises CompileError where launches wait for each other."""
    made = tuple(_inside(node, afters) for node in body)
    if not any(afters.values()):
        return made
    return tuple(made[n] for n in _List(made, afters).order())


def _inside(node: Control, afters: Afters) -> Control:
    if isinstance(node, Region):
        return node
    if isinstance(node, Branch):
        then, other = in_order(node.then, afters), in_order(node.other, afters)
        return node if (then, other) == (node.then, node.other) else replace(node, then=then, other=other)
    assert isinstance(node, Loop | Grid)
    body = in_order(node.body, afters)
    return node if body == node.body else replace(node, body=body)


@dataclass(slots=True)
class _List:
    """One list of nodes, by their places in the text."""

    nodes: tuple[Control, ...]
    afters: Afters
    written: list[dict[int, Node]] = field(default_factory=list)
    """For each node those that `after` puts before it, and where it says so."""

    def order(self) -> list[int]:
        home = {region.name: place for place, node in enumerate(self.nodes) for region in regions((node,))}
        self.written = [
            {
                home[name]: where
                for region in regions((node,))
                for name, where in self.afters.get(region.name, {}).items()
                if name in home and (home[name] != place or isinstance(node, Region))
            }
            for place, node in enumerate(self.nodes)
        ]
        before = [set(found) for found in self.written]
        reach = [self._reached(place) for place in range(len(self.nodes))]
        uses = [uses_of((node,)) for node in self.nodes]
        for second in range(len(self.nodes)):
            for first in range(second):
                told = first in reach[second] or second in reach[first]
                if not told and uses[first].shared(uses[second]) is not None:
                    before[second].add(first)
        return self._sorted(before, uses)

    def _reached(self, place: int) -> set[int]:
        """The nodes that `after` puts before one, directly or through others."""
        found: set[int] = set()
        stack = list(self.written[place])
        while stack:
            other = stack.pop()
            if other not in found:
                found.add(other)
                stack.extend(self.written[other])
        return found

    def _sorted(self, before: list[set[int]], uses: list[Uses]) -> list[int]:
        behind: list[list[int]] = [[] for _ in self.nodes]
        for place, found in enumerate(before):
            for other in found:
                behind[other].append(place)
        waiting = [len(found) for found in before]
        ready = [place for place, count in enumerate(waiting) if not count]
        heapify(ready)
        made: list[int] = []
        while ready:
            made.append(place := heappop(ready))
            for other in behind[place]:
                waiting[other] -= 1
                if not waiting[other]:
                    heappush(ready, other)
        if len(made) < len(self.nodes):
            raise self._cycle(before, uses, set(range(len(self.nodes))) - set(made))
        return made

    def _cycle(self, before: list[set[int]], uses: list[Uses], left: set[int]) -> CompileError:
        """The error for nodes of which each waits for the next."""
        chain = [min(left)]
        while chain[-1] not in chain[:-1]:
            chain.append(min(before[chain[-1]] & left, key=lambda n: (n not in self.written[chain[-1]], n)))
        chain = chain[chain.index(chain[-1]) :]
        steps = list(pairwise(chain))
        start = next(number for number, (a, b) in enumerate(steps) if b in self.written[a])
        steps = [*steps[start:], *steps[:start]]
        names = {place: f"`{_name(self.nodes[place])}`" for place in chain}
        texts = [self._reason(a, b, names, uses) for a, b in steps]
        first, *others = [self.written[a][b] for a, b in steps if b in self.written[a]]
        *all_but_last, last = dict.fromkeys(names[a] for a, _ in steps)
        who = f"{', '.join(all_but_last)} and {last}" if all_but_last else last
        if len(steps) == 1:
            itself = f"{who} waits for itself"
            helps = ["take it out of `after`"]
            taken = [Repair("remove", first.span, title="take it out of `after`")]
            found = diagnose(LAUNCH_CYCLE, first.span, itself, label="its own name", helps=helps, fixes=taken)
            return CompileError([found])
        return CompileError([
            diagnose(
                LAUNCH_CYCLE, first.span, f"{who} wait for each other: {', '.join(texts)}",
                label="closes the circle", secondary=[Label(node.span, "and waits here") for node in others],
                helps=["take one of them out of `after`; launches that use the same tensor are ordered by it anyway, "
                       "the one that stands first in the text before the other"],
                fixes=[Repair("remove", node.span, title="take this one out of `after`") for node in (first, *others)],
            )
        ])  # fmt: skip

    def _reason(self, a: int, b: int, names: Mapping[int, str], uses: list[Uses]) -> str:
        if b in self.written[a]:
            return f"{names[a]} is `after` {names[b]}"
        shared = uses[a].shared(uses[b])
        assert shared is not None
        return f"{names[a]} uses `{shared.name}` behind {names[b]}"


def _name(node: Control) -> str:
    return next(_names((node,)), "if")


def _names(nodes: Sequence[Control]) -> Iterator[str]:
    return (region.name for region in regions(nodes))
