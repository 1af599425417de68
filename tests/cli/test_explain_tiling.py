"""`explain-tiling` as a command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from syrupy.assertion import SnapshotAssertion

from pypto_spec.driver.tiling.document import SCHEMA
from tests.cli.run import process, run
from tests.cli.specs import ROOT


@pytest.mark.parametrize(
    "words",
    [
        "--shape 256,256,128 --dtype bf16",
        "--shape 256,256,128 --dtype bf16 --planner ptoas --next 2",
        "--shape 4096,4096,4096 --target a5",
        "--shape 64,64,64 --l0c-double-buffer",
        "--shape 1,100,36 --pad --bias mat",
        "--shape 1,100,36",
    ],
)
def test_texts(words: str, snapshot: SnapshotAssertion) -> None:
    done = run("explain-tiling", *words.split())
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == snapshot


def test_json() -> None:
    done = run("explain-tiling", "--shape", "256,256,128", "--dtype", "bf16", "--next", "1", "--format", "json")
    assert done.exit_code == 0
    plain = json.loads(done.stdout)
    assert plain["explain-tiling"] == 1
    (matmul,) = plain["matmuls"]
    assert matmul["winner"]["wall_cycles"] == 4640
    assert len(matmul["forms"]) == 6
    assert len(matmul["next"]) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "give specs, or `--shape M,N,K`"),
        ("--shape 256,256", "pypto-spec: `256,256` is no shape of a matmul; write M,N,K, such as 256,256,128"),
        ("--shape 0,1,1", "pypto-spec: M is 0; it has to be from 1 to 1,048,576"),
        ("--shape 16,16,16 --dtype fp61", "pypto-spec: there is no dtype `fp61`; did you mean `fp16`?"),
        ("--shape 16,16,16 --target a9", "'a9' is not one of"),
        ("--shape 16,16,16 --next -1", "-1 is not in the range"),
    ],
)
def test_wrong_usage(words: str, said: str) -> None:
    done = run("explain-tiling", *words.split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_as_a_process() -> None:
    done = process("explain-tiling", "--shape", "256,256,128", "--dtype", "bf16")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == run("explain-tiling", "--shape", "256,256,128", "--dtype", "bf16").stdout


SPEC = """\
spec: v1
name: two
target: {l0c_double_buffer: DOUBLE}
tensors:
  a: {dtype: bf16, shape: [1024, 64]}
  b: {dtype: bf16, shape: [64, 1536]}
  c: {dtype: bf16, shape: [1024, 1536], access: out}
  d: {dtype: fp16, shape: [256, 128]}
  e: {dtype: fp16, shape: [128, 256]}
  f: {dtype: fp32, shape: [256, 256], access: out}
program:
  - region: large
    blocks: BLOCKS
    body:
      - let: c = matmul(a, b, dtype=bf16)
  - region: small
    body:
      - let: f = matmul(d, e)
"""


@pytest.mark.parametrize(("double", "blocks"), [("false", "4"), ("true", "4"), ("true", "auto"), ("true", "1000")])
def test_the_matmuls_of_a_spec(
    double: str, blocks: str, tmp_path: Path, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "two.yaml"
    path.write_text(SPEC.replace("DOUBLE", double).replace("BLOCKS", blocks))
    done = run("explain-tiling", "two.yaml")
    assert done.exit_code == 0
    assert done.stdout == snapshot
    done = run("explain-tiling", "two.yaml", "--format", "json")
    plain = json.loads(done.stdout)
    Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(plain)
    (divided,), (matmul,) = plain["divided"], plain["matmuls"]
    assert divided["where"] == "two.yaml:15: `c` of region `large`"
    assert matmul["where"] == "two.yaml:18: `f` of region `small`"
    assert divided["taken"]["accumulators"] == (2 if (double, blocks) == ("true", "4") else 1)


def test_what_a_spec_has_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tile.yaml").write_text((ROOT / "specs" / "cube" / "gemv.yaml").read_text())
    done = run("explain-tiling", "tile.yaml")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "no matmul whose tiles the compiler chooses" in done.stderr
    (tmp_path / "bad.yaml").write_text(SPEC.replace("BLOCKS", "4").replace("DOUBLE", "maybe"))
    done = run("explain-tiling", "bad.yaml")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "PS1003" in done.stderr or "error[" in done.stderr


@pytest.mark.parametrize("words", ["", "x.yaml --shape 1,2,3", "x.yaml --pad", "x.yaml --dtype fp32"])
def test_specs_or_a_shape(words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.yaml").write_text(SPEC.replace("BLOCKS", "4").replace("DOUBLE", "true"))
    done = run("explain-tiling", *words.split())
    assert done.exit_code == 2
    assert "--shape" in done.stderr
