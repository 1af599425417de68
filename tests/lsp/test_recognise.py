"""Which documents are taken for specs."""

from __future__ import annotations

from pathlib import Path

import pytest

from pypto_spec.lsp.recognise import format_of, is_spec
from tests.lsp.wire import ROOT

MANIFEST = "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  containers: []\n"


@pytest.mark.parametrize(
    ("language", "name", "format"),
    [
        ("yaml", "untitled:Untitled-1", "yaml"),
        ("toml", "untitled:Untitled-1", "toml"),
        ("pypto-spec-toml", "x", "toml"),
        ("dockercompose", "x.yml", "yaml"),
        ("plaintext", "x.TOML", "toml"),
        ("yaml", "x.toml", "yaml"),
        ("python", "x.py", None),
        ("json", "x.json", None),
    ],
)
def test_formats(language: str, name: str, format: str | None) -> None:
    assert format_of(language, name) == format


@pytest.mark.parametrize(
    "text",
    [
        "spec: v1\n",
        "# a comment\n---\nspec : v2\n",
        '"spec": "v1"\nname: x\n',
        "{spec: v1, name: x}\n",
        "\ufeffspec: v1\n",
        "spec:",
        "spec: # the version\nname: x\n",
        "name: x\nspec: 1\n",
        "# yaml-language-server: $schema=../pypto_spec/spec/schema.json\n\n",
        "# yaml-language-server: $schema=https://example.org/pypto-spec/v1.json\nnam",
    ],
)
def test_yaml_that_is_a_spec(text: str) -> None:
    assert is_spec("x.yaml", "yaml", text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "name: x\n",
        MANIFEST,
        "spec:\n  replicas: 3\n",
        "spec:\n- a\n",
        "spec: {replicas: 3}\n",
        "kind: X\nspec:\n",
        "a:\n  spec: v1\n",
        "specs: v1\n",
        "# yaml-language-server: $schema=https://example.org/other.json\nname: x\n",
    ],
)
def test_yaml_that_is_none(text: str) -> None:
    assert not is_spec("x.yaml", "yaml", text)


def test_toml() -> None:
    assert is_spec("x.toml", "toml", 'name = "x"\nspec = "v1"\n')
    assert is_spec("x.toml", "toml", "#:schema ../pypto_spec/spec/schema.json\n")
    assert not is_spec("x.toml", "toml", '[project]\nname = "x"\n')


def test_names() -> None:
    assert is_spec("/a/b.kernel.yaml", "yaml", "")
    assert is_spec("b.kernel.toml", "toml", "")
    assert not is_spec("kernel.yaml", "yaml", "")


@pytest.mark.parametrize("path", [p for p in sorted((ROOT / "specs").rglob("*")) if p.suffix in (".yaml", ".toml")])
def test_the_gallery(path: Path) -> None:
    assert is_spec("x", "toml" if path.suffix == ".toml" else "yaml", path.read_text(encoding="utf-8"))
