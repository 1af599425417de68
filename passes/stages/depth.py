"""PH-MR-001: a pipeline that did not get a buffer for each of its stages, with the figures and who is in the way.

The numbers in it are facts of the program as it stands. Which constant to change to what is added by whoever can plan
the changed program again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pypto_spec.diagnostics.model import Label, Severity, diagnose
from pypto_spec.diagnostics.rules.hints import PIPELINE_DEPTH
from pypto_spec.diagnostics.span import Span
from pypto_spec.ir.nodes import Buffer, For, Region
from pypto_spec.passes.base import Context
from pypto_spec.passes.memory.ledger import EXTRA, Row, listing, residents, size
from pypto_spec.passes.memory.planners.exact import installed
from pypto_spec.passes.stages.capacity import Overflow
from pypto_spec.passes.stages.groups import Group, loop_of
from pypto_spec.records import dataclass

ADVISED = (
    "an exact placement keeps all stages apart: `error: [PH-MR-001]` beside the loop, or in `diagnostics`, takes it"
)

NAMED = 3
"""Tiles beside the stages that get a label of their own."""


@dataclass(frozen=True, slots=True)
class _Beside:
    """What lives beside a group's largest tiles where the most is live: by how many bytes all is too much, and why.

    `gaps`: it is not too much as such, but every placement that was made leaves gaps.
    """

    rows: tuple[Row, ...]
    excess: int
    line: int | None
    why: str
    gaps: bool


def is_promoted(region: Region, group: Group, context: Context) -> bool:
    """Whether the author insists on the depth of a group."""
    loop = loop_of(region.body, group.number)
    return not context.trial and (_is_in(context.sink.promoted) or (loop is not None and _is_in(loop.insist)))


def is_heard(region: Region, group: Group, context: Context) -> bool:
    """Whether anybody is told of depth that a group lost."""
    loop = loop_of(region.body, group.number)
    silent = context.sink.disabled | region.allow | (loop.allow if loop is not None else frozenset())
    return is_promoted(region, group, context) or not _is_in(silent)


def _is_in(codes: frozenset[str]) -> bool:
    return not codes.isdisjoint({PIPELINE_DEPTH.code, PIPELINE_DEPTH.name})


def report_depth(
    region: Region,
    group: Group,
    achieved: int,
    context: Context,
    *,
    buffers: Mapping[str, Buffer],
    miss: Overflow | None = None,
    reserved: int = 0,
    exact: str = "",
) -> None:
    """Say that a group got `achieved` of its buffers, and what else lives there in the overflow that it gave way to.

    `exact` is what an exact search said of the whole depth, if asked.
    """
    loop = loop_of(region.body, group.number)
    requested, memory, slot = group.requested, group.memory.value, group.slot
    free = max(0, context.target.capacity[group.memory] - reserved)
    need = slot * requested
    bound = need > free
    beside = _beside(group, miss, buffers) if miss is not None else None
    after = f" after {size(reserved)} reserved" if reserved else ""
    apart = "one stage waits for the other" if achieved == 1 else f"stages {achieved} apart share storage and wait"
    notes = [
        f"the largest tile of a stage takes {size(slot)} in `{memory}` (group {group.number}); "
        f"{size(free)} are free{after}, so {apart}"
    ]
    if achieved > 1 and requested % achieved:
        notes.append(
            f"{requested} copies do not take turns evenly in {achieved} buffers: the last of a round and the first of "
            f"the next share one, so this can be slower than `stages: {achieved}`"
        )
    if beside is not None and beside.rows:
        where = f" at line {beside.line}" if beside.line is not None else ""
        notes.append(listing(f"beside them live in `{memory}`{where}:", beside.rows))
    if bound:
        excess = need - free
        helps = [
            f"{requested} stages need {size(need)} for it alone: make it at most {size(free // requested)}"
            f"{', and less with the tiles beside it' if beside is not None and beside.rows else ''}, or ask for fewer "
            "`stages`",
        ]
    else:
        excess = beside.excess if beside is not None else 0
        why = beside.why if beside is not None else "with what lives beside them"
        helps = [
            f"{requested} stages alone need {size(need)} and would fit; {why} `{memory}` overflows by {size(excess)}: "
            "make that smaller, use it earlier, or ask for fewer `stages`",
        ]
        if beside is not None and beside.gaps and not installed():
            helps.append(f"or install the exact search, which may still keep them apart: `{EXTRA}`")
    if exact:
        helps.append(exact)
    found = diagnose(
        PIPELINE_DEPTH,
        _place(loop, group, region),
        f"the pipeline asks for {requested} stages and gets {achieved}: in `{memory}` {achieved} of {requested} "
        f"buffers fit",
        label=f"{requested} requested, {achieved} achieved",
        secondary=[*_largest(group), *(_labels(beside.rows) if beside is not None and not bound else ())],
        notes=notes,
        helps=helps,
        figures=[
            ("requested", requested),
            ("achieved", achieved),
            ("group", group.number),
            ("region", region.name),
            ("space", memory),
            ("bytes_per_stage", slot),
            ("free_bytes", free),
            ("reserved_bytes", reserved),
            ("excess_bytes", excess),
            ("advice", "slot" if bound else "pressure"),
            *([("shrink_to_bytes", free // requested)] if bound else []),
        ],
    )
    allow = (loop.allow if loop is not None else frozenset()) | region.allow
    if loop is not None and _is_in(loop.insist) and not context.trial:
        found = replace(found, severity=Severity.ERROR)
    context.sink.emit(found, allow)


def place_of(region: Region, group: Group) -> Span:
    """Where the stages of a group are asked for."""
    return _place(loop_of(region.body, group.number), group, region)


def _place(loop: For | None, group: Group, region: Region) -> Span:
    if loop is not None:
        return loop.loc.field("stages")
    return group.first.loc.span if group.first is not None else region.loc.span


def _largest(group: Group) -> list[Label]:
    op = group.widest
    return [] if op is None else [Label(op.loc.span, f"{size(group.slot)} a stage")]


def _beside(group: Group, miss: Overflow, buffers: Mapping[str, Buffer]) -> _Beside:
    """The rows of the ledger without the group's largest tiles, largest first."""
    found = residents(miss.body, miss.problem, buffers)
    largest = group.widest.loc.span.start if group.widest is not None else None
    rows = [row for row in found.rows if row.life.first is None or row.life.first.loc.span.start != largest]
    at, capacity = found.at.loc.span.line if found.at else None, miss.problem.capacity
    if found.end > capacity:
        return _Beside(tuple(rows), found.end - capacity, at, "with what lives beside them", gaps=False)
    if miss.least > capacity:
        return _Beside(tuple(rows), miss.least - capacity, at, "with the other tiles that a stage keeps", gaps=False)
    return _Beside(tuple(rows), miss.end - capacity, at, "what lives at other times leaves gaps, and", gaps=True)


def _labels(rows: tuple[Row, ...]) -> list[Label]:
    firsts = [(row, row.life.first) for row in rows[:NAMED] if row.life.values]
    return [Label(op.loc.span, f"`{row.name}` takes {size(row.total)}") for row, op in firsts if op is not None]
