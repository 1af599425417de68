"""The YAML 1.2 core schema: which plain scalars are null, booleans and numbers. `on`, `yes`, `1_000` are words."""

from __future__ import annotations

import math
import re

INT64_MIN, INT64_MAX = -(1 << 63), (1 << 63) - 1

_WORDS: dict[str, bool | float | None] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
for _spelling in (".inf", ".Inf", ".INF"):
    _WORDS |= {_spelling: math.inf, "+" + _spelling: math.inf, "-" + _spelling: -math.inf}
_WORDS |= dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan)

_NUMERIC = frozenset("+-.0123456789")
_INT = re.compile(r"[-+]?[0-9]+\Z")
_BASED = re.compile(r"0o[0-7]+\Z|0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")


class IntegerTooLargeError(ValueError):
    """An integer that 64 bits cannot hold."""


def resolve_plain(text: str) -> str | int | float | bool | None:
    """The value of a plain scalar. Raises IntegerTooLargeError past 64 bits."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMERIC:
        return text
    if _INT.match(text):
        return checked_int(text, 10)
    if _FLOAT.match(text):
        return float(text)
    if _BASED.match(text):
        return checked_int(text[2:], 8 if text[1] == "o" else 16)
    return text


def checked_int(digits: str, base: int) -> int:
    """`int(digits, base)` within 64 bits, in bounded time whatever the length."""
    stripped = digits.lstrip("+-0")
    value = int(digits, base) if len(stripped) <= 24 and len(digits) < 4000 else None
    if value is None or not INT64_MIN <= value <= INT64_MAX:
        raise IntegerTooLargeError(digits)
    return value
