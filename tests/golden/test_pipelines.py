"""Pipelines through the rendered C++: every depth, trip count and planner gives what torch gives; no sync is idle."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.inputs import Gathered, Spec
from tests.golden.harness import Case, Failure, Made, assert_good, check_all, make, report

pytest.importorskip("torch")

PLANNERS = ("pypto", "ptoas")

HEAD = """spec: v1
name: NAME
target: {planner: PLANNER}
"""

EXP = (
    HEAD
    + """tensors:
  a:   {dtype: fp32, shape: [COUNT * 64, 128]}
  out: {dtype: fp32, shape: [COUNT * 64, 128], access: out}
program:
  - region: exp
    body:
      - pipeline: {index: i, count: COUNT, stages: STAGES}
        body:
          - load:  {into: t, from: a, at: [i * 64, 0], shape: [64, 128]}
          - exp:   {into: y, x: t}
          - store: {from: y, to: out, at: [i * 64, 0]}
golden: {expect: {out: exp(a)}}
"""
)

RUN_TIME = (
    HEAD
    + """symbols: {M: {min: 1, max: 2000}}
tensors:
  a:   {dtype: fp32, shape: [M, 128]}
  out: {dtype: fp32, shape: [M, 128], access: out}
program:
  - region: exp
    body:
      - pipeline: {index: i, count: "ceil_div(M, 48)", stages: STAGES}
        body:
          - load:  {into: t, from: a, at: [i * 48, 0], shape: [48, 128], valid: ["min(48, M - i * 48)", 128]}
          - exp:   {into: y, x: t}
          - store: {from: y, to: out, at: [i * 48, 0]}
golden: {expect: {out: exp(a)}, sizes: [{M: 1}, {M: 48}, {M: 97}, {M: 384}, {M: 500}, {M: 527}]}
"""
)

CARRIED = (
    HEAD
    + """tensors:
  a:   {dtype: fp32, shape: [COUNT * 16, 64]}
  out: {dtype: fp32, shape: [16, 64], access: out}
program:
  - region: total
    body:
      - full: {into: acc, shape: [16, 64], value: 0.0, dtype: fp32}
      - full: {into: top, shape: [16, 64], value: -3.0e38, dtype: fp32}
      - pipeline: {index: i, count: COUNT, stages: STAGES}
        body:
          - load: {into: t, from: a, at: [i * 16, 0], shape: [16, 64]}
          - let: acc = acc + t * t
          - let: top = maximum(top, t)
      - let: y = acc - top
      - store: {from: y, to: out, at: [0, 0]}
"""
)

NESTED = (
    HEAD
    + """tensors:
  a:   {dtype: fp32, shape: [5 * 32, COUNT * 64]}
  b:   {dtype: fp32, shape: [5 * 32, 64]}
  out: {dtype: fp32, shape: [5 * 32, COUNT * 64], access: out}
program:
  - region: both
    body:
      - pipeline: {index: i, count: 5, stages: 2}
        body:
          - load: {into: u, from: b, at: [i * 32, 0], shape: [32, 64]}
          - pipeline: {index: j, count: COUNT, stages: STAGES}
            body:
              - load:  {into: t, from: a, at: [i * 32, j * 64], shape: [32, 64]}
              - let:   y = t * u + t
              - store: {from: y, to: out, at: [i * 32, j * 64]}
"""
)

IN_PLACE = (
    HEAD
    + """tensors:
  x: {dtype: fp32, shape: [COUNT * 8 + 8, 64], access: inout}
program:
  - region: shift
    body:
      - pipeline: {index: i, count: COUNT, stages: STAGES}
        body:
          - load:  {into: t, from: x, at: [i * 8, 0], shape: [8, 64]}
          - load:  {into: u, from: x, at: [i * 8 + 8, 0], shape: [8, 64]}
          - let:   y = t + u
          - store: {from: y, to: x, at: [i * 8 + 8, 0]}
"""
)
"""Each iteration reads what the one before has stored: nothing may be hoisted over that."""


def text(form: str, name: str, planner: str, stages: int, count: int = 0) -> str:
    made = form.replace("NAME", name).replace("PLANNER", planner)
    return made.replace("STAGES", str(stages)).replace("COUNT", str(count))


def cases(form: str, name: str, counts: tuple[int, ...], **more: object) -> list[Case]:
    rows = product(PLANNERS, (1, 2, 3, 4), counts)
    return [
        Case(text(form, f"{name}_{p}_{s}_{n}", p, s, n), schedules=4, **more)  # type: ignore[arg-type]
        for p, s, n in rows
    ]


def test_every_depth_and_count() -> None:
    assert_good(cases(EXP, "exp", (1, 2, 3, 8, 9, 10, 11)))


COPY = RUN_TIME.replace("          - exp:   {into: y, x: t}\n", "").replace("from: y", "from: t").replace("exp(a)", "a")
LONG = RUN_TIME.replace("- exp:   {into: y, x: t}", "- let: y = exp(t) * t").replace("exp(a)", "exp(a) * a")


def test_run_time_counts() -> None:
    assert_good(cases(RUN_TIME, "run_time", (0,)))


def test_many_stages_with_run_time_counts() -> None:
    """Every number of trips that can be left has copies of its own, which want more events than there are."""
    forms = {"exp": RUN_TIME, "copy": COPY, "long": LONG}
    rows = product(forms, PLANNERS, (5, 6, 8, 16))
    assert_good([Case(text(forms[f], f"{f}_{p}_{s}", p, s), schedules=2) for f, p, s in rows])


@pytest.mark.parametrize("form", [CARRIED, NESTED, IN_PLACE], ids=["carried", "nested", "in place"])
def test_what_goes_from_copy_to_copy(form: str) -> None:
    assert_good(cases(form, "more", (1, 3, 8, 9), exact=True))


@pytest.mark.parametrize("form", [EXP, RUN_TIME], ids=["counts", "run time"])
def test_no_mutant_is_left_alive(form: str) -> None:
    from pypto_spec.driver.mutate import mutate_specs
    from pypto_spec.driver.test import TestOptions

    specs = []
    for planner, stages, count in product(PLANNERS, (2, 3, 4), (8, 11)):
        made = text(form, f"mutant_{planner}_{stages}_{count}", planner, stages, count)
        made = made.replace(
            "sizes: [{M: 1}, {M: 48}, {M: 97}, {M: 384}, {M: 500}, {M: 527}]",
            "sizes: [{M: 384}, {M: 430}, {M: 480}, {M: 500}]",
        )
        specs.append(Spec(Source(f"{planner}_{stages}_{count}.yaml", made), "yaml", made.encode()))
    found = list(mutate_specs(Gathered(specs), TestOptions()))
    assert len(found) == len(specs)
    for one in found:
        assert one.ok, (one.tested.spec.name, one.error, one.survivors)
        assert sum(one.kinds.values()) >= 8


ROWS = st.lists(
    st.tuples(
        st.sampled_from([EXP, CARRIED, NESTED, IN_PLACE]),
        st.integers(2, 4),
        st.integers(1, 7),
        st.sampled_from(PLANNERS),
        st.integers(10, 110),
    ),
    min_size=4,
    max_size=6,
)
QUICK = settings(max_examples=4, phases=[Phase.explicit, Phase.generate], suppress_health_check=[HealthCheck.too_slow])


@QUICK
@given(ROWS)
def test_what_a_loop_can_do_in_little_memory_a_pipeline_can(rows: list[tuple[str, int, int, str, int]]) -> None:
    """With less memory a pipeline is less deep, and right; it is refused only where a loop is."""
    good: list[Case] = []
    for number, (form, stages, count, planner, kib) in enumerate(rows):
        made = [
            make(Case(text(form, f"short_{number}", planner, s, count), schedules=2, vec=kib * 1024))
            for s in (1, stages)
        ]
        if isinstance(made[0], Failure):
            assert "PS4001" in made[0].message, str(made[0])
            continue
        assert isinstance(made[1], Made), str(made[1])
        good.append(made[1].case)
    failures = check_all(good)
    assert not failures, report(failures)
