"""Timelines of cube kernels: the walk and the host run agree, and unit flags let a drain overlap its own Mmad."""

from __future__ import annotations

import pytest

from pypto_spec.golden.run import Subject
from pypto_spec.host.compile import KernelSource, compile_kernels
from pypto_spec.report.timeline import modelled
from pypto_spec.report.timeline.machine import Span
from pypto_spec.targets import A2A3
from tests.golden.harness import Case, Failure, make
from tests.golden.timelines import disagreement

pytest.importorskip("torch")

BLOCKED = """\
spec: v1
name: blocked{flags}
tensors:
  a:   {{dtype: fp16, shape: [256, 128]}}
  b:   {{dtype: fp16, shape: [128, 256]}}
  out: {{dtype: fp32, shape: [256, 256], access: out}}
golden: {{expect: {{out: "matmul(a, b)"}}}}
program:
  - region: r
    body:
      - load: {{into: right, from: b, at: [0, 0], shape: [128, 256], memory: mat}}
      - for: {{index: i, range: [0, 2]}}
        body:
          - load: {{into: left, from: a, at: [i * 128, 0], shape: [128, 128], memory: mat}}
          - extract: {{into: l0, x: left, at: [0, 0], shape: [128, 64], memory: left}}
          - extract: {{into: r0, x: right, at: [0, 0], shape: [64, 256], memory: right}}
          - matmul: {{into: c, lhs: l0, rhs: r0{partial}}}
          - extract: {{into: l1, x: left, at: [0, 64], shape: [128, 64], memory: left}}
          - extract: {{into: r1, x: right, at: [64, 0], shape: [64, 256], memory: right}}
          - matmul_acc: {{into: d, acc: c, lhs: l1, rhs: r1{final}}}
          - store: {{from: d, to: out, at: [i * 128, 0]{final}}}
"""


def subject(flags: bool) -> Subject:
    parts = {"partial": ", phase: partial", "final": ", phase: final"} if flags else {"partial": "", "final": ""}
    made = make(Case(BLOCKED.format(flags="_units" if flags else "", **parts)))
    assert not isinstance(made, Failure), made
    library = compile_kernels([KernelSource(k.name, k.text) for k in made.rendered.kernels])
    return Subject(made.frontend, made.program, made.rendered, library)


def drains(flags: bool) -> list[tuple[Span, Span]]:
    """Each Fixpipe with the Mmad before it."""
    (kernel,) = modelled(subject(flags).program, A2A3, spans=True, jump=False).kernels
    mads = [s for s in kernel.spans if s.name == "Mmad"][1::2]
    return list(zip(mads, [s for s in kernel.spans if s.name == "Fixpipe.gm"], strict=True))


@pytest.mark.parametrize("flags", [False, True])
def test_the_walk_and_the_run_agree(flags: bool) -> None:
    assert disagreement(subject(flags)) is None


def test_a_drain_overlaps_the_last_mmad_of_its_accumulator() -> None:
    assert all(drain.start >= mad.end for mad, drain in drains(False))
    assert all(drain.start == mad.start and drain.end > mad.end for mad, drain in drains(True))
    assert len(drains(True)) == 2
