"""Plain data on one line, in the words of a format: what fixes write and what references show."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

from pypto_spec.spec.core_schema import IntegerTooLargeError, resolve_plain

_PLAIN: Final = re.compile(r"[A-Za-z0-9_.(+*/$<-][^,\[\]{}:#\"'\\\x00-\x1f\x7f]*\Z")
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+\Z")


def flow(value: object, format: Literal["yaml", "toml"] = "yaml") -> str:
    """A value on one line; words stand without quotes where YAML reads them as they are."""
    if isinstance(value, Mapping):
        if not value:
            return "{}"
        sign = " = " if format == "toml" else ": "
        inner = ", ".join(f"{key_text(str(key), format)}{sign}{flow(item, format)}" for key, item in value.items())
        return f"{{ {inner} }}" if format == "toml" else f"{{{inner}}}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(flow(item, format) for item in value) + "]"
    if isinstance(value, str):
        return value if format == "yaml" and is_plain(value) else quoted(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def key_text(key: str, format: Literal["yaml", "toml"]) -> str:
    """A key as it is written."""
    return key if (_BARE_KEY.match(key) if format == "toml" else _PLAIN.match(key)) else quoted(key)


def is_plain(text: str) -> bool:
    """Whether a text needs no quotes in YAML, also within brackets."""
    if not _PLAIN.match(text) or text[-1] == " " or text[:2] == "- ":
        return False
    try:
        return isinstance(resolve_plain(text), str)
    except IntegerTooLargeError:
        return False


def is_plain_in_block(text: str) -> bool:
    """Whether a text needs no quotes in YAML outside of brackets."""
    return is_plain(text[:1]) and text[-1:] not in ": " and not re.search(r": | #|[\x00-\x1f\x7f]", text)


def quoted(text: str) -> str:
    """A text in double quotes, as YAML and TOML both read it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'
