"""`explain-tiling` as a command."""

from __future__ import annotations

import json

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.cli.run import process, run


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
        ("", "Missing option '--shape'"),
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
