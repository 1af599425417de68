"""One door for both text formats."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pypto_spec.collector import collector_paused
from pypto_spec.diagnostics.span import Source
from pypto_spec.spec.tree import MappingNode

Format: TypeAlias = Literal["yaml", "toml"]


def format_of(name: str) -> Format:
    """The format a file name stands for: TOML for `.toml`, else YAML."""
    return "toml" if name.lower().endswith(".toml") else "yaml"


def load(source: Source, format: Format | None = None) -> MappingNode:
    """The node tree of a spec; the format follows the file's name unless given. Raises CompileError."""
    with collector_paused():
        if (format or format_of(source.name)) == "toml":
            from pypto_spec.spec.toml_loader import load_toml  # TOML's parsers are loaded when a TOML spec comes

            return load_toml(source)
        from pypto_spec.spec.yaml_loader import load_yaml

        return load_yaml(source)
