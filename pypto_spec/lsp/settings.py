"""What a user can set: initialization options, or the section `pyptoSpec` of the editor's configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from pypto_spec.records import dataclass

SECTION = "pyptoSpec"


@dataclass(frozen=True, slots=True)
class Settings:
    """`defines`: values of constants, as after `-D`. `delay`: milliseconds without an edit before a check begins."""

    defines: Mapping[str, str] = field(default_factory=dict)
    delay: int = 100
    pull: bool = False
    inlays: bool = True


def read_settings(given: object) -> tuple[Settings, list[str]]:
    """The settings in what a client sends, and what is wrong with it; what is wrong counts as not given."""
    table = given.get(SECTION, given) if isinstance(given, dict) else {}
    problems: list[str] = []
    values: dict[str, Any] = {}
    if not isinstance(table, dict):
        return Settings(), [f"`{SECTION}` is a mapping of settings"] if table is not None else []
    for name, (key, read, what) in _READERS.items():
        if table.get(name) is None:
            continue
        value = read(table[name])
        if value is None:
            problems.append(f"`{SECTION}.{name}` is {what}")
        else:
            values[key] = value
    return Settings(**values), problems


def _defines(value: object) -> dict[str, str] | None:
    if not isinstance(value, dict) or not all(isinstance(one, (str, int, float)) for one in value.values()):
        return None
    return {str(name): _word(one) for name, one in value.items()}


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _delay(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 10_000 else None


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _pull(value: object) -> bool | None:
    return {"push": False, "pull": True}.get(value) if isinstance(value, str) else None


_READERS = {
    "defines": ("defines", _defines, "a mapping of constants to values"),
    "delay": ("delay", _delay, "a number of milliseconds from 0 to 10000"),
    "diagnostics": ("pull", _pull, "`push` or `pull`"),
    "inlayHints": ("inlays", _flag, "true or false"),
}
"""Each setting: its field above, how it is read (None: wrong), and what it is."""
