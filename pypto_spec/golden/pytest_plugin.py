"""pytest runs goldens: `pytest specs/` collects specs as test items.

pytest loads this module at every start of every project on a machine where pypto-spec is installed. It therefore
imports nothing, and looks at files only where a spec may be; compiler and torch come when the first spec is run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

_ENDINGS = frozenset({".yaml", ".yml", ".toml"})
_MARKER = ".pypto-spec"
_KEY = {
    True: re.compile(rb"""(?m)^(?:spec|"spec"|'spec')\s*=\s*["']v\d"""),
    False: re.compile(rb"""(?m)^(?:\{\s*)?(?:spec|"spec"|'spec')\s*:\s*["']?v\d"""),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of golden runs."""
    group = parser.getgroup("pypto-spec", "goldens of kernel specs")
    group.addoption("--pypto-schedules", type=int, default=5, metavar="N", help="orders to run each kernel in (5)")
    group.addoption("--pypto-seed", type=int, default=0, metavar="N", help="seed of the inputs (0)")
    parser.addini("pypto_specs", "collect kernel specs (default: true)", type="bool", default=True)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A collector for a file that is a spec."""
    if file_path.suffix.lower() not in _ENDINGS or not parent.config.getini("pypto_specs"):
        return None
    if any((folder / _MARKER).exists() for folder in file_path.parents[:3]):
        return None  # a dump in a folder that a build wrote
    try:
        found = _KEY[file_path.suffix.lower() == ".toml"].search(file_path.read_bytes())
    except OSError:
        return None
    return SpecFile.from_parent(parent, path=file_path) if found else None


class SpecFile(pytest.File):
    """A file with one spec."""

    def collect(self) -> Iterator[pytest.Item]:
        """One item, named as the file; one for each variant where it has several."""
        if b"variants" not in self.path.read_bytes():
            yield SpecItem.from_parent(self, name=self.path.stem)
            return
        for key in import_module("pypto_spec.driver.pytest_runs").variant_keys(str(self.path)):
            item = SpecItem.from_parent(self, name=self.path.stem if key is None else f"{self.path.stem}[{key}]")
            item.variant = key
            yield item


class SpecItem(pytest.Item):
    """The golden of one spec."""

    variant: str | None = None

    def runtest(self) -> None:
        """Run it; the kernels of all collected specs are compiled together before the first."""
        runner = self.session.stash.get(_RUNNER, None)
        if runner is None:
            files = list(dict.fromkeys(str(i.path) for i in self.session.items if isinstance(i, SpecItem)))
            runner = self.session.stash[_RUNNER] = import_module("pypto_spec.driver.pytest_runs").Runner(files)
        text = runner.run(
            str(self.path),
            self.variant,
            self.config.getoption("--pypto-schedules"),
            self.config.getoption("--pypto-seed"),
        )
        if text:
            raise SpecFailure(text)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The findings as the command line prints them, not a traceback through our code."""
        if isinstance(excinfo.value, SpecFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """What stands above a failure."""
        return self.path, None, f"golden of {self.name}"


class SpecFailure(Exception):  # noqa: N818  (it is what pytest calls a failure)
    """The text of a failed golden."""


_RUNNER: pytest.StashKey[Any] = pytest.StashKey()
