"""PH-MR-001 of products in pipelines against what PyPTO reported of them, row by row."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import pytest

from tests.passes.tiling_programs import Run, spec

DATA = Path(__file__).parent / "data" / "oracle_pipeline_depth.csv"
"""PyPTO on a2a3, a pipeline over blocks 2 to 9 of K: `achieved` buffers of `bytes_per_stage` in `space`."""

with DATA.open(encoding="utf-8", newline="") as file:
    ROWS = list(csv.DictReader(file))

CASES: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
for _row in ROWS:
    CASES[tuple(_row[c] for c in ("m", "k", "n", "dtype", "stages"))].append(_row)

BODY = """\
- load: {{into: a0, from: a, at: [0, 0], shape: [{m}, {k}]}}
- load: {{into: b0, from: b, at: [0, 0], shape: [{k}, {n}]}}
- matmul: {{into: c, lhs: a0, rhs: b0}}
- pipeline: {{index: kb, range: [1, 9], stages: {stages}}}
  body:
    - load: {{into: a1, from: a, at: [0, kb * {k}], shape: [{m}, {k}]}}
    - load: {{into: b1, from: b, at: [kb * {k}, 0], shape: [{k}, {n}]}}
    - matmul_acc: {{into: c, acc: c, lhs: a1, rhs: b1}}
- store: {{from: c, to: out, at: [0, 0]}}
"""


def test_all_rows_are_here() -> None:
    assert len(ROWS) == 23


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_depth(case: tuple[str, ...]) -> None:
    m, k, n, dtype, stages = case
    body = BODY.format(m=m, k=k, n=n, stages=stages)
    run = Run(spec((int(m), int(n), 9 * int(k)), dtype, body=body), after="MemoryReuse")
    found = {str(dict(d.figures)["space"]): dict(d.figures) for d in run.found if d.rule.code == "PH-MR-001"}
    wanted = {row["space"]: row for row in CASES[case] if row["advice"] != "none"}
    in_l0 = {space: figures for space, figures in found.items() if space in ("left", "right")}
    assert in_l0.keys() == wanted.keys()
    for space, figures in in_l0.items():
        row = wanted[space]
        given = {key: str(figures[key]) for key in ("achieved", "bytes_per_stage", "free_bytes", "advice")}
        assert given == {key: row[key] for key in given}
        assert str(figures["shrink_to_bytes"]) == row["shrink_to_bytes"]
