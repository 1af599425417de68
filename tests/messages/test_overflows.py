"""The ledger of an overflow: slots, copies and stages as one row, what is tried, and what would help."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from syrupy.assertion import SnapshotAssertion

from pypto_spec.convert.to_spec import to_spec
from pypto_spec.diagnostics.render import render
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.check import check_text
from pypto_spec.driver.compile import compile_source
from pypto_spec.ir.nodes import Dump, Program
from pypto_spec.passes.memory.planners import exact
from pypto_spec.passes.memory.planners.exact import Answer, Exhausted, NoFit
from pypto_spec.passes.memory.problem import Problem
from tests.passes.packed_specs import SEARCHED

SLOTS = """\
spec: v1
name: ring
constants: {TR: 96}
tensors:
  x: {dtype: fp32, shape: [384, 128]}
  out: {dtype: fp32, shape: [384, 128], access: out}
buffers:
  ring: {memory: vec, slots: 2}
program:
  - region: ring
    body:
      - load: {into: a, from: x, at: [0, 0], shape: [TR, 128], buffer: ring, slot: 0}
      - load: {into: b, from: x, at: [TR, 0], shape: [TR, 128], buffer: ring, slot: 1}
      - unroll: {index: i, count: 2}
        body:
          - load: {into: t, from: x, at: [i * TR, 0], shape: [TR, 128]}
          - store: {from: t, to: out, at: [i * TR, 0]}
      - load: {into: c, from: x, at: [0, 0], shape: [TR, 128]}
      - add: {into: a, lhs: a, rhs: b}
      - mul: {into: d, lhs: a, rhs: c}
      - row_sum: {into: s, x: d}
      - row_expand_mul: {into: e, x: c, v: s}
      - sub: {into: e, lhs: d, rhs: e}
      - store: {from: e, to: out, at: [2 * TR, 0]}
"""

COPIES = """\
spec: v1
name: copies
tensors:
  x: {dtype: fp32, shape: [512, 128]}
  out: {dtype: fp32, shape: [512, 128], access: out}
program:
  - region: copies
    body:
BODY
"""


def copies() -> str:
    """Four loads of one line: what is left of a pipeline's body, copied."""
    load, store = (
        "      - load: {into: t%d, from: x, at: [%d, 0], shape: [128, 128]}",
        "      - store: {from: t%d, to: out, at: [%d, 0]}",
    )
    return COPIES.replace("BODY", "\n".join(line % (n, 128 * n) for line in (load, store) for n in range(4)))


def copied(tags: bool) -> str:
    """A dump in which the four tiles have one name and come from one line, as copies of a pipeline's body do."""
    found: list[Program] = []
    compile_source(Source("k.yaml", copies()), after="MemoryReuse", on_pass=lambda step, made: found.append(made))
    dump = to_spec(replace(found[-1], dump=Dump("MemoryReuse", "k.yaml", "0" * 64)))
    dump = re.sub(r"\bt(\d)\.1\b", r"t.\1", dump)
    for n in range(4):
        stage = f"\n        stage: [[0, {n}]]" if tags else ""
        dump = dump.replace(f"        src: [{9 + n}, 9]", f"        src: [9, 9]{stage}")
    return dump


def answered(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(problem: Problem, limit: float | None = None) -> Answer:
        return answer

    monkeypatch.setattr(exact, "fits", asked)


def message(text: str) -> str:
    return render(check_text(text, "kernel.yaml", {}))


def test_slots(text_snapshot: SnapshotAssertion) -> None:
    assert message(SLOTS) == text_snapshot


@pytest.mark.parametrize("tags", [True, False], ids=["stages", "copies"])
def test_copies_of_a_pipeline(tags: bool, text_snapshot: SnapshotAssertion) -> None:
    assert message(copied(tags)) == text_snapshot


def test_an_exact_search_that_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, text_snapshot: SnapshotAssertion
) -> None:
    monkeypatch.setattr(exact, "installed", lambda: False)
    assert message(SEARCHED) == text_snapshot


@pytest.mark.parametrize("answer", [NoFit(), Exhausted()], ids=["proven", "exhausted"])
def test_an_exact_search_that_finds_nothing(
    answer: Answer, monkeypatch: pytest.MonkeyPatch, text_snapshot: SnapshotAssertion
) -> None:
    answered(answer, monkeypatch)
    assert message(SEARCHED) == text_snapshot
