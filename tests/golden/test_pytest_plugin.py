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
