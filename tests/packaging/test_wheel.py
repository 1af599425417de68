"""What is installed on a user's machine: one import package, with all its data."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
DATA = {
    "pypto_spec/templates": ("templates", "*.j2"),
    "pypto_spec/gallery": ("specs", "*.yaml"),
    "pypto_spec/host/include": ("pypto_spec/host/include", "*.h"),
    "pypto_spec/diagnostics/pages": ("pypto_spec/diagnostics/pages", "*.md"),
    "pypto_spec/passes": ("passes", "*.py"),
    "pypto_spec/cli": ("cli", "*.py"),
}
"""Where in the wheel, where in the repository, and which files: all of them must be in it."""


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The files of a wheel that is built from a copy, as a fresh clone would build it."""
    work = tmp_path_factory.mktemp("wheel")
    clone = work / "clone"
    clone.mkdir()
    for name in ("README.md", "LICENSE", "pyproject.toml", "pypto_spec", "passes", "cli", "templates", "specs"):
        subprocess.run(["cp", "-a", str(ROOT / name), str(clone)], check=True)
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(work / "dist"), str(clone)]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = (work / "dist").glob("pypto_spec-*-py3-none-any.whl")
    with ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_wheel_installs_one_package_only(names: set[str]) -> None:
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"pypto_spec"}


@pytest.mark.parametrize(("inside", "source", "pattern"), [(k, *v) for k, v in DATA.items()], ids=DATA)
def test_wheel_holds_all_data(names: set[str], inside: str, source: str, pattern: str) -> None:
    expected = {f"{inside}/{path.relative_to(ROOT / source).as_posix()}" for path in (ROOT / source).rglob(pattern)}
    assert expected
    assert expected <= names


def test_wheel_holds_types_and_schema(names: set[str]) -> None:
    schemas = {"pypto_spec/diagnostics/render/diagnostics.schema.json", "pypto_spec/report/map/map.schema.json"}
    assert {"pypto_spec/py.typed", *schemas} <= names


def test_wheel_holds_no_leftovers(names: set[str]) -> None:
    assert [name for name in names if "__pycache__" in name or name.startswith("tests/")] == []


def test_wheel_declares_its_entry_points_and_licence(names: set[str]) -> None:
    assert any(name.endswith(".dist-info/entry_points.txt") for name in names)
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
