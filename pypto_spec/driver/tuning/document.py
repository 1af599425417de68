"""What `tune --format json` prints, and the file of defines that it writes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final

from pypto_spec.driver.defines import ENDING, defines_text
from pypto_spec.driver.inputs import STDIN, Spec, UsageError
from pypto_spec.driver.tune import Tuning
from pypto_spec.driver.tuning.candidate import Candidate, Modelled
from pypto_spec.report.timeline.text import NOTE, makespan
from pypto_spec.spec.formula.constants import NAME
from pypto_spec.spec.load import load
from pypto_spec.spec.tree import ScalarNode

VERSION: Final = 1
"""Raised when a field changes its meaning or goes; a new field does not raise it."""

SCHEMA: Final = Path(__file__).with_name("tune.schema.json")
"""JSON Schema of what `document_text` returns."""

WRITER: Final = "written by `pypto-spec tune`"
"""What the first line of a file that `tune` wrote begins with."""


def document_text(tuning: Tuning, file: str | None) -> str:
    """All candidates with their figures; `file` is where the winner was written."""
    ranking, current = tuning.ranking, tuning.current
    ranked = [*ranking.ranked]
    figures = ranked[0].figures if ranked else None
    plain = {
        "tune": VERSION,
        "modelled": True,
        "note": NOTE,
        "spec": tuning.spec.name,
        "variant": tuning.spec.variant,
        "sha256": tuning.spec.sha256,
        "platform": figures.timeline.platform if figures is not None else None,
        "clock_mhz": figures.timeline.clock_mhz if figures is not None else None,
        "sizes": dict(figures.timeline.sizes) if figures is not None else {},
        "ranked_by": "cycles per element of output" if ranking.resized else "makespan",
        "resized_by": list(ranking.resizing),
        "axes": {axis.name: list(axis.values) for axis in tuning.space.axes},
        "fixed": dict(tuning.space.fixed),
        "winner": tuning.defines(tuning.winner) if tuning.winner is not None else None,
        "no_winner": tuning.why,
        "file": file,
        "current": {"candidate": current in ranked or current in ranking.refused, **_candidate(tuning, current)},
        "candidates": [_candidate(tuning, candidate) for candidate in (*ranked, *ranking.refused)],
    }
    return json.dumps(plain, indent=2, ensure_ascii=False) + "\n"


def _candidate(tuning: Tuning, candidate: Candidate) -> dict[str, Any]:
    values = dict(zip(tuning.space.names, candidate.values, strict=True))
    golden = {None: None, True: "ok", False: "failed"}[candidate.golden]
    said = candidate.said
    result = candidate.result
    if not isinstance(result, Modelled):
        return {"values": values, "code": result.code, "reason": result.reason}
    timeline = result.timeline
    return {
        "values": values,
        "place": tuning.ranking.place(candidate) if candidate in tuning.ranking.ranked else None,
        "makespan_cycles": timeline.cycles,
        "makespan_us": round(timeline.microseconds, 3),
        "complete": timeline.complete,
        "cycles_per_element": round(float(result.per_element), 6),
        "busiest_pipe": timeline.busiest,
        "busiest_share": round(timeline.share, 4),
        "on_chip_bytes": dict(result.memory),
        "depths": [{"requested": d.requested, "achieved": d.achieved, "memory": d.memory} for d in result.depths],
        "golden": golden,
        **({"golden_code": said.code, "golden_reason": said.reason} if said is not None else {}),
    }


def defines_path(spec: Spec) -> str:
    """Where the winner is written by default: NAME.defines. Raises UsageError where somebody else wrote that.

    Raises CompileError where the spec cannot be read.
    """
    name = load(spec.source, spec.format).get("name")
    word = name.text if isinstance(name, ScalarNode) and NAME.match(name.text) else "tuned"
    path = f"{word}__{spec.variant}{ENDING}" if spec.variant is not None else f"{word}{ENDING}"
    if os.path.lexists(path):
        try:
            with open(path, "rb") as file:
                mine = file.readline().startswith(f"# {WRITER}".encode())
        except OSError:
            mine = False
        if not mine:
            raise UsageError(f"{path} is there and `tune` did not write it; name another file with -o FILE")
    return path


def winner_text(tuning: Tuning) -> str:
    """The winner as a file of defines that says where it comes from. It depends on the spec's bytes alone."""
    winner = tuning.winner
    assert winner is not None
    timeline = winner.figures.timeline
    time = makespan(timeline, timeline.clock_mhz)
    name = "standard input" if tuning.spec.name == STDIN else os.path.basename(tuning.spec.name)
    key = f" [{tuning.spec.variant}]" if tuning.spec.variant is not None else ""
    golden = "its golden is good on the host model" if winner.golden else "its golden was not run"
    return defines_text(
        tuning.defines(winner),
        [
            f"{WRITER} for {timeline.program}: modelled {time} on {timeline.platform}; {golden}",
            f"of {' '.join(name.split())}{key}, sha256 {tuning.spec.sha256}",
        ],
    )
