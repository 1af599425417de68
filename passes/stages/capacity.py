"""The capacity gate: how many of a pipeline's stages keep buffers of their own, decided by what really fits.

Each group starts with as many buffers as it asks for, at most those that its memory could hold of them alone. While a
memory overflows, the group with the largest buffers there gives up one, and its loads move behind the stage whose
buffer they take over. Where one buffer a group is too much, the loads stand where a loop without stages has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import combinations
from typing import cast

from pypto_spec.ir.nodes import Buffer, For, Op, Planner, Region, Stmt
from pypto_spec.ir.rewrite import Rewriter, ops
from pypto_spec.ir.types import Memory
from pypto_spec.passes.memory.lifetimes import Lifetimes
from pypto_spec.passes.memory.planners.bound import lower_bound
from pypto_spec.passes.memory.planners.first_fit import first_fit
from pypto_spec.passes.memory.planners.places import shared, stack
from pypto_spec.passes.memory.planners.pose import problem_of
from pypto_spec.passes.memory.problem import Problem
from pypto_spec.passes.stages.groups import Groups, Key
from pypto_spec.passes.stages.order import Depths, ordered
from pypto_spec.records import dataclass
from pypto_spec.targets import Target


@dataclass(frozen=True, slots=True)
class Plan:
    """Where the buffers of one memory live: in whose place, or at which address."""

    lives_in: Mapping[str, str] = field(default_factory=dict)
    addresses: Mapping[str, int] | None = None
    planner: Planner | None = None


@dataclass(frozen=True, slots=True)
class Overflow:
    """A memory that is too small for statements in this order: the lowest placement that was made ends at `end`.

    None ends below `least`, in bytes.
    """

    body: tuple[Stmt, ...]
    problem: Problem
    end: int
    least: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """A region with its plans; `depths` are the buffers that each group got.

    `misses`: by group, the overflow for which it first gave up a buffer.
    """

    body: tuple[Stmt, ...]
    plans: Mapping[Memory, Plan]
    groups: Groups
    depths: Mapping[Key, int]
    fits: bool = True
    misses: Mapping[Key, Overflow] = field(default_factory=dict)


class _Reorder(Rewriter):
    """Orders the bodies that hold several stages of a group with fewer buffers than stages."""

    def __init__(self, depths: Depths, lazy: bool) -> None:
        super().__init__()
        self.depths = depths
        self.lazy = lazy
        self.short = {number for _, number in depths}

    def loop(self, loop: For) -> Sequence[Stmt]:
        (made,) = super().loop(loop)
        body = cast(For, made).body
        stages: dict[int, set[int]] = {}
        for op in (s for s in body if isinstance(s, Op)):
            for number, stage in op.stages:
                if number in self.short:
                    stages.setdefault(number, set()).add(stage)
        if not any(len(found) > 1 for found in stages.values()):
            return (made,)
        again = ordered(body, self.depths, lazy=self.lazy, paired=loop.l0c_double_buffer and not self.lazy)
        return (made if again is body else replace(cast(For, made), body=again),)


class Gate:
    """Plans one region."""

    def __init__(self, region: Region, buffers: Mapping[str, Buffer], target: Target, grids: Mapping[str, int]) -> None:
        self.region = region
        self.buffers = buffers
        self.target = target
        self.grids = grids
        self.tagged = any(op.stages for op in ops(region.body))
        self.groups = self._groups(Lifetimes(region.body))

    def _groups(self, lives: Lifetimes) -> Groups:
        return Groups(self.region.body, lives, self.buffers, self.target.address_alignment)

    def settle(self) -> Outcome:
        """The deepest plan that fits; where none does, the last one tried: AllocateMemoryAddr packs or refuses it."""
        depths = {
            key: max(1, min(group.requested, self.target.capacity[key[0]] // max(1, group.slot)))
            for key, group in self.groups.of.items()
        }
        lazy = False
        misses: dict[Key, Overflow] = {}
        while True:
            outcome, overflows = self.attempt(depths, lazy=lazy)
            if not overflows:
                return replace(outcome, misses=misses)
            shed = [key for key in depths if key[0] in overflows and depths[key] > 1]
            if shed:
                most = min(shed, key=lambda key: (-self.groups.of[key].slot, key[1]))
                misses.setdefault(most, overflows[most[0]])
                depths[most] -= 1
            elif any(key[0] in overflows for key in depths) and not lazy:
                lazy = True
            else:
                return replace(outcome, fits=False)

    def attempt(self, depths: Mapping[Key, int], *, lazy: bool = False) -> tuple[Outcome, dict[Memory, Overflow]]:
        """The plan with so many buffers for each group, and the memories that overflow with it."""
        body = self.region.body
        short = {key: depth for key, depth in depths.items() if depth < self.groups.of[key].requested}
        if short:
            body = _Reorder(short, lazy).block(body)
        lives = Lifetimes(body)
        plans: dict[Memory, Plan] = {}
        overflows: dict[Memory, Overflow] = {}
        for memory in dict.fromkeys(self.buffers[name].memory for name in self.buffers if name in lives.of):
            problem = self.problem(memory, lives, depths)
            chosen = shared(problem)
            plans[memory] = Plan(chosen)
            end = stack(problem, chosen).end if self.tagged else 0
            if end <= problem.capacity:
                continue  # without stages there is nothing to choose here, and AllocateMemoryAddr packs what overflows
            least = self.least(problem, depths)
            packed = first_fit(problem) if least <= problem.capacity else None
            if packed is not None and packed.end <= problem.capacity:
                plans[memory] = Plan(addresses=packed.addresses, planner="first_fit")
            else:
                overflows[memory] = Overflow(body, problem, end if packed is None else min(end, packed.end), least)
        return Outcome(body, plans, self.groups, dict(depths)), overflows

    def problem(self, memory: Memory, lives: Lifetimes, depths: Mapping[Key, int]) -> Problem:
        """The placement of one memory's buffers, with the stages of groups kept apart."""
        here = [b for b in self.buffers.values() if b.memory is memory]
        return problem_of(lives, here, self.target, memory, self.grids, self._apart(here, depths))

    def least(self, problem: Problem, depths: Mapping[Key, int]) -> int:
        """A bound of the end of all placements, in bytes: from one statement, or from the places of a group."""
        here = [b for item in problem.items if (b := self.buffers[item.name]).name not in self.groups.local]
        needs = [lower_bound(problem).end]
        for places in self._places(here, depths):
            if all(one.isdisjoint(other) for one, other in combinations(places, 2)):
                needs.append(sum(lower_bound(problem.part(names)).end for names in places.values()))
        return max(needs)

    def _apart(self, buffers: Sequence[Buffer], depths: Mapping[Key, int]) -> Iterator[tuple[str, str]]:
        """Pairs of buffers with no stage of a group in common."""
        if not self.tagged:
            return
        local = self.groups.local
        for places in self._places(buffers, depths):
            for (one, first), (other, second) in combinations(places.items(), 2):
                if one.isdisjoint(other):
                    yield from ((a, b) for a in first for b in second if a not in local or b not in local)

    def _places(
        self, buffers: Sequence[Buffer], depths: Mapping[Key, int]
    ) -> Iterator[Mapping[frozenset[int], Sequence[str]]]:
        """For each group the buffers by the stages that may stand in them."""
        members: dict[int, dict[frozenset[int], list[str]]] = {}
        for buffer in buffers:
            for number, stages in self.groups.sharing(buffer, depths).items():
                members.setdefault(number, {}).setdefault(stages, []).append(buffer.name)
        return iter(members.values())
