"""Brackets that nobody has closed: the parsers of YAML and TOML find fault with what comes after them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pypto_spec.diagnostics.model import Diagnostic, Fix, Rule, diagnose
from pypto_spec.diagnostics.rules.syntax import INVALID_TOML, INVALID_YAML
from pypto_spec.diagnostics.span import Source
from pypto_spec.spec.tree import span_between

CLOSERS = {"[": "]", "{": "}"}
REACH = 50
"""Lines above the error in which the bracket is looked for."""

_PARTS = re.compile(
    r"""(?P<text>(?<![\w)\]}])(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'))|(?P<remark>(?:^|(?<=\s))#.*)|[\[\]{}]"""
)
_NEXT = re.compile(r"""[ \t]*(?:[\w.'"-]+[ \t]*=|\[\[?[\w.'" -]+\]\]?[ \t]*(?:#.*)?$)""")
"""A line of TOML that starts a key or a table."""
_ABOUT = ("',' or", "expected node content")
"""What the parser says where a collection should have gone on."""


def unclosed_in_yaml(source: Source, at: int, problem: str) -> Diagnostic | None:
    """The innermost bracket open at an error of the parser, if the lines that belong to it are over; else None."""
    if not any(words in problem for words in _ABOUT):
        return None
    row = source.position(at)[0]
    found = list(_open_before(source, row, at))
    if not found:
        return None
    first = source.position(found[0])[0]
    if source.text[at:].strip() and not any(_is_beside(source, first, number) for number in range(first + 1, row + 1)):
        return None
    return _unclosed(source, INVALID_YAML, found, row)


def unclosed_in_toml(source: Source, at: int) -> Diagnostic | None:
    """The innermost bracket open at an error, if the next key or table begins there; else None."""
    row, col = source.position(at)
    if col > source.line(row).find("[") + 3 or not _NEXT.match(source.line(row)):
        return None
    found = list(_open_before(source, row, source.line_starts()[row - 1]))
    return _unclosed(source, INVALID_TOML, found, row) if found else None


def _unclosed(source: Source, rule: Rule, found: list[int], row: int) -> Diagnostic:
    sign = source.text[found[0]]
    return diagnose(
        rule,
        span_between(source, found[0], found[0] + 1),
        f"`{sign}` is never closed",
        label="opened here",
        helps=[f"add the missing `{CLOSERS[sign]}`"],
        fixes=list(_closed(source, found, row)),
    )


def _open_before(source: Source, row: int, at: int) -> Iterator[int]:
    """The brackets that are open at an offset, the innermost first; those of the nearest line that has one."""
    closed = 0
    for number in range(row, max(row - REACH, 0), -1):
        begin = source.line_starts()[number - 1]
        line = source.line(number)
        if number == row:
            line = line[: at - begin]
        hit = False
        for match in reversed([m for m in _PARTS.finditer(line) if m.lastgroup is None]):
            if match.group() in CLOSERS.values():
                closed += 1
            elif closed:
                closed -= 1
            else:
                hit = True
                yield begin + match.start()
        if hit:
            return


def _closed(source: Source, found: list[int], row: int) -> Iterator[Fix]:
    """All that is open on a line closed at its end, where nothing but blank lines lies between it and the error."""
    first = source.position(found[0])[0]
    if any(source.line(number).strip() for number in range(first + 1, row)):
        return
    line = source.line(first)
    remark = next((m.start() for m in _PARTS.finditer(line) if m.lastgroup == "remark"), len(line))
    end = source.line_starts()[first - 1] + len(line[:remark].rstrip())
    signs = "".join(CLOSERS[source.text[one]] for one in found)
    blank = " " if source.text[end - 1 : end] == ":" else ""
    yield Fix(span_between(source, end, end), f"{blank}{signs}", title=f"close it with `{signs}`")


def _is_beside(source: Source, first: int, row: int) -> bool:
    """Whether a line stands no deeper than an earlier one, and so is no part of what that has opened."""
    line = source.line(row).strip()
    return bool(line) and line[0] not in "]}#" and _indent(source, row) <= _indent(source, first)


def _indent(source: Source, row: int) -> int:
    line = source.line(row)
    return len(line) - len(line.lstrip(" "))
