"""What `test --emit-device` writes: the host program compiles, and tells right results from wrong ones."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("torch")

from pypto_spec.driver.inputs import gather
from pypto_spec.driver.test import prepare
from pypto_spec.golden.device import device_files
from pypto_spec.golden.run import Subject

STUBS = Path(__file__).with_name("stubs")
GALLERY = Path(__file__).parents[2] / "specs"

EXP = """\
#include <cmath>
#include "launch.h"
int32_t small_launch(void* x, void* out, int32_t n, float factor, int64_t M, void*) {
    for (int64_t i = 0; i < M * 64; ++i) {
        ((float*)out)[i] = ((float*)x)[i] * factor + n - n WRONG;
    }
    return 0;
}
"""

SMALL = """\
spec: v1
name: small
symbols: {M: {min: 1, max: 64}}
scalars: {n: int32, factor: fp32}
tensors:
  x: {dtype: fp32, shape: [M, 64]}
  out: {dtype: fp32, shape: [M, 64], access: out}
program:
  - region: small
    body:
      - for: {index: i, range: [0, M]}
        body:
          - load: {into: t, from: x, at: [i, 0], shape: [1, 64]}
          - let: y = t * factor
          - store: {from: y, to: out, at: [i, 0]}
golden:
  sizes: [{M: 3}, {M: 64}]
  expect: {out: x * factor}
"""


def subject(path: Path) -> Subject:
    (tested,) = prepare(gather([str(path)]).specs, {}, 1)
    assert tested.subject is not None, tested.findings
    return tested.subject


def emit(subject: Subject, folder: Path) -> None:
    for name, data in device_files(subject).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())


def build(folder: Path, launch: Path | None) -> subprocess.CompletedProcess[str]:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("g++ is not installed")
    command = [compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{STUBS}", f"-I{folder / 'launcher'}"]
    command += [str(folder / "golden" / "run.cpp")]
    command += ["-fsyntax-only"] if launch is None else [str(launch), "-o", str(folder / "program")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("wrong", [False, True])
def test_program_tells_right_from_wrong(tmp_path: Path, wrong: bool) -> None:
    spec = tmp_path / "small.yaml"
    spec.write_text(SMALL)
    folder = tmp_path / "device"
    emit(subject(spec), folder)
    launch = tmp_path / "launch.cpp"
    launch.write_text(EXP.replace("WRONG", "+ (i == 70)" if wrong else ""))
    done = build(folder, launch)
    assert done.returncode == 0, done.stderr
    ran = subprocess.run(
        [str(folder / "program"), str(folder / "golden" / "data")], capture_output=True, text=True, check=False
    )
    assert ran.returncode == int(wrong), ran.stdout + ran.stderr
    assert "case1" in ran.stdout
    assert ("flat index 70" in ran.stdout) is wrong


def test_missing_data_is_told(tmp_path: Path) -> None:
    spec = tmp_path / "small.yaml"
    spec.write_text(SMALL)
    folder = tmp_path / "device"
    emit(subject(spec), folder)
    launch = tmp_path / "launch.cpp"
    launch.write_text(EXP.replace("WRONG", ""))
    assert build(folder, launch).returncode == 0
    ran = subprocess.run([str(folder / "program"), str(tmp_path)], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "cannot read" in ran.stderr


@pytest.mark.parametrize(
    "name",
    ["programs/scale_columns", "vector/scalar_ops", "vector/softmax_fp16", "vector/silu_bf16", "casts/cast_chain"],
)
def test_programs_of_the_gallery_compile(tmp_path: Path, name: str) -> None:
    emit(subject(GALLERY / f"{name}.yaml"), tmp_path)
    done = build(tmp_path, None)
    assert done.returncode == 0, done.stderr
    for project in ("cann81", "asc"):
        text = (tmp_path / "golden" / project / "CMakeLists.txt").read_text()
        assert f"add_subdirectory(../../cmake/{project} program)" in text
