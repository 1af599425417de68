"""`test`, `mutate` and `lower --check`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.cli.run import process, run
from tests.cli.specs import BAD, GOOD, ROOT, TOML, WRONG, write

pytest.importorskip("torch")


def test_good_wrong_and_bad_specs(tmp_path: Path) -> None:
    good, derived, wrong, bad = write(tmp_path, good=GOOD, derived=TOML, wrong=WRONG, bad=BAD)
    done = run("test", good, derived)
    assert done.exit_code == 0
    assert f"ok   {good}  good: golden, 5 runs" in done.stdout
    assert f"ok   {derived}  tom: derived, 5 runs" in done.stdout
    assert done.stdout.endswith("2 passed  (host model)\n")
    done = run("test", good, wrong, bad, "--jobs", "1", "--schedules", "2")
    assert done.exit_code == 1
    assert "1 passed, 2 failed" in done.stdout
    assert "PS7030" in done.stdout
    assert "worst at [" in done.stdout
    assert f"--> {wrong}:15:10" in done.stdout


def test_timing_alone_gives_the_cycles_of_a_run(tmp_path: Path) -> None:
    (good,) = write(tmp_path, good=GOOD)
    full, alone = run("test", good, "--timeline"), run("test", good, "--timing")
    assert alone.exit_code == 0
    assert "timing only" in alone.stdout
    (modelled,) = [line for line in full.stdout.splitlines() if "modelled" in line]
    assert modelled in alone.stdout.splitlines()


def test_timeline(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    good, wrong = write(tmp_path, good=GOOD, wrong=WRONG)
    done = run("test", good, wrong, "--timeline")
    said = done.stdout.splitlines()
    first = next(n for n, line in enumerate(said) if line.startswith("ok "))
    assert "\n".join(said[first + 1 : first + 3]) == snapshot
    assert done.stdout.count("modelled") == 1
    done = run("test", good, "--timeline", "--format", "json")
    assert json.loads(done.stdout)["diagnostics"] == []
    assert "good: modelled" in done.stderr
    assert "modelled" not in run("test", good).stdout


def test_findings_as_json(tmp_path: Path) -> None:
    (wrong,) = write(tmp_path, wrong=WRONG)
    done = run("test", wrong, "--format", "json")
    (finding,) = json.loads(done.stdout)["diagnostics"]
    assert (finding["code"], finding["figures"]["total"]) == ("PS7030", 1024)


def test_the_seed_changes_the_inputs_and_nothing_else_does(tmp_path: Path) -> None:
    (wrong,) = write(tmp_path, wrong=WRONG)
    first, again, other = (run("test", wrong, "--seed", s, "--format", "json").stdout for s in ("1", "1", "2"))
    assert first == again != other


def test_emit_device(tmp_path: Path) -> None:
    (good,) = write(tmp_path, good=GOOD)
    done = run("test", good, "--emit-device", str(tmp_path / "device"))
    assert done.exit_code == 0
    index = json.loads((tmp_path / "device" / "golden" / "index.json").read_text())
    (case,) = index["cases"]
    assert [t["name"] for t in case["tensors"]] == ["x", "out"]
    data = tmp_path / "device" / "golden" / case["tensors"][0]["input"]
    assert data.stat().st_size == 16 * 64 * 4


def test_emit_device_into_a_folder_of_somebody_else(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    done = run("test", str(ROOT / "specs" / "vector" / "add.yaml"), "--emit-device", str(tmp_path))
    assert done.exit_code == 1
    assert "error[PS7010]" in done.stdout
    assert "1 passed" in done.stdout
    assert [p.name for p in tmp_path.iterdir()] == ["mine"]


def test_mutants_of_one_spec(tmp_path: Path) -> None:
    (good,) = write(tmp_path, good=GOOD)
    done = run("mutate", good)
    assert done.exit_code == 0
    assert "0 left alive" in done.stdout


def test_lower_check_names_every_pass(tmp_path: Path) -> None:
    (good,) = write(tmp_path, good=GOOD)
    done = run("lower", "--check", good)
    assert done.exit_code == 0
    assert "MemoryReuse                  equal\n" in done.stdout
    assert "CHANGED" not in done.stdout


def test_without_a_compiler_the_package_is_named(tmp_path: Path) -> None:
    (good,) = write(tmp_path, good=GOOD)
    done = process("test", good, CXX="no-such-compiler", PYPTO_SPEC_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 2
    assert "apt-get install g++" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_process_of_its_own(tmp_path: Path) -> None:
    done = process("test", "specs/vector/add.yaml", "specs/vector/relu.yaml", cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


HANDED = """\
spec: v1
name: handed
tensors:
  x: {dtype: fp32, shape: [8, 64]}
  out: {dtype: fp32, shape: [8, 64], access: out}
program:
  - create_tensor: {into: h, dtype: fp16, shape: [8, 64]}
  - region: first
    body:
      - let: h = cast(x, fp16)
  - region: second
    body:
      - let: out = cast(h, fp32)
golden: {expect: {out: "FORMULA"}}
"""


def test_rounding_between_regions_is_named(tmp_path: Path) -> None:
    exact, rounded = write(
        tmp_path, exact=HANDED.replace("FORMULA", "x"), rounded=HANDED.replace("FORMULA", "cast(cast(x, fp16), fp32)")
    )
    done = run("test", exact)
    assert done.exit_code == 1
    assert "`h` rounds to fp16 on the way: let the reference round there too, with `cast(..., fp16)`" in done.stdout
    assert run("test", rounded).exit_code == 0
