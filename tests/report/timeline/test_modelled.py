"""Timelines of whole programs: sizes, waves, launches, what is assumed, and the texts that are made of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from pypto_spec.report.timeline import Timeline, modelled
from pypto_spec.report.timeline.text import lines, timeline_json, timeline_text
from pypto_spec.targets import A2A3, A5
from tests.report.timeline.programs import buffered, compiled

GALLERY = Path(__file__).parents[3] / "specs"

ROWS = """\
spec: v1
name: rows
symbols: {M: {min: 1, max: 4096}}
tensors:
  x:   {dtype: fp32, shape: [M, 128]}
  out: {dtype: fp32, shape: [M, 128], access: out}
program:
  - spmd: {index: b, blocks: auto}
    body:
      - region: rows
        body:
          - for: {index: i, range: [b, "(M + 63) // 64", num_blocks()]}
            body:
              - load: {into: t, from: x, at: [i * 64, 0], shape: [64, 128], valid: ["min(64, M - i * 64)", 128]}
              - exp: {into: y, x: t}
              - store: {from: y, to: out, at: [i * 64, 0]}
"""


def of(text: str, sizes: Mapping[str, int] | None = None) -> Timeline:
    return modelled(compiled(text), A2A3, sizes=sizes)


def test_two_buffers_hide_what_one_has_to_wait_for() -> None:
    one, two = of(buffered(1)), of(buffered(2))
    assert {**one.busy, "s": 0} == {**two.busy, "s": 0}
    assert (one.bound_by, two.bound_by) == ("waits", "mte2")
    # load 774, exp 287, store 407, and a cycle for each flag: one after the other, against the load alone
    assert 32 * (774 + 287 + 407) <= one.cycles < 32 * (774 + 287 + 407 + 10)
    assert 32 * (774 + 2) <= two.cycles < 33 * (774 + 2) + 287 + 407


def test_what_is_compile_time_is_said_to_be() -> None:
    made = of(buffered(1))
    assert (made.sizes, made.sizes_from, made.complete, made.assumptions) == ({}, "compile time", True, ())
    assert made.microseconds == made.cycles / 1850


def test_sizes_are_given_or_the_goldens_or_bounds() -> None:
    bounds = of(ROWS)
    assert (bounds.sizes, bounds.sizes_from) == ({"M": 4096}, "bounds")
    golden = of(ROWS + "golden: {expect: {out: exp(x)}, sizes: [{M: 70}, {M: 1}]}\n")
    assert (golden.sizes, golden.sizes_from) == ({"M": 70}, "golden")
    given = of(ROWS, {"M": 70})
    assert (given.sizes_from, given.cycles) == ("given", golden.cycles)
    assert bounds.cycles > given.cycles


def test_blocks_run_in_waves_and_share_what_gm_gives() -> None:
    one, full, waves = (of(ROWS.replace("auto", f"{n}"), {"M": 64 * n}) for n in (1, 48, 96))
    (last,) = waves.kernels
    assert (last.blocks, last.waves) == (96, 2)
    assert waves.cycles == 2 * full.cycles
    assert full.cycles - one.cycles == (2048 - 560) + (763 - 300)


def test_the_longest_block_counts() -> None:
    made = of(ROWS, {"M": 64 * 48 + 1})
    assert made.busy["v"] == 2 * 287  # one block has a second round
    assert made.busy["mte2"] == 2262 + 214 + 32  # of one row of 512 B
    assert made.kernels[0].instructions == 3 * 49


def test_the_longest_block_need_not_be_the_first() -> None:
    text = ROWS.replace('[b, "(M + 63) // 64", num_blocks()]', "[0, b + 1]").replace("auto", "5")
    made = of(text.replace("M - i * 64", "M - b * 64"), {"M": 640})
    assert made.busy["v"] == 5 * 287
    assert made.kernels[0].instructions == 3 * (1 + 2 + 3 + 4 + 5)


def test_launches_follow_each_other() -> None:
    text = """\
spec: v1
name: twice
tensors:
  x: {dtype: fp32, shape: [6, 64, 128], access: inout}
program:
  - for: {index: k, range: [0, 6]}
    body:
      - region: step
        body:
          - load: {into: t, from: x, at: [k, 0, 0], shape: [1, 64, 128]}
          - exp: {into: y, x: t}
          - store: {from: y, to: x, at: [k, 0, 0]}
"""
    made, once = of(text), of(text.replace("range: [0, 6]", "range: [0, 1]"))
    assert (made.kernels[0].launches, once.kernels[0].launches) == (6, 1)
    assert made.cycles == 6 * once.cycles
    assert made.shares == once.shares


def test_spans_are_kept_on_request() -> None:
    program = compiled(buffered(2))
    made = modelled(program, A2A3, spans=True)
    (kernel,) = made.kernels
    assert [s.name for s in kernel.spans[:3]] == ["DataCopy", "Exp", "DataCopy"]
    assert all(s.start < s.end <= kernel.cycles for s in kernel.spans)
    shown = len(kernel.spans) + sum((a.last - a.first) * a.times for a in kernel.again)
    assert shown == kernel.instructions == 96
    assert modelled(program, A2A3).kernels[0].spans == ()


def test_what_is_too_long_is_a_lower_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pypto_spec.report.timeline.program.MOST_EVENTS", 60)
    made = of(buffered(1))
    assert not made.complete
    assert made.assumptions == ("the program is too long to simulate: what is left out is not counted",)
    assert "at least" in timeline_text(made)


def test_a_large_program_takes_few_events() -> None:
    program = compiled(buffered(2, 400_000))
    made = modelled(program, A2A3)
    assert made.complete
    assert 800_000 * 776 < made.cycles < 800_010 * 776


def test_rows_are_bursts_of_the_platform() -> None:
    """32 B a row: 512 B each for 48 cores on a2a3, 128 B each for 72 on a5."""
    text = ROWS.replace("[M, 128]", "[M, 16]").replace("[64, 128]", "[64, 8]").replace(', 128]"', ', 8]"')
    program = compiled(text.replace('"min(64, M - i * 64)", 128', '"min(64, M - i * 64)", 8'))
    wide, narrow = (modelled(program, target, sizes={"M": 64}).busy["mte2"] for target in (A2A3, A5))
    assert (wide, narrow) == (214 + 2048, 214 + 768)


def test_texts(snapshot: SnapshotAssertion) -> None:
    made = replace(of(ROWS, {"M": 4000}), assumptions=("something is assumed",))
    assert timeline_text(made) == snapshot(name="txt")
    assert timeline_json(made) == snapshot(name="json")
    assert "\n".join(lines(made)) == snapshot(name="lines")
    assert json.loads(timeline_json(made))["makespan_cycles"] == made.cycles


def test_the_gallery_is_modelled_within_its_budget() -> None:
    from time import process_time

    slow = {}
    for path in sorted(GALLERY.glob("*/*.yaml")):
        program = compiled(path.read_text(encoding="utf-8"))
        started = process_time()
        made = modelled(program, A2A3)
        slow[path.name] = process_time() - started
        assert made.complete
        assert made.assumptions == ()
        assert made.cycles > 0
    assert max(slow.values()) < 0.1, slow  # 20 ms are the budget; a loaded machine is given five times that
