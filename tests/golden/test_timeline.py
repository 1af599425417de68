"""The walk over a finished program and a run of its C++ give the same instructions, cycles and makespan."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pypto_spec.driver.inputs import gather
from pypto_spec.driver.timeline import run_timeline
from pypto_spec.golden.run import Subject
from pypto_spec.host.compile import KernelSource, compile_kernels
from pypto_spec.ops.amounts import MEASURES
from pypto_spec.ops.registry import OPS
from tests.golden.harness import Case, Failure, Made, make
from tests.golden.matrix import all_forms, form_cases
from tests.golden.random_programs import programs
from tests.golden.timelines import disagreement
from tests.report.timeline.programs import buffered

pytest.importorskip("torch")

SPECS = Path(__file__).parents[2] / "specs"
BATCH = 60
TAKEN = ("whole", "run-time columns")
REST = """\
spec: v1
name: timed_rest
target: {platform: a2a3, precision: fast}
tensors:
  x:   {dtype: fp16, shape: [32, 32]}
  out: {dtype: fp16, shape: [32, 32], access: out}
golden: {inputs: {x: {min: 1, max: 2}}}
program:
  - region: r
    body:
      - load: {into: t, from: x, at: [0, 0], shape: [32, 32]}
      - transpose: {into: u, x: t}
      - recip: {into: v, x: u}
      - rsqrt: {into: w, x: v}
      - debug: {dump: w, label: w}
      - store: {from: w, to: out, at: [0, 0]}
"""
CUBE = ("int8_dequant", "matmul_bias", "chained", "linear_relu")
SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)


def test_gallery() -> None:
    from pypto_spec.driver.test import prepare

    subjects = [t.subject for t in prepare(gather([str(SPECS)]).specs, {}, 2) if t.subject is not None]
    assert len(subjects) >= 40
    assert [found for subject in subjects if (found := disagreement(subject)) is not None] == []


def subjects_of(texts: Sequence[str]) -> Iterator[Subject]:
    """Programs, compiled in batches; one that the compiler refuses is left out."""
    made = [one for text in texts if not isinstance(one := make(Case(text)), Failure)]
    for first in range(0, len(made), BATCH):
        yield from _compiled(made[first : first + BATCH])


def _compiled(batch: Sequence[Made]) -> Iterator[Subject]:
    kernels = [KernelSource(k.name, k.text) for one in batch for k in one.rendered.kernels]
    library = compile_kernels(kernels)
    for one in batch:
        yield Subject(one.frontend, one.program, one.rendered, library)


def test_every_call() -> None:
    """A kernel of each operator, whole and with columns known at run time, and one of what these have not."""
    texts: list[str] = [REST, *((SPECS / "cube" / f"{name}.yaml").read_text(encoding="utf-8") for name in CUBE)]
    for defn in OPS.values():
        seen: set[str] = set()
        for dtype, form in all_forms(defn):
            if form not in TAKEN or form in seen:
                continue
            found = form_cases(defn, dtype, form)
            if found and not isinstance(make(found[0]), Failure):
                seen.add(form)
                texts.append(found[0].text)
    calls: set[str] = set()
    named = {form.split(".")[0] for form in MEASURES}  # behind the dot stands the memory
    for subject in subjects_of(texts):
        assert disagreement(subject) is None
        calls |= {name for name in named if any(re.search(rf"\b{name}[(<]", k.text) for k in subject.rendered.kernels)}
    assert named == calls


@settings(max_examples=3, suppress_health_check=SLOW)
@given(st.lists(programs(), min_size=10, max_size=12))
def test_random_programs(texts: list[str]) -> None:
    named = [text.replace("NAME", f"timed_{number}") for number, text in enumerate(texts)]
    subjects = list(subjects_of(named))
    assert len(subjects) > len(texts) // 2
    assert [found for subject in subjects if (found := disagreement(subject)) is not None] == []


def test_two_buffers_are_quicker_in_a_run_as_well() -> None:
    one, two = subjects_of([buffered(1), buffered(2)])
    assert disagreement(one) is None
    assert disagreement(two) is None
    slow, quick = run_timeline(one), run_timeline(two)
    assert quick.cycles < 0.6 * slow.cycles
