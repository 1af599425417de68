"""A run without data gives the timeline of one with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pypto_spec.driver.inputs import gather
from pypto_spec.driver.test import prepare
from pypto_spec.driver.timeline import run_timeline
from pypto_spec.golden.formula import GoldenError
from pypto_spec.golden.run import GoldenRun, Subject, sizes
from pypto_spec.golden.timed import TimedRun

pytest.importorskip("torch")

SPECS = Path(__file__).parents[2] / "specs"
READS = """\
spec: v1
name: reads
target: {platform: a2a3}
tensors:
  x:   {dtype: fp32, shape: [64, 64]}
  out: {dtype: fp32, shape: [64, 64], access: out}
program:
  - region: r
    body:
      - load: {into: t, from: x, at: [0, 0], shape: [64, 64]}
      - store: {from: t, to: out, at: [0, 0]}
"""


def subjects(*paths: str) -> list[Subject]:
    return [t.subject for t in prepare(gather(list(paths)).specs, {}, 2) if t.subject is not None]


def test_gallery_has_the_same_timelines() -> None:
    found = subjects(str(SPECS))
    assert len(found) >= 40
    for subject in found:
        assert run_timeline(subject, data=False) == run_timeline(subject), subject.program.name


def test_scalars_are_those_of_a_golden() -> None:
    found = [s for s in subjects(str(SPECS)) if s.program.scalars]
    assert found
    for subject in found:
        values = sizes(subject.program)[0]
        drawn, golden = TimedRun(subject, values, 3).scalars, GoldenRun(subject, values, 3).scalars
        assert {n: v.item() for n, v in drawn.items()} == {n: v.item() for n, v in golden.items()}


def test_what_the_host_model_objects_to_is_an_error(tmp_path: Path) -> None:
    spec = tmp_path / "reads.yaml"
    spec.write_text(READS)
    (subject,) = subjects(str(spec))

    class Short(TimedRun):
        def _bytes(self, tensor: object) -> int:
            return 4

    with pytest.raises(GoldenError, match="reads bytes"):
        Short(subject, {}).run(0, 1)
