"""PH-MR-001: a pipeline that did not get a buffer for each of its stages, with the figures and the way out."""

from __future__ import annotations

from dataclasses import replace

from pypto_spec.diagnostics.model import Label, Severity, diagnose
from pypto_spec.diagnostics.rules.hints import PIPELINE_DEPTH
from pypto_spec.diagnostics.span import Span
from pypto_spec.ir.nodes import For, Region
from pypto_spec.passes.base import Context
from pypto_spec.passes.memory.ledger import size
from pypto_spec.passes.stages.groups import Group, loop_of

ADVISED = (
    "an exact placement keeps all stages apart: `error: [PH-MR-001]` beside the loop, or in `diagnostics`, takes it"
)


def is_promoted(region: Region, group: Group, context: Context) -> bool:
    """Whether the author insists on the depth of a group."""
    loop = loop_of(region.body, group.number)
    return _is_in(context.sink.promoted) or (loop is not None and _is_in(loop.insist))


def _is_in(codes: frozenset[str]) -> bool:
    return not codes.isdisjoint({PIPELINE_DEPTH.code, PIPELINE_DEPTH.name})


def report_depth(
    region: Region, group: Group, achieved: int, context: Context, *, reserved: int = 0, exact: str = ""
) -> None:
    """Say that a group got `achieved` buffers; `exact` is what an exact search said of the whole depth, if asked."""
    loop = loop_of(region.body, group.number)
    requested, memory, slot = group.requested, group.memory.value, group.slot
    free = max(0, context.target.capacity[group.memory] - reserved)
    need = slot * requested
    bound = need > free
    after = f" after {size(reserved)} reserved" if reserved else ""
    apart = "one stage waits for the other" if achieved == 1 else f"stages {achieved} apart share storage and wait"
    notes = [
        f"each stage keeps up to {size(slot)} to itself in `{memory}` (group {group.number}); "
        f"{size(free)} are free{after}, so {apart}"
    ]
    if bound:
        helps = [
            f"{requested} stages need {size(need)}: make what one stage keeps at most {size(free // requested)}, "
            f"or write `stages: {achieved}`",
        ]
    else:
        helps = [
            f"{requested} stages would fit alone ({size(need)}), but other tiles live in `{memory}` beside them: make "
            f"those smaller or fewer, or write `stages: {achieved}`",
        ]
    if exact:
        helps.append(exact)
    found = diagnose(
        PIPELINE_DEPTH,
        _place(loop, group, region),
        f"the pipeline asks for {requested} stages and gets {achieved}: in `{memory}` {achieved} of {requested} "
        f"buffers fit",
        label=f"{requested} requested, {achieved} achieved",
        secondary=_largest(group),
        notes=notes,
        helps=helps,
        figures=[
            ("requested", requested),
            ("achieved", achieved),
            ("group", group.number),
            ("space", memory),
            ("bytes_per_stage", slot),
            ("free_bytes", free),
            ("reserved_bytes", reserved),
            ("advice", "slot" if bound else "pressure"),
            *([("shrink_to_bytes", free // requested)] if bound else []),
        ],
    )
    if loop is not None and _is_in(loop.insist):
        found = replace(found, severity=Severity.ERROR)
    context.sink.emit(found, (loop.allow if loop is not None else frozenset()) | region.allow)


def _place(loop: For | None, group: Group, region: Region) -> Span:
    if loop is not None:
        return loop.loc.field("stages")
    return group.first.loc.span if group.first is not None else region.loc.span


def _largest(group: Group) -> list[Label]:
    op = group.widest
    return [] if op is None else [Label(op.loc.span, f"{size(group.slot)} a stage")]
