"""`pypto-spec schema`: the JSON Schema of the language, as it is committed and packaged."""

from __future__ import annotations

from pathlib import Path

FILE = Path(__file__).parents[1] / "spec" / "schema.json"
"""The packaged schema; a test keeps it equal to the models."""


def schema_text() -> str:
    """The text of the schema."""
    return FILE.read_text(encoding="utf-8")
