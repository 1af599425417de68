"""Where the characters of a TOML string stand in the file (see `positions.py`)."""

from __future__ import annotations

import re
from typing import Protocol, TypeVar

BARE, BASIC, RAW, LONG_BASIC, LONG_RAW = "=", '="', "='", '="""', "='''"

_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b", '"': '"', "\\": "\\"}
_HEX = {"x": 2, "u": 4, "U": 8}
_TRIMMED = re.compile(r"\\[ \t]*\r?\n[ \t\r\n]*")


M = TypeVar("M", bound="CharMap")


class CharMap(Protocol):
    """What collects the characters."""

    def put(self, char: str, begin: int, end: int) -> None:
        """Add a content character with its raw stretch."""


def toml_style(raw: str) -> str:
    """The style of a TOML value from its raw text."""
    for style in (LONG_BASIC, LONG_RAW, BASIC, RAW):
        if raw.startswith(style[1:]):
            return style
    return BARE


def string_map(raw: str, style: str, out: M) -> M:
    """Fill `out` with the characters of a raw TOML value, quotes included in `raw`."""
    quote = len(style) - 1
    at, end = quote, len(raw) - quote
    if quote == 3:
        at += 2 if raw.startswith("\r\n", at) else int(raw.startswith("\n", at))
    escapes = style in (BASIC, LONG_BASIC)
    while at < end:
        if escapes and raw[at] == "\\":
            code = raw[at + 1]
            trimmed = _TRIMMED.match(raw, at, end) if quote == 3 else None
            if trimmed:
                at = trimmed.end()
                continue
            width = _HEX.get(code, 0)
            char = chr(int(raw[at + 2 : at + 2 + width], 16)) if width else _ESCAPES.get(code, code)
            out.put(char, at, at + 2 + width)
            at += 2 + width
        elif raw.startswith("\r\n", at):
            out.put("\n", at, at + 2)
            at += 2
        else:
            out.put(raw[at], at, at + 1)
            at += 1
    return out
