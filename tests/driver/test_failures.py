"""When the compiler itself fails: no traceback, exit code 2, a report folder; and the pass that changed a result."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pypto_spec.ir.nodes import Buffer, Program
from pypto_spec.ops.registry import OPS
from pypto_spec.passes import pipeline
from pypto_spec.passes.base import Context, Pass
from tests.cli.run import run
from tests.cli.specs import GOOD, write


def plant(monkeypatch: pytest.MonkeyPatch, name: str, change: Pass) -> None:
    """Put another pass in the place of one."""
    passes = [change if p.name == name else p for p in pipeline.PASSES]
    monkeypatch.setattr(pipeline, "PASSES", passes)


def broken(program: Program, context: Context) -> Program:
    raise KeyError("planted")


def test_internal_error_names_the_pass_and_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    (spec,) = write(tmp_path, k=GOOD)
    old = pipeline.PASSES[pipeline.position("MemoryReuse")]
    plant(monkeypatch, "MemoryReuse", replace(old, run=broken))
    done = run("check", spec)
    assert done.exit_code == 2
    assert "the pass MemoryReuse failed" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    (folder,) = tmp_path.glob("pypto-spec-report-*")
    assert str(folder) in done.stdout
    assert "KeyError" in (folder / "error.txt").read_text()
    assert (folder / "spec.yaml").read_text() == GOOD
    names = sorted(p.name for p in folder.glob("[0-9]*.yaml"))
    assert names[0] == "00_frontend.yaml"
    assert names[-1].endswith("_MaterializeSemanticAliases.yaml")


def share_everything(program: Program, context: Context) -> Program:
    """All buffers at one address: what the no-alias table forbids."""
    made = pipeline_allocate.run(program, context)
    buffers: list[Buffer] = [replace(b, address=0) for b in made.buffers]
    return replace(made, buffers=tuple(buffers))


pipeline_allocate = pipeline.PASSES[pipeline.position("AllocateMemoryAddr")]

NO_ALIAS = """\
spec: v1
name: centred
tensors:
  x: {dtype: fp32, shape: [16, 64]}
  out: {dtype: fp32, shape: [16, 64], access: out}
program:
  - region: centred
    body:
      - load: {into: t, from: x, at: [0, 0], shape: [16, 64]}
      - let: y = t - row_max(t)
      - store: {from: y, to: out, at: [0, 0]}
"""


def test_pass_that_changes_the_result_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    (spec,) = write(tmp_path, k=NO_ALIAS)
    plant(monkeypatch, "AllocateMemoryAddr", replace(pipeline_allocate, run=share_everything))
    done = run("lower", "--check", spec)
    assert done.exit_code == 2
    assert "the pass AllocateMemoryAddr changed the result" in done.stderr
    assert done.stdout.splitlines()[-1].split() == ["AllocateMemoryAddr", "CHANGED"]


CAST = """\
spec: v1
name: rounded
tensors:
  x: {dtype: fp32, shape: [16, 64]}
  out: {dtype: int32, shape: [16, 64], access: out}
program:
  - region: rounded
    body:
      - load: {into: t, from: x, at: [0, 0], shape: [16, 64]}
      - cast: {into: y, x: t, dtype: int32, mode: rint}
      - store: {from: y, to: out, at: [0, 0]}
"""


def test_planted_no_alias_violation_in_memory_reuse_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    (spec,) = write(tmp_path, k=CAST)
    reuse = pipeline.PASSES[pipeline.position("MemoryReuse")]
    defn = OPS["cast"]

    def forgetful(program: Program, context: Context) -> Program:
        table = defn.no_alias
        object.__setattr__(defn, "no_alias", frozenset())
        try:
            return reuse.run(program, context)
        finally:
            object.__setattr__(defn, "no_alias", table)

    assert run("lower", "--check", spec).exit_code == 0
    plant(monkeypatch, "MemoryReuse", replace(reuse, run=forgetful))
    done = run("lower", "--check", spec)
    assert done.exit_code == 2
    assert "the pass MemoryReuse changed the result" in done.stderr
