"""Advice on overflows: what is named fits, what is one step larger does not, and the number of plans is bounded."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from pypto_spec.diagnostics.span import Source, Span
from pypto_spec.driver.advice import MOST_PLANS, advise, candidates
from pypto_spec.driver.check import check_text
from pypto_spec.driver.compile import Compilation, compile_source
from pypto_spec.driver.inputs import Spec
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
    wanted = (
        "`shape` of `load` in line 9, dimension 0: 256 -> 128 fits (needs 131072 B; the loop around it has to follow)"
    )
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

    monkeypatch.setattr("pypto_spec.driver.advice.compile_source", counted)
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


def side_by_side(text: str, defines: dict[str, str]) -> str:
    """The copies of a pipeline's body as they would be lowered: all tiles loaded before the first is stored."""
    found = re.search(r"stages: (\w+)", text)
    if found is None:
        return text
    written = re.search(rf"{found[1]}: (\d+)", text)
    depth = int(defines.get(found[1], written[1] if written else found[1]))
    head, body = text.split("      - pipeline:", 1)
    load, exp, store = (line[4:] for line in body.splitlines()[2:5])
    copies = [
        re.sub(r"\b[ty]\b(?=[,}])", rf"\g<0>{n}", line).replace("i *", f"{n} *")
        for line in (load, exp, store)
        for n in range(depth)
    ]
    return head + "\n".join(copies) + "\n"


@pytest.fixture
def pipelines_are_lowered(monkeypatch: pytest.MonkeyPatch) -> None:
    def lowered(source: Source, **options: Any) -> Compilation:
        text = side_by_side(source.text, dict(options.get("defines") or {}))
        return compile_source(Source(source.name, text), **options)

    monkeypatch.setattr("pypto_spec.driver.advice.compile_source", lowered)


@pytest.mark.usefixtures("pipelines_are_lowered")
@pytest.mark.parametrize("stages", ["DEPTH", "6"])
def test_the_most_stages_and_the_largest_tile_are_named(stages: str) -> None:
    text = PIPELINE.replace("stages: DEPTH", f"stages: {stages}")
    spec = Spec(Source("k.yaml", text), "yaml", text.encode())
    findings = compile_source(Source("k.yaml", side_by_side(text, {}))).diagnostics
    (found,) = [d for d in findings if d.rule.code == "PS4001"]
    # The finding as a pass that copied the body would make it: at the statements as they were written.
    span = Span(spec.source, 12, 13, 12, 20)
    found = replace(found, primary=replace(found.primary, span=span), secondary=())
    (advised,) = advise(spec, [found], {})
    assert advised.helps[len(found.helps) :] == (
        f"{'`DEPTH`' if stages == 'DEPTH' else '`stages` in line 10'}: 6 -> 5 fits (needs 163840 B)",
        "`TR`: 64 -> 32 fits (needs 98304 B)",
    )


def test_stages_that_are_one_or_not_around_it_are_no_way_out() -> None:
    root = load(Source("k.yaml", PIPELINE), "yaml")
    assert [knob.value for knob in stage_knobs(root, {(12, 13)})] == [6]
    assert stage_knobs(root, {(8, 5)}) == []
    flat = load(Source("k.yaml", PIPELINE.replace("DEPTH: 6", "DEPTH: 1")), "yaml")
    assert stage_knobs(flat, {(12, 13)}) == []
