"""Where each character of a scalar's content stands in the file.

The parsers give a scalar's content and its outer offsets only. Here the raw text is read once more by the folding
and escaping rules of its style, noting for every content character the raw stretch it came from. It runs for
diagnostics only; if the outcome ever differs from the parser's own content, the caller falls back to the whole
scalar, so a wrong span inside a scalar cannot be printed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pypto_spec.spec.tree import ScalarNode

# How a scalar is written. YAML's are PyYAML's style characters; TOML's are the delimiters, led by `=`.
PLAIN, SINGLE, DOUBLE, LITERAL, FOLDED = "", "'", '"', "|", ">"

_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
    " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_HEX = {"x": 2, "u": 4, "U": 8}
_HEADER = re.compile(
    r"[|>](?:([+-])?([1-9])?|([1-9])([+-])?)[ \t]*(?:#[^\n\r\x85\u2028\u2029]*)?(?=[\n\r\x85\u2028\u2029]|\Z)"
)


class _Map:
    """Content characters with the raw offsets where each begins and ends."""

    __slots__ = ("begins", "chars", "ends")

    def __init__(self) -> None:
        self.chars: list[str] = []
        self.begins: list[int] = []
        self.ends: list[int] = []

    def put(self, char: str, begin: int, end: int) -> None:
        for one in char:
            self.chars.append(one)
            self.begins.append(begin)
            self.ends.append(end)


def scalar_offsets(node: ScalarNode) -> tuple[list[int], list[int]] | None:
    """File offsets where each character of `node.text` begins and ends; None if they cannot be told."""
    raw = node.source.text[node.start : node.end]
    for found in _candidates(raw, node.style):
        if "".join(found.chars) == node.text:
            return [node.start + at for at in found.begins], [node.start + at for at in found.ends]
    return None


def _candidates(raw: str, style: str) -> list[_Map]:
    if style == PLAIN:
        return [_flow(raw, 0, len(raw), style)]
    if style in (SINGLE, DOUBLE):
        return [_flow(raw, 1, len(raw) - 1, style)]
    if style in (LITERAL, FOLDED):
        return _blocks(raw)
    from pypto_spec.spec.toml_strings import string_map

    return [string_map(raw, style, _Map())]


def _breaks(raw: str, at: int, end: int) -> tuple[list[tuple[str, int, int]], int]:
    """Line breaks from `at` on, blanks around them dropped; and where the next content stands."""
    found: list[tuple[str, int, int]] = []
    while at < end:
        if raw[at] in " \t":
            at += 1
            continue
        match = _BREAK.match(raw, at, end)
        if match is None:
            break
        text = match.group()
        found.append((text if text in "\u2028\u2029" else "\n", at, match.end()))
        at = match.end()
    return found, at


def _fold(out: _Map, breaks: list[tuple[str, int, int]], escaped: bool) -> None:
    """One line break is a blank, more are one less; an escaped one (double quotes) is nothing at all."""
    if escaped:
        for text, begin, end in breaks[1:]:
            out.put(text, begin, end)
        return
    first, begin, end = breaks[0]
    if first != "\n":
        out.put(first, begin, end)
    elif len(breaks) == 1:
        out.put(" ", begin, end)
    for text, begin, end in breaks[1:]:
        out.put(text, begin, end)


def _flow(raw: str, at: int, end: int, style: str) -> _Map:
    """Plain and quoted scalars."""
    out = _Map()
    while at < end:
        char = raw[at]
        if char in " \t\r\n\x85\u2028\u2029":
            breaks, after = _breaks(raw, at, end)
            if breaks:
                _fold(out, breaks, False)
            else:
                for here in range(at, after):
                    out.put(raw[here], here, here + 1)
            at = after
        elif style == SINGLE and char == "'":
            out.put("'", at, at + 2)
            at += 2
        elif style == DOUBLE and char == "\\":
            at = _escape(raw, at, end, out)
        else:
            out.put(char, at, at + 1)
            at += 1
    return out


def _escape(raw: str, at: int, end: int, out: _Map) -> int:
    code = raw[at + 1 : at + 2]
    if code in _HEX and code:
        digits = raw[at + 2 : at + 2 + _HEX[code]]
        after = at + 2 + len(digits)
        out.put(chr(int(digits, 16)), at, after)
        return after
    if code in _ESCAPES and code:
        out.put(_ESCAPES[code], at, at + 2)
        return at + 2
    breaks, after = _breaks(raw, at + 1, end)
    if breaks:
        _fold(out, breaks, True)
        return after
    return at + 1


def _blocks(raw: str) -> list[_Map]:
    """Literal and folded scalars, for each indentation they could have.

    The indentation counts from the parent, which the raw text does not show; the right one gives the right content.
    """
    header = _HEADER.match(raw)
    if header is None:
        return []
    chomp = header.group(1) or header.group(4) or ""
    folded = raw[0] == FOLDED
    start = header.end()
    match = _BREAK.match(raw, start)
    start = match.end() if match else start
    widths = {len(line) - len(line.lstrip(" ")) for line in _BREAK.split(raw[start:])}
    return [_block(raw, start, indent, folded, chomp) for indent in range(max(widths, default=0), -1, -1)]


def _block(raw: str, at: int, indent: int, folded: bool, chomp: str) -> _Map:
    out = _Map()
    end = len(raw)
    lead: list[tuple[str, int, int]] = []
    lead_blank = False
    trail, at, column = _block_breaks(raw, at, indent)
    while at < end and column == indent:
        trail_blank = raw[at] in " \t"
        if folded and lead and lead[0][0] == "\n" and not lead_blank and not trail_blank:
            if not trail:
                out.put(" ", lead[0][1], lead[0][2])
        else:
            _put_all(out, lead)
        _put_all(out, trail)
        lead_blank = trail_blank
        match = _BREAK.search(raw, at)
        stop = match.start() if match else end
        for here in range(at, stop):
            out.put(raw[here], here, here + 1)
        at = stop
        lead = []
        if match:
            text = match.group()
            lead = [(text if text in "\u2028\u2029" else "\n", match.start(), match.end())]
            at = match.end()
        trail, at, column = _block_breaks(raw, at, indent)
    if chomp != "-":
        _put_all(out, lead)
    if chomp == "+":
        _put_all(out, trail)
    return out


def _put_all(out: _Map, pieces: list[tuple[str, int, int]]) -> None:
    for text, begin, end in pieces:
        out.put(text, begin, end)


def _block_breaks(raw: str, at: int, indent: int) -> tuple[list[tuple[str, int, int]], int, int]:
    """Empty lines from `at` on; then the offset and the column where content of this indentation would start."""
    found: list[tuple[str, int, int]] = []
    while True:
        column = 0
        while column < indent and raw[at : at + 1] == " ":
            at += 1
            column += 1
        match = _BREAK.match(raw, at)
        if match is None:
            return found, at, column
        text = match.group()
        found.append((text if text in "\u2028\u2029" else "\n", at, match.end()))
        at = match.end()
