"""What `explain-tiling --format json` prints."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from pypto_spec.driver.tiling.divided import Divided
from pypto_spec.driver.tiling.divided import plain as plain_of
from pypto_spec.driver.tiling.subject import Subject, runners_up
from pypto_spec.driver.tiling.words import reason
from pypto_spec.passes.l0.choice import Choice, Considered
from pypto_spec.passes.l0.refusals import Refusal
from pypto_spec.passes.l0.room import footprint
from pypto_spec.passes.l0.search import Candidate
from pypto_spec.report.timeline.text import NOTE

VERSION: Final = 1
"""Raised when a field changes its meaning or goes; a new field does not raise it."""

SCHEMA: Final = Path(__file__).with_name("tiling.schema.json")
"""JSON Schema of what `document_text` returns."""


def document_text(subjects: Iterable[Subject | Divided], most: int = 0) -> str:
    """All matmuls; `most` is how many next best tiles of the winner's form are listed."""
    listed = list(subjects)
    plain = {
        "explain-tiling": VERSION,
        "modelled": True,
        "note": NOTE,
        "matmuls": [_matmul(subject, most) for subject in listed if isinstance(subject, Subject)],
        "divided": [plain_of(subject) for subject in listed if isinstance(subject, Divided)],
    }
    return json.dumps(plain, indent=2, ensure_ascii=False) + "\n"


def _matmul(subject: Subject, most: int) -> dict[str, Any]:
    problem, choice = subject.problem, subject.choice
    return {
        "where": subject.where,
        "platform": subject.platform,
        "planner": subject.planner,
        "two_accumulators_open": problem.double,
        "shape": dict(zip("mnk", problem.asked, strict=True)),
        "padded": dict(zip("mnk", problem.shape, strict=True)) if problem.is_padded else None,
        "dtype": problem.dtype.name,
        "acc": problem.acc.name,
        "built": None
        if subject.built is None
        else {"tile": dict(zip("mnk", subject.built.tile, strict=True)), "why": subject.built.why},
        **(_refused(choice) if isinstance(choice, Refusal) else _chosen(choice, most)),
    }


def _refused(refusal: Refusal) -> dict[str, Any]:
    said = {"code": refusal.code, "reason": refusal.reason.value, "text": refusal.text, "help": refusal.help}
    return {"refused": said, "tiled": False, "legal": 0, "winner": None, "buffers": {}, "forms": [], "next": []}


def _chosen(choice: Choice, most: int) -> dict[str, Any]:
    return {
        "refused": None,
        "tiled": choice.is_tiled,
        "legal": choice.legal,
        "winner": _candidate(choice.winner),
        "buffers": _buffers(choice),
        "forms": [_form(choice, considered) for considered in choice.forms],
        "next": [_candidate(runner) for runner in runners_up(choice, most)],
    }


def _buffers(choice: Choice) -> dict[str, Any]:
    used = footprint(choice.problem, choice.winner.form, *choice.winner.tile)
    return {b.memory.value: {"count": b.count, "bytes": b.bytes, "available": b.available} for b in used}


def _form(choice: Choice, it: Considered) -> dict[str, Any]:
    return {
        "stationary": it.form.stationary.value,
        "accumulators": 2 if it.form.double else 1,
        "legal": it.legal,
        "longest_k": it.verdict.longest_k,
        "why": it.verdict.why.value,
        "more_cycles": it.verdict.cycles,
        "reason": reason(choice, it),
        "best": _candidate(it.best) if it.best is not None else None,
    }


def _candidate(it: Candidate) -> dict[str, Any]:
    terms = it.terms
    return {
        "m": it.m,
        "n": it.n,
        "k": it.k,
        "rows": it.rows,
        "columns": it.columns,
        "k_blocks": it.blocks,
        "stationary": it.form.stationary.value,
        "accumulators": 2 if it.form.double else 1,
        "kept": it.kept.value if it.kept is not None else None,
        "moves": it.moves.value if it.moves is not None else None,
        "load_a_cycles": round(terms.load.a, 3),
        "load_b_cycles": round(terms.load.b, 3),
        "mad_cycles": terms.mad,
        "drain_cycles": round(terms.drain, 3),
        "wall_cycles": terms.wall,
    }
