"""Advice on overflows: what is named fits, what is one step larger does not, and the number of plans is bounded."""

from __future__ import annotations

from typing import Any

import pytest

from pypto_spec.diagnostics.model import Diagnostic, Severity
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.advice import MOST_PLANS, candidates
from pypto_spec.driver.check import check_text
from pypto_spec.driver.compile import Compilation, compile_source
from pypto_spec.driver.knobs import stage_knobs
from pypto_spec.spec.load import load
from tests.cli.specs import OVERFLOW

LITERAL = """\
spec: v1
name: exponent
tensors:
  a: {dtype: fp32, shape: [256, 256]}
  out: {dtype: fp32, shape: [256, 256], access: out}
program:
  - region: exponent
    body:
      - load: {into: t, from: a, at: [0, 0], shape: [256, 256]}
      - exp: {into: y, x: t}
      - store: {from: y, to: out, at: [0, 0]}
"""

WIDE = """\
spec: v1
name: wide
constants: {N: 100000}
tensors:
  a: {dtype: fp32, shape: [16, N]}
  out: {dtype: fp32, shape: [1, N], access: out}
program:
  - region: wide
    body:
      - let: e = exp(a - row_max(a))
      - let: out = col_sum(e)
"""


TALL = """\
spec: v1
name: tall
constants: {TR: 512}
tensors:
  a: {dtype: fp32, shape: [TR, 128]}
  out: {dtype: fp32, shape: [TR, 128], access: out}
program:
  - region: tall
    body:
      - load: {into: t, from: a, at: [0, 0], shape: [TR, 128]}
      - exp: {into: y, x: t}
      - store: {from: y, to: out, at: [0, 0]}
"""


def helps(text: str, **defines: str) -> list[str]:
    (found,) = check_text(text, "k.yaml", defines)
    return list(found.helps)


def test_constant_of_the_tiles_is_named_not_the_size_of_the_problem() -> None:
    assert "`TR`: 96 -> 16 fits (needs 131072 B)" in helps(OVERFLOW)
    assert "`TR`: 192 -> 16 fits (needs 131072 B)" in helps(OVERFLOW, TR="192")


def test_constant_of_tiles_and_arguments_is_named_where_there_is_no_other() -> None:
    assert "`TR`: 512 -> 256 fits (needs 131072 B; the arguments become smaller with it)" in helps(TALL)


def test_literal_is_named_by_its_place() -> None:
    wanted = "`shape` of `load` in line 9, dimension 0: 256 -> 128 fits (needs 131072 B; a loop has to cover the rest)"
    assert wanted in helps(LITERAL)


def test_row_that_is_too_wide() -> None:
    (text,) = [h for h in helps(WIDE) if "fits" in h]
    assert text.startswith("`N`: 100000 -> ")
    value = text.split()[3]
    assert check_text(WIDE, "k.yaml", {"N": value}) == []


def test_miss_is_told_where_nothing_fits() -> None:
    text = OVERFLOW.replace("C: 1024", "C: 100000")
    assert any(h.startswith("even `TR`: 8 is ") for h in helps(text))


def test_plans_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0

    def counted(*args: Any, **kwargs: Any) -> Compilation:
        nonlocal calls
        calls += 1
        return compile_source(*args, **kwargs)

    monkeypatch.setattr("pypto_spec.driver.trials.compile_source", counted)
    helps(OVERFLOW)
    helps(WIDE)
    assert 2 < calls <= 2 * (MOST_PLANS + 1)


@pytest.mark.parametrize(
    ("value", "sizes", "expected"),
    [
        (96, [960, 1000], [8, 16, 24, 32, 40, 48, 64, 80]),
        (256, [256], [8, 16, 32, 64, 128]),
        (7, [], [1, 2, 3, 4, 5, 6]),
        (64, [], [8, 16, 24, 32, 40, 48, 56]),
        (2, [], [1]),
    ],
)
def test_candidates(value: int, sizes: list[int], expected: list[int]) -> None:
    found = candidates(value, sizes)
    assert found == sorted(found)
    assert found == expected


PIPELINE = """\
spec: v1
name: pipelined
constants: {DEPTH: 6, TR: 64}
tensors:
  a: {dtype: fp32, shape: [1024, 128]}
  out: {dtype: fp32, shape: [1024, 128], access: out}
program:
  - region: pipelined
    body:
      - pipeline: {index: i, count: 16, stages: DEPTH}
        body:
          - load: {into: t, from: a, at: [i * 64, 0], shape: [TR, 128]}
          - exp: {into: y, x: t}
          - store: {from: y, to: out, at: [i * 64, 0]}
"""


def errors(text: str, **defines: str) -> Diagnostic:
    """The overflow, and nothing beside it: what did not fit as a loop says nothing of stages."""
    (found,) = check_text(text, "k.yaml", defines)
    assert found.rule.code == "PS4001"
    return found


def test_a_pipeline_overflows_only_where_a_loop_does() -> None:
    text = PIPELINE.replace("count: 16", "count: 3072 // TR").replace("i * 64", "i * TR").replace("1024", "3072")
    found = errors(text, TR="384")
    assert errors(text, TR="384", DEPTH="1").message == found.message
    assert found.helps[0] == "8192 B (8 KiB) too much: use smaller tiles"
    assert "the 6 stages of the pipeline in line 10 share one buffer, like a loop without stages" in found.notes
    assert not any("DEPTH" in text or "`stages`" in text for text in found.helps)
    assert found.helps[1:] == ("`TR`: 384 -> 256 fits (needs 131072 B)",)
    assert not any(d.level is Severity.ERROR for d in check_text(text, "k.yaml", {"TR": "256"}))


@pytest.mark.parametrize("planner", ["pypto", "ptoas"])
def test_a_tile_beside_a_pipeline_costs_depth_and_no_more(planner: str) -> None:
    """Slots that do not fit beside what lives across the loop are not taken: copies can do with fewer."""
    text = PIPELINE.replace("tensors:", f"target: {{planner: {planner}}}\ntensors:", 1)
    text = text.replace("      - pipe", "      - load: {into: w, from: a, at: [0, 0], shape: [128, 128]}\n      - pipe")
    text += "      - store: {from: w, to: out, at: [0, 0]}\n"
    codes = {"PS2035", "PS5005"}  # what is not stored, and that the slots were declined
    (found,) = (d for d in check_text(text, "k.yaml", {"TR": "48"}) if d.rule.code not in codes)
    assert (found.rule.code, dict(found.figures)["achieved"]) == ("PH-MR-001", 5)
    assert any("`w`" in label.text for label in found.secondary)


def test_stages_that_are_one_or_not_around_it_are_no_way_out() -> None:
    root = load(Source("k.yaml", PIPELINE), "yaml")
    assert [knob.value for knob in stage_knobs(root, {(12, 13)})] == [6]
    assert stage_knobs(root, {(8, 5)}) == []
    flat = load(Source("k.yaml", PIPELINE.replace("DEPTH: 6", "DEPTH: 1")), "yaml")
    assert stage_knobs(flat, {(12, 13)}) == []


def test_a_let_that_names_no_size_is_told_the_constant_of_what_it_loads() -> None:
    text = """\
spec: v1
name: gated
constants: {R: 4096, C: 512, TR: 64}
tensors:
  x: {dtype: fp16, shape: [R, C]}
  y: {dtype: fp16, shape: [R, C]}
  out: {dtype: fp16, shape: [R, C], access: out}
program:
  - region: gated
    body:
      - pipeline: {index: i, count: R // TR, stages: 2}
        body:
          - load: {into: a, from: x, at: [i * TR, 0], shape: [TR, C]}
          - load: {into: b, from: y, at: [i * TR, 0], shape: [TR, C]}
          - let: z = silu(a) * b
          - store: {from: z, to: out, at: [i * TR, 0]}
"""
    assert errors(text).helps[1:] == ("`TR`: 64 -> 32 fits (needs 163840 B)",)
    assert not any(d.level is Severity.ERROR for d in check_text(text, "k.yaml", {"TR": "32"}))
