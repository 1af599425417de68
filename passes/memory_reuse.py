"""MemoryReuse: tiles that are never needed at the same time share a buffer; the stages of a pipeline do not.

Buffers of one memory are taken largest first; each joins the first place whose members it gets along with, else it
opens a place of its own, named after its first member. Two get along if one's lifetime ends before the other's begins,
or if they meet in one op that may write its result over that operand (the op's `no_alias` table says where it may not).
Shape and dtype do not matter. An author's buffers are never shared; that what the author put in one fits, and does not
overwrite what is still needed, is checked first.

The copies of a pipeline's stages get buffers of their own as far as the memory goes; where it does not, PH-MR-001 says
how deep the pipeline is and what would fit. Before depth is given up, the buffers of a memory that overflows are packed
by address (`first_fit`): they keep their buffers and get addresses here. Where the author insists on the depth, and
OR-tools is installed, an exact search is asked as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pypto_spec.ir.nodes import Buffer, BufferRef, Planner, Program, Region, Value
from pypto_spec.ir.rewrite import Rewriter
from pypto_spec.passes.base import Context, Pass, Property
from pypto_spec.passes.memory.grids import grids
from pypto_spec.passes.memory.lifetimes import Lifetimes
from pypto_spec.passes.memory.planners.exact import Fits, fits, installed
from pypto_spec.passes.memory.rebuffer import Rebuffer
from pypto_spec.passes.memory.written import check_values
from pypto_spec.passes.stages.achieved import Depth
from pypto_spec.passes.stages.capacity import Gate, Outcome, Plan
from pypto_spec.passes.stages.depth import ADVISED, is_heard, is_promoted, place_of, report_depth
from pypto_spec.passes.stages.groups import Key

QUICK = 0.5
"""Deterministic seconds of the search for a placement that is only advised."""


def _exact(gate: Gate, depths: Mapping[Key, int], limit: float | None = None) -> Outcome | None:
    """The plan at these depths with the memories that overflow placed exactly, or None where one cannot be."""
    outcome, overflows = gate.attempt(depths)
    plans = dict(outcome.plans)
    for memory, overflow in overflows.items():
        if overflow.least > overflow.problem.capacity:
            return None
        answer = fits(overflow.problem, limit)
        if not isinstance(answer, Fits):
            return None
        plans[memory] = Plan(addresses=answer.placement.addresses, planner="exact")
    return replace(outcome, plans=plans)


def _settle(region: Region, gate: Gate, context: Context) -> Outcome:
    """The plan of a region; depth that was lost is reported.

    Where only an exact search places it, all depth is asked for. Else the search is asked for the depths that the
    author insists on, and its placement taken; or for those that somebody is told of, and its placement is advised.
    """
    outcome = gate.settle()
    misses = outcome.misses
    lost = {key: g for key, g in gate.groups.of.items() if outcome.depths[key] < g.requested}
    advice = ""
    if not outcome.fits:
        whole = {key: group.requested for key, group in gate.groups.of.items()}
        limit = None if any(is_promoted(region, group, context) for group in lost.values()) else QUICK
        may = bool(lost) and _may_search(context)
        better = (_exact(gate, whole, limit) or _exact(gate, outcome.depths)) if may else None
        if better is None:
            return outcome  # AllocateMemoryAddr says what is too much
        outcome, lost = better, {key: g for key, g in lost.items() if better.depths[key] < g.requested}
    elif _may_search(context):
        promoted = [key for key, group in lost.items() if is_promoted(region, group, context)]
        asked = promoted or [key for key, group in lost.items() if is_heard(region, group, context)]
        depths = {**outcome.depths, **{key: lost[key].requested for key in asked}}
        better = _exact(gate, depths, None if promoted else QUICK) if asked else None
        if better is not None and promoted:
            outcome = better
            lost = {key: group for key, group in lost.items() if key not in promoted}
        elif better is not None:
            advice = ADVISED
    for key, group in lost.items():
        report_depth(
            region, group, outcome.depths[key], context, buffers=gate.buffers, miss=misses.get(key), exact=advice
        )
    return outcome


def _may_search(context: Context) -> bool:
    return not context.trial and installed()


class _Plans(Rewriter):
    """Plans every region; its statements may come in another order."""

    def __init__(self, program: Program, context: Context) -> None:
        super().__init__()
        self.context = context
        self.buffers = {b.name: b for b in program.buffers}
        self.grids = grids(program)
        self.lives_in: dict[str, str] = {}
        self.placed: dict[str, tuple[int, Planner | None]] = {}
        self.used: set[str] = set()

    def region(self, region: Region) -> Region:
        self.used |= Lifetimes(region.body).of.keys()
        gate = Gate(region, self.buffers, self.context.target, self.grids)
        outcome = _settle(region, gate, self.context)
        for key, group in gate.groups.of.items():
            line, depth = place_of(region, group).line, outcome.depths[key]
            self.context.depths.append(Depth(region.name, group.memory, line, group.requested, depth, group.slot))
        for plan in outcome.plans.values():
            if plan.addresses is None:
                self.lives_in.update(plan.lives_in)
                continue
            for name, address in plan.addresses.items():
                if self.buffers[name].address is None:
                    self.placed[name] = address, plan.planner
        return region if outcome.body is region.body else replace(region, body=outcome.body)

    def result(self, buffer: Buffer) -> Buffer:
        """A buffer with the address that it got here."""
        found = self.placed.get(buffer.name)
        return buffer if found is None else replace(buffer, address=found[0], planner=found[1])


def run(program: Program, context: Context) -> Program:
    """Let buffers of each region share places, or pack them."""
    check_values(program, context)
    plans = _Plans(program, context)
    program = plans.program(program)
    # A value that MaterializeSemanticAliases brought home has left an empty buffer behind.
    kept = tuple(
        plans.result(b)
        for b in program.buffers
        if b.owner == "author" or (b.name in plans.used and plans.lives_in.get(b.name, b.name) == b.name)
    )
    if kept == program.buffers:
        return program

    def moved(ref: BufferRef) -> BufferRef:
        place = plans.lives_in.get(ref.buffer, ref.buffer)
        return ref if place == ref.buffer else replace(ref, buffer=place)

    def choose(value: Value) -> BufferRef | None:
        return None if value.buffer is None else moved(value.buffer)

    return replace(Rebuffer(choose, moved).program(program), buffers=kept)


MEMORY_REUSE = Pass(
    name="MemoryReuse",
    run=run,
    requires=frozenset({Property.HAS_MEM_REFS, Property.PIPELINE_RESOLVED}),
    produces=frozenset({Property.HAS_MEM_REFS}),
    doc=__doc__,
)
