"""The dump law for pipelines that the gallery does not have: what the passes decided about stages stays decided."""

from __future__ import annotations

import pytest

from pypto_spec.diagnostics.model import Severity
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.dumps import dump_text
from pypto_spec.driver.inputs import Spec
from pypto_spec.driver.session import Compiled, compile_spec
from tests.driver.test_dump_law import code, kernels

STRIDED = """spec: v1
name: strided
target: {planner: PLANNER}
tensors:
  x: {dtype: fp32, shape: [40, 60], strides: [70, 1]}
  o: {dtype: fp32, shape: [40, 60], strides: [90, 1], access: inout}
program:
  - region: r
    body:
      - pipeline: {index: i, range: [0, 20, 1], stages: STAGES}
        body:
          - load: {into: t, from: x, at: [i, 0], shape: [2, 60]}
          - load: {into: u, from: o, at: [i + 1, 0], shape: [2, 60]}
          - let: y = t * 2 + u
          - store: {from: y, to: o, at: [i + 2, 0]}
"""

BESIDE = """spec: v1
name: beside
target: {planner: PLANNER}
tensors:
  x: {dtype: fp32, shape: [9, 64]}
  o: {dtype: fp32, shape: [9, 64], access: inout}
program:
  - region: r
    body:
      - pipeline: {index: i, count: 8, stages: STAGES}
        body:
          - load: {into: t, from: x, at: [i, 0], shape: [1, 64]}
          - store: {from: t, to: o, at: [i, 0]}
      - load: {into: z, from: x, at: [8, 0], shape: [1, 64]}
      - store: {from: z, to: o, at: [8, 0]}
"""

INSISTING = """spec: v1
name: insisting
target: {planner: PLANNER}
tensors:
  x: {dtype: fp32, shape: [512, 128]}
  o: {dtype: fp32, shape: [512, 128], access: out}
program:
  - region: r
    body:
      - pipeline: {index: i, range: [0, 512, 64], stages: STAGES}
        error: [PH-MR-001]
        body:
          - load: {into: t, from: x, at: [i, 0], shape: [64, 128]}
          - exp: {into: y, x: t}
          - store: {from: y, to: o, at: [i, 0]}
"""

SHORT = """spec: v1
name: short
target: {planner: PLANNER}
tensors:
  x: {dtype: fp32, shape: [1024, 128]}
  o: {dtype: fp32, shape: [1024, 128], access: out}
program:
  - region: r
    body:
      - pipeline: {index: i, range: [0, 1024, 96], stages: 4}
        body:
          - load: {into: t, from: x, at: [i, 0], shape: [96, 128], valid: ["min(96, 1024 - i)", 128]}
          - let: y = exp(t) + t
          - store: {from: y, to: o, at: [i, 0]}
"""
"""More stages than memory: several stand in each buffer."""

CASES = {
    f"{name} {planner} {stages}": text.replace("PLANNER", planner).replace("STAGES", str(stages))
    for name, text in (("strided", STRIDED), ("beside", BESIDE), ("insisting", INSISTING), ("short", SHORT))
    for planner in ("pypto", "ptoas")
    for stages in ((2, 3) if "STAGES" in text else (4,))
}


def compiled(text: str) -> Compiled:
    return compile_spec(Spec(Source("k.yaml", text), "yaml", text.encode()), keep_stages=True)


@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
def test_every_dump_gives_the_same_kernel_with_its_header_and_without(text: str) -> None:
    first = compiled(text)
    assert first.ok, first.findings
    for step, program in first.stages:
        if step is None:
            continue
        dump = dump_text(program, step, first.spec)
        again = compiled(dump)
        assert again.ok, (step, again.findings)
        assert kernels(again) == kernels(first), step
        assert dump_text(again.frontend, step, again.spec) == dump
        plain = compiled("".join(s for s in dump.splitlines(keepends=True) if not s.startswith("dump: ")))
        assert plain.ok, (step, plain.findings)
        assert [code(k) for k in kernels(plain)] == [code(k) for k in kernels(first)], step


def test_buffers_with_slots_share_with_nobody() -> None:
    done = compiled(CASES["beside ptoas 2"])
    assert done.program is not None
    assert sorted(b.slots for b in done.program.buffers) == [1, 2]


@pytest.mark.parametrize("header", [True, False])
def test_an_insisted_depth_is_insisted_on_in_the_dump_of_a_loop(header: bool) -> None:
    text = CASES["insisting pypto 3"].replace("[64, 128]", "[160, 128]").replace("64]", "160]").replace("512", "1600")
    done = compiled(text)
    assert [d.rule.code for d in done.findings] == ["PH-MR-001"]
    dump = dump_text(dict(done.stages)["CanonicalizeIOOrder"], "CanonicalizeIOOrder", done.spec)
    if not header:
        dump = "".join(s for s in dump.splitlines(keepends=True) if not s.startswith("dump: "))
    assert "- for:" in dump and "- pipeline:" not in dump
    (again,) = compiled(dump).findings
    assert (again.rule.code, again.level) == ("PH-MR-001", Severity.ERROR)
