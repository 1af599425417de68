"""What `tune` prints: candidates by place, those that are no candidates, and the winner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from math import prod

from pypto_spec.driver.tune import Tuning
from pypto_spec.driver.tuning.candidate import Candidate, Modelled, Refused
from pypto_spec.ir.types import Memory
from pypto_spec.report.timeline.text import NOTE, busiest, makespan, sizes
from pypto_spec.targets import TARGETS

NAMED = 3
"""Candidates that are named where many have one reason."""

_GOLDEN = {True: "ok", False: "failed", None: "-"}


def text(tuning: Tuning, rows: int) -> str:
    """The table with `rows` candidates and reasons (0 for all), and what there is to say of them and the winner."""
    return "\n".join([*_table(tuning, rows), *_refused(tuning, rows), *_failed(tuning), *_end(tuning)]) + "\n"


def _table(tuning: Tuning, rows: int) -> Iterator[str]:
    ranking = tuning.ranking
    total = len(ranking.ranked) + len(ranking.refused)
    if not ranking.ranked:
        yield f"{tuning.spec.title}: {total:,} candidates, none to rank"
        return
    timeline = ranking.ranked[0].figures.timeline
    by = "modelled cycles for each element of output" if ranking.resized else "modelled makespan"
    yield (
        f"{tuning.spec.title}: {len(ranking.ranked):,} of {total:,} candidates ranked by {by} on {timeline.platform} "
        f"at {timeline.clock_mhz:,} MHz"
    )
    shown = list(ranking.ranked[: rows or None])
    current = tuning.current
    if isinstance(current.result, Modelled) and current not in shown:
        shown.insert(min(ranking.place(current) - 1, len(shown)), current)
    deep = any(c.figures.depths for c in shown)
    head = ["place", *tuning.space.names, "modelled makespan", *(["per element"] if ranking.resized else []),
            "busiest pipe", "on chip", *(["depth"] if deep else []), "golden", ""]  # fmt: skip
    lines = [head, *(_row(tuning, c, deep) for c in shown)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    for line in lines:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
    left = len(ranking.ranked) - sum(c in ranking.ranked for c in shown)
    if left:
        yield f"  {left:,} more: --rows 0 shows all"


def _row(tuning: Tuning, candidate: Candidate, deep: bool) -> list[str]:
    figures = candidate.figures
    ranking = tuning.ranking
    timeline = figures.timeline
    known = candidate in ranking.ranked
    marks = [word for word, it in (("best", tuning.winner), ("current", tuning.current)) if it is candidate]
    return [
        f"{ranking.place(candidate)}" if known else "-",
        *(_value(value) for value in candidate.values),
        makespan(timeline, timeline.clock_mhz, timeline.complete),
        *([f"{float(figures.per_element):.4f}"] if ranking.resized else []),
        busiest(timeline),
        on_chip(figures.memory, timeline.platform),
        *([depths(figures)] if deep else []),
        _GOLDEN[candidate.golden],
        ", ".join(marks),
    ]


def on_chip(memory: Mapping[str, int], platform: str) -> str:
    """`vec 131,072 of 188,416 B`."""
    capacity = TARGETS[platform].capacity
    return ", ".join(f"{name} {used:,} of {capacity[Memory(name)]:,} B" for name, used in memory.items() if used) or "-"


def depths(figures: Modelled) -> str:
    """`4/3` where four stages were asked for and three got buffers."""
    return ", ".join(dict.fromkeys(f"{d.requested}/{d.achieved}" for d in figures.depths)) or "-"


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def named(tuning: Tuning, candidate: Candidate) -> str:
    """`TR=64 stages=2`."""
    pairs = zip(tuning.space.names, candidate.values, strict=True)
    return " ".join(f"{name}={_value(value)}" for name, value in pairs)


def _refused(tuning: Tuning, rows: int) -> Iterator[str]:
    def reason(candidate: Candidate) -> tuple[str, str]:
        assert isinstance(candidate.result, Refused)
        return candidate.result.code, candidate.result.reason

    refused = tuning.ranking.refused
    if not refused:
        return
    yield f"  {len(refused):,} that give no program, or one that does less:"
    order = {pair: place for place, pair in reversed([*enumerate(map(reason, refused))])}
    groups = groupby(sorted(refused, key=lambda c: order[reason(c)]), reason)
    lines = [f"    {code} {_some(tuning, list(group))}: {why}" for (code, why), group in groups]
    yield from lines[: rows or None]
    if rows and len(lines) > rows:
        yield f"    {len(lines) - rows:,} more reasons: --rows 0 shows all"


def _some(tuning: Tuning, candidates: Sequence[Candidate]) -> str:
    """Candidates in short: as `-D` takes them where they are all combinations of some values, else the first ones."""
    columns = [dict.fromkeys(map(_value, column)) for column in zip(*(c.values for c in candidates), strict=True)]
    if prod(map(len, columns)) == len(candidates):
        pairs = zip(tuning.space.names, columns, strict=True)
        return " ".join(f"{name}={','.join(values)}" for name, values in pairs)
    few = candidates[:NAMED]
    return ", ".join(named(tuning, c) for c in few) + f" and {len(candidates) - len(few):,} more"


def _failed(tuning: Tuning) -> Iterator[str]:
    failed = [c for c in tuning.ranking.ranked if c.golden is False]
    if failed:
        yield "  goldens that failed:"
    for candidate in failed:
        assert candidate.said is not None
        yield f"    {candidate.said.code} {named(tuning, candidate)}: {candidate.said.reason}"


def _end(tuning: Tuning) -> Iterator[str]:
    ranking, winner, current = tuning.ranking, tuning.winner, tuning.current
    some = winner or (ranking.ranked[0] if ranking.ranked else None)
    if some is not None and some.figures.timeline.sizes:
        yield f"  modelled for {sizes(some.figures.timeline)}"
    if some is not None:
        yield from (f"  assumed: {line}" for line in some.figures.timeline.assumptions)
    if ranking.resized:
        which = ", ".join(f"`{name}`" for name in ranking.resizing) or "the candidates"
        yield (
            f"  the arguments change with {which}, so cycles for each element of output are compared; to compare equal "
            "work, give the extents a constant of their own and make the count `R // TR`"
        )
    if tuning.why is not None:
        yield f"no winner: {tuning.why}"
    elif winner is not None:
        yield f"best: {named(tuning, winner)}{_gain(tuning, winner, current)}"
    if ranking.ranked:
        yield NOTE


def _gain(tuning: Tuning, winner: Candidate, current: Candidate) -> str:
    if winner is current:
        return ", the current values"
    mine = f"; the current values ({named(tuning, current)})"
    if isinstance(current.result, Refused):
        return f"{mine} give no program: {current.result.code}"
    ranking = tuning.ranking
    if not current.figures.timeline.complete:
        return f"{mine} cannot be modelled to their end"
    if ranking.resized:
        ratio = current.figures.per_element / winner.figures.per_element
    else:
        ratio = current.figures.per_element * current.figures.elements / winner.figures.timeline.cycles
    known = current in ranking.ranked
    if not known and ratio < 1:
        return f"{mine} are no candidate and better than all of them: modelled {float(ratio):.2f} times as long"
    place = f"are at place {ranking.place(current):,} of {len(ranking.ranked):,}" if known else (
        f"are no candidate and would be at place {ranking.place(current):,}"
    )  # fmt: skip
    return f"{mine} {place}: modelled {float(ratio):.2f} times as long"
