"""`build`: what is written where, and that nothing of a user's is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.cli.run import MAIN, process, run
from tests.cli.specs import BAD, GOOD, ROOT, TOML, write

SIZED = """\
spec: v1
name: sized
symbols: {M: {min: 1, max: 512}}
tensors:
  x: {dtype: fp32, shape: [M, 64]}
  out: {dtype: fp32, shape: [M, 64], access: out}
program:
  - region: sized
    body:
      - load: {into: t, from: x, at: [0, 0], shape: [64, 64], valid: ["min(M, 64)", 64]}
      - let: y = exp(t)
      - store: {from: y, to: out, at: [0, 0]}
"""


def tree(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_default_folder_is_build_and_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, k=GOOD)
    done = run("build", "k.yaml")
    assert done.exit_code == 0
    assert done.stderr.startswith("k.yaml: 1 kernel in build/good\n")
    assert {"kernels/aiv/good.cpp", "manifest.json", "report/memory.txt"} <= set(tree(tmp_path / "build" / "good"))


def test_the_kernels_stand_in_a_table_on_standard_error(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    specs = write(tmp_path, k=GOOD, sized=SIZED, t=TOML)
    done = run("build", *specs, "-o", str(tmp_path / "out"), "--format", "json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["summary"]["errors"] == 0
    assert done.stderr.replace(f"{tmp_path}/", "") == snapshot
    assert run("build", specs[0], "--stdout").stderr == ""


def test_the_timeline_is_the_same_in_every_build(tmp_path: Path) -> None:
    (spec,) = write(tmp_path, k=GOOD)
    for place, seed in (("one", "7"), ("two", "8")):
        assert process("build", spec, "-o", str(tmp_path / place), PYTHONHASHSEED=seed).returncode == 0
    one, two = tree(tmp_path / "one"), tree(tmp_path / "two")
    assert one == two
    figures = json.loads(one["report/timeline.json"])
    assert figures["modelled"] is True
    assert figures["busiest_pipe"] in figures["shares"]
    assert b"modelled" in one["report/timeline.txt"]


def test_several_specs_stand_side_by_side(tmp_path: Path) -> None:
    done = run("build", *write(tmp_path, a=GOOD, b=TOML), "-o", str(tmp_path / "out"))
    assert done.exit_code == 0
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["good", "tom"]
    twice = run("build", *write(tmp_path, a=GOOD, c=GOOD), "-o", str(tmp_path / "out2"))
    assert twice.exit_code == 2
    assert "both named `good`" in twice.stderr
    assert not (tmp_path / "out2").exists()


def test_one_bad_spec_does_not_stop_the_others(tmp_path: Path) -> None:
    done = run("build", *write(tmp_path, a=BAD, b=TOML), "-o", str(tmp_path / "out"))
    assert done.exit_code == 1
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["tom"]


def test_every_byte_is_the_same_again_and_with_dumps(tmp_path: Path) -> None:
    (spec,) = write(tmp_path, k=GOOD)
    assert run("build", spec, "-o", str(tmp_path / "one")).exit_code == 0
    done = run("build", spec, "-o", str(tmp_path / "two"), "--dump-passes", str(tmp_path / "dumps"))
    assert done.exit_code == 0
    assert tree(tmp_path / "one") == tree(tmp_path / "two")
    names = [p.name for p in sorted((tmp_path / "dumps").glob("*.yaml"))]
    assert names[0] == "00_frontend.yaml"
    assert names[-1].endswith("_InsertSync.yaml")
    assert 'source: "../k.yaml"' in (tmp_path / "dumps" / names[-1]).read_text()


def test_building_a_dump_gives_the_same_kernel(tmp_path: Path) -> None:
    (spec,) = write(tmp_path, k=GOOD)
    run("build", spec, "-o", str(tmp_path / "one"), "--dump-passes", str(tmp_path / "dumps"))
    dump = next((tmp_path / "dumps").glob("*_MemoryReuse.yaml"))
    assert run("build", str(dump), "-o", str(tmp_path / "two")).exit_code == 0
    assert tree(tmp_path / "one" / "kernels") == tree(tmp_path / "two" / "kernels")


def test_foreign_folders_are_left_alone(tmp_path: Path) -> None:
    (spec,) = write(tmp_path, k=GOOD)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    done = run("build", spec, "-o", str(tmp_path / "out"))
    assert done.exit_code == 1
    assert "PS7010" in done.stderr
    assert tree(tmp_path / "out") == {"mine.txt": b"mine"}


def test_stdout_prints_kernels_and_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (spec,) = write(tmp_path, k=GOOD)
    done = run("build", spec, "--stdout")
    assert done.exit_code == 0
    assert 'extern "C" __global__ __aicore__ void good(' in done.stdout
    assert sorted(os.listdir(tmp_path)) == ["k.yaml"]
    assert run("build", spec, "--stdout", "-o", "x").exit_code == 2


def test_findings_for_machines_go_to_standard_output(tmp_path: Path) -> None:
    (spec,) = write(tmp_path, k=BAD)
    done = run("build", spec, "-o", str(tmp_path / "out"), "--format", "json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["summary"]["errors"] == 1


def test_timings_are_written_on_request(tmp_path: Path) -> None:
    (spec,) = write(tmp_path, k=GOOD)
    run("build", spec, "-o", str(tmp_path / "out"), "--timings")
    assert "InsertSync" in (tmp_path / "out" / "report" / "timings.txt").read_text()


def test_a5_is_checked_and_lowered_but_not_built(tmp_path: Path) -> None:
    (spec,) = write(tmp_path, k=GOOD.replace("name: good\n", "name: good\ntarget: a5\n"))
    assert run("check", spec).exit_code == 0
    assert run("lower", spec).exit_code == 0
    done = run("build", spec, "-o", str(tmp_path / "out"))
    assert done.exit_code == 1
    assert "PS7001" in done.stderr
    assert f"--> {spec}:3:9" in done.stderr
    assert not (tmp_path / "out").exists()


def test_typecheck_without_a_toolkit_says_so(tmp_path: Path) -> None:
    (spec,) = write(tmp_path, k=GOOD)
    done = run("build", spec, "-o", str(tmp_path / "out"), "--typecheck", "--cann", str(tmp_path))
    assert done.exit_code == 1
    assert "PS7020" in done.stderr
    assert not (tmp_path / "out").exists()


def test_watch_builds_again_and_ends_on_an_interrupt(tmp_path: Path) -> None:
    (spec,) = write(tmp_path, k=GOOD)
    kernel = tmp_path / "out" / "kernels" / "aiv" / "good.cpp"
    # Where the tests run in the background of a shell, interrupts are ignored from the start.
    listening = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler); {MAIN}"
    command = [sys.executable, "-c", listening, "build", spec, "-o", str(tmp_path / "out"), "--watch"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as child:  # fmt: skip
        try:
            _wait_for(kernel.exists)
            Path(spec).write_text(GOOD.replace("exp(t)", "abs(t)"))
            _wait_for(lambda: kernel.exists() and "Abs(" in kernel.read_text())
            child.send_signal(signal.SIGINT)
            _, errors = child.communicate(timeout=20)
        finally:
            child.kill()
    assert child.returncode == 130
    assert "Traceback" not in errors
    assert "1 kernel in" in errors


def _wait_for(condition: object) -> None:
    assert callable(condition)
    for _ in range(400):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come about in 20 s")


def test_build_never_imports_torch(tmp_path: Path) -> None:
    (spec,) = write(tmp_path, k=GOOD)
    done = process("build", spec, "-o", str(tmp_path / "out"), PYTHONPROFILEIMPORTTIME="1")
    assert done.returncode == 0
    assert not [line for line in done.stderr.splitlines() if line.split("|")[-1].strip().startswith("torch")]
