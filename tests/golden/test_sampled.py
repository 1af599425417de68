"""Goldens that run and compare a sample of their outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("torch")

from pypto_spec.diagnostics.span import Source
from pypto_spec.driver import test as driver
from pypto_spec.driver.inputs import Spec
from pypto_spec.driver.lower_check import check_passes
from pypto_spec.golden import sampled
from pypto_spec.golden.goldens import golden_test
from pypto_spec.golden.run import Outcome, Subject
from pypto_spec.golden.sampled import SampledRun, golden_run
from pypto_spec.golden.stores import Window, stores

ARRAYS = """\
spec: v1
name: mm
tensors:
  a:   {dtype: fp16, shape: [500, 96]}
  b:   {dtype: fp16, shape: [96, 720]}
  out: {dtype: fp32, shape: [500, 720], access: out}
program:
  - region: mm
    blocks: BLOCKS
    body:
      - let: out = matmul(a, b)
golden:
  expect: {out: FORMULA}
  sample: SAMPLE
"""

ROWS = """\
spec: v1
name: rows
symbols: {M: {min: 1, max: 400}}
tensors:
  x:   {dtype: fp32, shape: [M, 128]}
  out: {dtype: fp32, shape: [M, 128], access: ACCESS}
program:
  - parallel: {index: i, count: "ceil_div(M, 16)"}
    body:
      - region: rows
        body:
          - load: {into: t, from: x, at: [i * 16, 0], shape: [16, 128], valid: ["min(16, M - i * 16)", 128]}
          - let: y = exp(t)
          - store: {from: y, to: out, at: [AT, 0]ATOMIC}
golden:
  sizes: [{M: 16}, {M: 390}]
  expect: {out: exp(x)}
  inputs: {x: {min: -2, max: 2}}
  sample: 1
"""


def arrays(blocks: object = "auto", sample: int = 1, formula: str = "matmul(a, b)") -> str:
    text = ARRAYS
    for word, value in (("BLOCKS", blocks), ("SAMPLE", sample), ("FORMULA", f'"{formula}"')):
        text = text.replace(word, str(value))
    return text


def rows(access: str = "out", at: str = "i * 16", atomic: str = "") -> str:
    return ROWS.replace("ACCESS", access).replace("ATOMIC", atomic).replace("AT", at)


def compiled(text: str) -> driver.Tested:
    (made,) = driver.prepare([Spec(Source("mm.yaml", text), "yaml", text.encode())], {}, 1)
    return made


def subject(text: str) -> Subject:
    made = compiled(text)
    assert made.subject is not None, [d.message for d in made.findings]
    return made.subject


def outcome(text: str) -> Outcome:
    return golden_test(subject(text))


@pytest.mark.parametrize("blocks", ["auto", 3, 24])
@pytest.mark.parametrize("sample", [1, 2, 1000])
def test_a_sample_is_run_and_said(blocks: object, sample: int) -> None:
    found = outcome(arrays(blocks, sample))
    assert (found.ok, found.runs, found.label) == (True, 5, "golden"), (found.error, found.faults, found.differences)
    assert found.sampled is not None
    assert 0 < found.sampled <= 1
    assert (found.sampled == 1) == (sample == 1000 or blocks == 3)


def test_run_time_sizes_and_tails() -> None:
    found = outcome(rows())
    assert found.ok, (found.error, found.faults, found.differences)
    assert found.runs == 10
    assert found.sampled is not None
    assert 0 < found.sampled < 0.5


def test_only_the_blocks_of_the_sample_run(monkeypatch: pytest.MonkeyPatch) -> None:
    one = subject(arrays(24, 2))
    seen: list[tuple[int, Sequence[int]]] = []
    run = type(one.library).run

    def watched(self: Any, *args: Any, **words: Any) -> Any:
        seen.append((words["blocks"], words["only"]))
        return run(self, *args, **words)

    monkeypatch.setattr(type(one.library), "run", watched)
    assert golden_test(one).ok
    assert all(1 <= len(only) <= 2 for _, only in seen)
    assert len({tuple(only) for _, only in seen}) > 1, "each schedule draws its own"


def test_a_wrong_formula_is_found_where_the_sample_is() -> None:
    found = outcome(arrays(24, 2, "matmul(a, b) + 1"))
    assert found.differences
    first = found.differences[0]
    assert abs(first.found + 1 - first.expected) < 1e-3
    assert first.total < 500 * 720
    run = golden_run(subject(arrays(24, 2)), {}, 0)
    assert isinstance(run, SampledRun)
    run.run(0, 3)
    assert any(all(a <= i < a + n for i, a, n in zip(first.index, w.at, w.shape, strict=True)) for w in run.windows)


def cut(found: Mapping[int, Sequence[Window]], columns: int) -> dict[int, list[Window]]:
    return {b: [replace(w, shape=(w.shape[0], w.shape[1] - columns)) for w in ws] for b, ws in found.items()}


def test_what_is_written_beside_the_sample_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a kernel that stores more than the program says would."""
    run = golden_run(subject(arrays(24, 2)), {}, 0)
    monkeypatch.setattr(sampled, "stores", lambda *args: cut(stores(*args), 1))
    monkeypatch.setattr(SampledRun, "_check_cover", lambda *args: None)
    _, faults = run.run(0, 3)
    assert [f.finding.kind for f in faults] == ["outside-sample"]
    assert "where no block that ran stores anything" in faults[0].finding.message


def test_what_nothing_stores_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    one = subject(arrays(24, 2))
    monkeypatch.setattr(sampled, "stores", lambda *args: cut(stores(*args), 1))
    error = golden_test(one).error
    assert error is not None
    assert "no block stores element" in error


TWO = arrays().replace(
    "program:\n", "program:\n  - region: first\n    body:\n      - let: out = full([500, 720], 0, dtype=fp32)\n"
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TWO, "several launches"),
        (arrays().replace("  expect: {out: \"matmul(a, b)\"}\n", ""), "`out` has none"),
        (rows("inout", "0", ", atomic: add").replace("{M: 16}, ", ""), "both store to `out`"),
    ],
)  # fmt: skip
def test_what_cannot_be_sampled(text: str, said: str) -> None:
    found = outcome(text)
    assert found.error is not None
    assert said in found.error
    assert found.error.startswith("golden.sample: ")
    assert found.way_out


@pytest.mark.parametrize("sample", ["0", "-1", "x", "1.5"])
def test_what_a_sample_may_be(sample: str) -> None:
    made = compiled(arrays().replace("sample: 1", f"sample: {sample}"))
    assert made.subject is None
    assert made.findings


def test_checking_passes_says_that_it_computes_all() -> None:
    text = arrays()
    checked = check_passes(Spec(Source("mm.yaml", text), "yaml", text.encode()))
    (only,) = [d for d in checked.findings if d.rule.code == "PS7032"]
    assert "sampled" in only.message
    assert only.primary.span.line == 14
