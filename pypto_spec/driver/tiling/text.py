"""What `explain-tiling` prints: the tile, the cheapest tile of every form term by term, and why not the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pypto_spec.driver.tiling.divided import Divided, lines
from pypto_spec.driver.tiling.subject import Subject, runners_up
from pypto_spec.driver.tiling.words import OPEN, cost, form_name, reason, schedule, tile
from pypto_spec.passes.l0.choice import Choice, Why
from pypto_spec.passes.l0.problem import Problem
from pypto_spec.passes.l0.refusals import Refusal
from pypto_spec.passes.l0.room import footprint
from pypto_spec.passes.l0.search import Candidate
from pypto_spec.report.timeline.text import NOTE

FORMULA = (
    "wall = work + drain, where work = max(load A + load B, mad);",
    "with 2 accumulators wall = max(work, drain) + min(work, drain) / tiles",
)
"""How the terms make the wall, in short; `docs/tiling.md` has the terms."""

_HEAD = ("stays", "acc", "m x n x k", "tiles", "K blocks", "kept", "load A", "load B", "mad", "drain", "wall")
_WORDS = frozenset({"stays", "m x n x k", "tiles", "kept"})
"""Columns that begin at the left."""


def text(subjects: Iterable[Subject | Divided], most: int = 0) -> str:
    """All matmuls; `most` is how many next best tiles of the winner's form are shown beside it."""
    parts = ["\n".join(lines(s) if isinstance(s, Divided) else _matmul(s, most)) for s in subjects]
    return "\n\n".join(parts) + f"\n{NOTE}\n"


def _matmul(subject: Subject, most: int) -> Iterator[str]:
    yield _title(subject)
    choice = subject.choice
    if isinstance(choice, Refusal):
        yield f"  not cut [{choice.code}]: {choice.text}"
        yield f"  help: {choice.help}"
        return
    yield from _result(choice)
    if subject.built is not None:
        yield f"  built as {' x '.join(map(str, subject.built.tile))}: {subject.built.why}"
    yield from _table(choice, runners_up(choice, most))
    yield from (f"  {line}" for line in FORMULA)
    yield from _others(choice, subject.kept)


def _others(choice: Choice, kept: str) -> Iterator[str]:
    """Why the other forms were not taken; `kept` says why two accumulators could not be had either."""
    others = [c for c in choice.forms if c.form != choice.winner.form]
    width = max(len(form_name(c.form)) for c in others)
    yield "  not taken:"
    yield from (f"    {form_name(c.form):{width}}  {reason(choice, c)}" for c in others)
    if any(c.verdict.why is Why.GATE_OFF for c in others):
        yield f"  two accumulators cannot be had: {kept}" if kept else f"  help: for two accumulators, {OPEN}"


def _title(subject: Subject) -> str:
    problem = subject.problem
    name = f"{subject.where}: " if subject.where is not None else ""
    m, n, k = problem.asked
    return (
        f"{name}[{m}, {k}] @ [{k}, {n}] of {problem.dtype}, added up in {problem.acc}, on {subject.platform}, "
        f"planner {subject.planner}"
    )


def _result(choice: Choice) -> Iterator[str]:
    problem, winner = choice.problem, choice.winner
    if problem.is_padded:
        shape = f"[{problem.m}, {problem.k}] @ [{problem.k}, {problem.n}]"
        yield f"  padded to {shape}: {_useless(problem)} of the work is padding"
    if choice.is_tiled:
        yield f"  tile {tile(winner)}, {form_name(winner.form)}: {cost(winner)}"
        yield f"  {schedule(winner)}; {choice.legal:,} tiles fit"
    else:
        yield f"  nothing is cut, {tile(winner)} fits as one tile: {cost(winner)}"
    used = footprint(problem, winner.form, *winner.tile)
    yield "  " + ", ".join(f"{b.memory.value} {b.count} x {b.bytes:,} of {b.available:,} B" for b in used)


def _useless(problem: Problem) -> str:
    m, n, k = problem.asked
    return f"{100 * (1 - m * n * k / (problem.m * problem.n * problem.k)):.1f} %"


def _table(choice: Choice, runners: Sequence[Candidate]) -> Iterator[str]:
    rows: list[tuple[str, ...]] = [("", *_HEAD)]
    for considered in choice.forms:
        taken = considered.form == choice.winner.form
        name = (considered.form.stationary.value, "2" if considered.form.double else "1")
        best = considered.best
        rows.append(("*" if taken else "", *name, *(_cells(best) if best is not None else ("-",))))
        if taken:
            rows += [("", "next", "", *_cells(runner)) for runner in runners]
    heads = ("", *_HEAD)
    widths = [max(len(row[column]) for row in rows if column < len(row)) for column in range(len(heads))]
    for row in rows:
        cells = [
            cell.ljust(width) if not head or head in _WORDS else cell.rjust(width)
            for cell, width, head in zip(row, widths, heads, strict=False)
        ]
        yield "  " + "  ".join(cells).rstrip()


def _cells(it: Candidate) -> tuple[str, ...]:
    terms = it.terms
    return (
        tile(it),
        f"{it.rows} x {it.columns}",
        f"{it.blocks}",
        it.kept.value if it.kept is not None else "-",
        f"{terms.load.a:,.1f}",
        f"{terms.load.b:,.1f}",
        f"{terms.mad:,}",
        f"{terms.drain:,.1f}",
        f"{terms.wall:,}",
    )
