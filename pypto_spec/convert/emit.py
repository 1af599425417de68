"""YAML text of single values: when a scalar may stand plain, and flow collections on one line.

Dumps are written here and not by a YAML library: it is twenty times faster, and the look is the language's own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

_WORDS = frozenset({"null", "~", "true", "false", "yes", "no", "on", "off"})
"""Words that some YAML version reads as something else; they are quoted in any case."""

_FLOW = re.compile(r"-?[A-Za-z_(][A-Za-z0-9_.()/*%+<>=! -]*\Z")
"""Plain inside `[...]` and `{...}`: names and expressions without commas, brackets, braces and colons."""

_NUMBER = re.compile(r"[-+]?(?:\.[0-9]|[0-9]|\.(?:inf|nan))", re.IGNORECASE)


@lru_cache(maxsize=16384)
def word(text: str) -> str:
    """A string as a scalar inside a flow collection: plain where every YAML reader takes it as that string."""
    if _FLOW.match(text) and text[-1] != " " and text.lower() not in _WORDS:
        return text
    return quoted(text)


def line(text: str) -> str:
    """A string as a scalar on a line of its own (`about`, formulas): commas and brackets may stand plain."""
    first = text[:1]
    plain = (
        (first.isalnum() or first in "_(-")
        and first != ""
        and text == text.strip()
        and text.isprintable()
        and ": " not in text
        and " #" not in text
        and not text.endswith(":")
        and not text.startswith(("- ", "---"))
        and text != "-"
        and text.lower() not in _WORDS
        and not _NUMBER.match(text)
    )
    return text if plain else quoted(text)


def quoted(text: str) -> str:
    """A double-quoted scalar."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    if char.isprintable():
        return char
    known = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(char)
    if known is not None:
        return known
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def number(value: float | int | bool) -> str:
    """A number as the language writes it; infinities are the words `inf` and `-inf`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if math.isfinite(value):
        return repr(value)
    return "nan" if value != value else ("inf" if value > 0 else "-inf")


def sequence(items: Iterable[str]) -> str:
    """A flow sequence of texts that are YAML already."""
    return f"[{', '.join(items)}]"


def mapping(pairs: Iterable[tuple[str, str]]) -> str:
    """A flow mapping of keys and texts that are YAML already."""
    return "{" + ", ".join([f"{key}: {text}" for key, text in pairs]) + "}"


def data(value: object) -> str:
    """Plain data (a part of `golden`) in flow style; floats as YAML spells them."""
    if value is None:
        return "null"
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if value != value else (".inf" if value > 0 else "-.inf")
    if isinstance(value, bool | int | float):
        return number(value)
    if isinstance(value, Mapping):
        return mapping((word(str(key)), data(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return sequence(map(data, value))
    return word(str(value))


def block(entries: Iterable[tuple[str, str]], indent: str) -> list[str]:
    """Lines of a block mapping with its values in one column."""
    pairs = [(word(key), text) for key, text in entries]
    width = max((len(key) for key, _ in pairs), default=0) + 1
    return [f"{indent}{key + ':':<{width}} {text}" for key, text in pairs]
