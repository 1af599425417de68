"""The extension for VS Code: its own tests, run by node, and that it says what the rest of the repository says.

`make vscode` builds the package, and runs these tests with `PYPTO_SPEC_VSIX` set to it.
"""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.servers.conftest import node

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "editors" / "vscode"
MANIFEST: dict[str, Any] = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
SETTINGS: dict[str, Any] = MANIFEST["contributes"]["configuration"]["properties"]
OWN = {"path", "trace.server"}
"""Settings that the extension reads itself."""


def test_its_own_tests_pass() -> None:
    files = [str(path) for path in sorted((FOLDER / "test").glob("*.test.mjs"))]
    assert files
    done = subprocess.run([node(), "--test", *files], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_has_the_version_of_the_compiler() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (MANIFEST["version"], MANIFEST["license"]) == (project["version"], project["license"])


def test_its_settings_are_those_of_the_server() -> None:
    server = pytest.importorskip("pypto_spec.lsp.settings")
    names = {name.removeprefix("pyptoSpec.") for name in SETTINGS}
    # How findings are sent is between the client library and the server.
    assert names - OWN == set(server._READERS) - {"diagnostics"}
    defaults = {name: SETTINGS[f"pyptoSpec.{name}"]["default"] for name in names - OWN}
    assert server.read_settings(defaults) == (server.Settings(), [])


def test_its_page_names_every_setting_and_command() -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    for name in SETTINGS:
        assert f"| `{name}` |" in page
    for command in MANIFEST["contributes"]["commands"]:
        assert f"| {command['title']} |" in page


def test_what_it_pins_is_pinned_exactly() -> None:
    lock = json.loads((FOLDER / "package-lock.json").read_text(encoding="utf-8"))
    for name, version in MANIFEST["devDependencies"].items():
        assert lock["packages"][f"node_modules/{name}"]["version"] == version
    assert not any("resolved" in entry for entry in lock["packages"].values())


def test_the_package_holds_what_it_needs_and_nothing_else() -> None:
    package = os.environ.get("PYPTO_SPEC_VSIX")
    if package is None:
        pytest.skip("`make vscode` builds the package")
    with zipfile.ZipFile(ROOT / package) as archive:
        names = {name.removeprefix("extension/") for name in archive.namelist()}
        inside = {"package.json", "readme.md", "dist/extension.js", "dist/schema.json", "dist/LICENSE"}
        assert names == inside | {"[Content_Types].xml", "extension.vsixmanifest"}
        assert archive.read("extension/dist/schema.json") == (ROOT / "pypto_spec/spec/schema.json").read_bytes()
        code = archive.read("extension/dist/extension.js").decode()
        assert 'require("vscode")' in code
        assert "vscode-languageclient" not in {part.split('"')[0] for part in code.split('require("')[1:]}
