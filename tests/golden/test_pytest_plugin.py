"""The pytest plugin: specs are items, failures are texts, and where no spec is collected nothing happens."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.specs import BAD, GOOD, ROOT, TOML, WRONG, write


def pytest_of(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """pytest as a process of its own, with our plugin and no other."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    env.pop("PYTEST_XDIST_WORKER", None)
    plugins = ["-p", "pypto_spec.golden.pytest_plugin", "-p", "no:cacheprovider"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugins, *args],
        capture_output=True, text=True, check=False, cwd=folder, env=env, timeout=300,
    )  # fmt: skip


def test_specs_are_items(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    write(tmp_path, good=GOOD, derived=TOML, wrong=WRONG, bad=BAD)
    (tmp_path / "other.yaml").write_text("key: value\n")
    (tmp_path / "test_more.py").write_text("def test_it(): pass\n")
    done = pytest_of(tmp_path, "--pypto-schedules", "2")
    assert done.returncode == 1
    assert "2 failed, 3 passed" in done.stdout
    assert "error[PS7030]: `out` differs in" in done.stdout
    assert "--> wrong.yaml:15:10" in done.stdout
    assert "error[PS2001]" in done.stdout
    assert "Traceback" not in done.stdout
    assert "driver/pytest_runs.py" not in done.stdout


def test_one_spec_can_be_named(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    write(tmp_path, good=GOOD, wrong=WRONG)
    assert pytest_of(tmp_path, "good.yaml").returncode == 0
    assert pytest_of(tmp_path, "-k", "good").returncode == 0


VARIANTS = """\
spec: v1
name: scaled
constants: {TR: 64, by: 2.0}
variants: {matrix: {TR: [32, 64], by: [2.0, 3.0]}}
tensors:
  x: {dtype: fp32, shape: [128, 64]}
  out: {dtype: fp32, shape: [128, 64], access: out}
program:
  - region: scaled
    body:
      - for: {index: i, count: 128 // TR}
        body:
          - load: {into: t, from: x, at: [i * TR, 0], shape: [TR, 64]}
          - let: y = t * by
          - store: {from: y, to: out, at: [i * TR, 0]}
golden: {expect: {out: x * 2}}
"""


def test_each_variant_is_an_item(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    write(tmp_path, good=GOOD, scaled=VARIANTS)
    listed = pytest_of(tmp_path, "--collect-only", "scaled.yaml").stdout
    names = [f"scaled.yaml::scaled[TR{rows}_by{by}]" for rows in (32, 64) for by in ("2_0", "3_0")]
    assert [line for line in listed.splitlines() if "::" in line] == names
    done = pytest_of(tmp_path, "scaled.yaml", "-rA", "--pypto-schedules", "2")
    assert "2 failed, 2 passed" in done.stdout
    said = [line.split(" ")[:2] for line in done.stdout.splitlines() if line.startswith(("PASS", "FAIL"))]
    assert sorted(said) == sorted(["PASSED" if "by2" in name else "FAILED", name] for name in names)
    one = pytest_of(tmp_path, names[0], "--pypto-schedules", "2")
    assert (one.returncode, "1 passed" in one.stdout) == (0, True)


def test_nothing_is_imported_where_no_spec_is_run(tmp_path: Path) -> None:
    write(tmp_path, good=GOOD)
    (tmp_path / "test_more.py").write_text(
        "import sys\n"
        "def test_it():\n"
        "    loaded = {m for m in sys.modules if m.startswith(('pypto_spec.', 'torch', 'pydantic'))}\n"
        "    assert loaded <= {'pypto_spec.golden', 'pypto_spec.golden.pytest_plugin'}\n"
    )
    done = pytest_of(tmp_path, "-k", "test_it")
    assert done.returncode == 0, done.stdout


def test_collecting_can_be_switched_off(tmp_path: Path) -> None:
    write(tmp_path, good=GOOD)
    (tmp_path / "pytest.ini").write_text("[pytest]\npypto_specs = false\n")
    assert pytest_of(tmp_path).returncode == 5


def test_this_repository_collects_no_spec_beside_its_tests() -> None:
    done = pytest_of(ROOT, "--collect-only", "tests/passes", "-o", "addopts=", "-o", "filterwarnings=")
    assert ".yaml::" not in done.stdout
