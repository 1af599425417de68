"""Markdown at the width of a terminal: paragraphs and list items are wrapped, everything else stays."""

from __future__ import annotations

import re
import textwrap
from typing import Final

_ITEM: Final = re.compile(r"( *)([*-]|\d+\.) ")
_FENCE: Final = re.compile(r" *```")
_KEPT: Final = re.compile(r"#|\||    |>|<|Page: ")
LEAST, MOST = 40, 120
"""Narrower terminals get longer lines, wider ones shorter lines: nobody reads 200 columns."""


def wrapped(text: str, width: int) -> str:
    """The text with lines of at most `width` columns, where words allow it."""
    width = min(max(width, LEAST), MOST)
    lines: list[str] = []
    block: list[str] = []
    fenced = False
    for line in text.splitlines():
        opens = _FENCE.match(line) is not None
        if fenced or opens or not line.strip() or _KEPT.match(line):
            _flush(block, lines, width)
            lines.append(line)
            fenced = fenced is not opens
            continue
        if _ITEM.match(line):
            _flush(block, lines, width)
        block.append(line)
    _flush(block, lines, width)
    return "\n".join(lines) + "\n" if lines else ""


def _flush(block: list[str], lines: list[str], width: int) -> None:
    """Write a paragraph or list item, and start anew."""
    if not block:
        return
    item = _ITEM.match(block[0])
    indent = " " * (item.end() if item else len(block[0]) - len(block[0].lstrip()))
    lead = item.group(0) if item else indent
    body = (
        " ".join(line.strip() for line in block)[len(lead.strip()) :].strip()
        if item
        else " ".join(line.strip() for line in block)
    )
    lines.extend(
        textwrap.wrap(
            body,
            width,
            initial_indent=lead,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        or [lead.rstrip()]
    )
    block.clear()
