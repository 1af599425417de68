"""From bytes to a `Source`: UTF-8 only, and only characters that may stand in a spec."""

from __future__ import annotations

import re

from pypto_spec.diagnostics.model import CompileError, Fix, diagnose
from pypto_spec.diagnostics.rules.syntax import ENCODING, LIMIT
from pypto_spec.diagnostics.span import Source, Span
from pypto_spec.spec.limits import MAX_TEXT
from pypto_spec.spec.tree import span_between

_FORBIDDEN_ASCII = r"[^\t\n\r\x20-\x7e]"
_FORBIDDEN = "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
"""Slow to compile for its many ranges, so only where it is needed."""


def decode(name: str, data: bytes) -> Source:
    """The source of a file's bytes; a leading byte order mark is dropped, as editors do not show it either."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        source = Source(name, "")
        raise CompileError(
            [
                diagnose(
                    ENCODING,
                    Span(source, 1, 1, 1, 1),
                    "the file is UTF-16, a spec is UTF-8",
                    label="byte order mark",
                    helps=["save the file as UTF-8"],
                ),
            ]
        )
    if len(data) > 4 * MAX_TEXT:
        check_size(Source(name, ""), len(data) // 4)
    try:
        return Source(name, data.decode("utf-8").removeprefix("\ufeff"))
    except UnicodeDecodeError as error:
        good = data[: error.start].decode("utf-8").removeprefix("\ufeff")
        source = Source(name, good + data[error.start :].decode("utf-8", "replace"))
        raise CompileError(
            [
                diagnose(
                    ENCODING,
                    span_between(source, len(good), len(good) + 1),
                    f"byte 0x{data[error.start]:02x} is not UTF-8 text",
                    label=error.reason,
                    helps=["save the file as UTF-8"],
                ),
            ]
        ) from None


def check_text(source: Source) -> None:
    """Refuse text that is too long or has control characters (NUL among them)."""
    check_size(source, len(source.text))
    text = source.text
    forbidden = re.compile(_FORBIDDEN_ASCII if text.isascii() else _FORBIDDEN)
    found = forbidden.search(text, 1 if text.startswith("\ufeff") else 0)
    if found:
        code = ord(found.group())
        surrogate = 0xD800 <= code <= 0xDFFF
        escape = f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"
        raise CompileError(
            [
                diagnose(
                    ENCODING,
                    span_between(source, found.start(), found.end()),
                    f"the character U+{code:04X} may not stand in a spec",
                    label="this character",
                    helps=[
                        "remove it: it is half of a character"
                        if surrogate
                        else f"remove it; inside double quotes it can be written as the escape `{escape}`"
                    ],
                    fixes=[Fix(span_between(source, found.start(), found.end()), "", title=f"remove the U+{code:04X}")],
                ),
            ]
        )


def check_size(source: Source, length: int) -> None:
    """Refuse a text of more than `MAX_TEXT` code points."""
    if length > MAX_TEXT:
        raise CompileError(
            [
                diagnose(
                    LIMIT,
                    Span(source, 1, 1, 1, 1),
                    f"the file has {length:,} characters, at most {MAX_TEXT:,} are read",
                    label="the whole file",
                    helps=["split the program into several specs"],
                ),
            ]
        )
