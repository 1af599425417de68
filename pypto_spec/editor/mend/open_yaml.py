"""What is left open on lines of YAML: flow collections and quoted texts, which end where the next entry begins."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LINE = re.compile(r"[^\r\n]*(?:\r\n|[\r\n]|\Z)")
_KEY = r"(?:\"[^\"\r\n]*\"|'[^'\r\n]*'|[^\s#:'\"\[\]{},&*!|>%@`-][^:#\r\n]*):(?:[ \t]+|$)"
_HEAD = re.compile(rf"[ \t]*(?:-[ \t]+)*(?:{_KEY})?")
"""The key of a line with the dashes before it."""
_BLOCK = re.compile(r"(?:^|[ \t])[|>][+-]?[0-9]?[+-]?[ \t]*(?:#.*)?$")
_INSIDE = re.compile(r"[ \t]#|[\[\]{},]|[\"']|:[ \t]|[ \t]+|[^\s\[\]{},\"':]+|.")
_CLOSERS = {"[": "]", "{": "}"}


def unfinished(text: str) -> Iterator[tuple[int, str]]:
    """Where something is left open, and what closes it: at the ends of lines, in their order."""
    lines = [(m.start(), m.group().rstrip("\r\n")) for m in _LINE.finditer(text) if m.group()]
    number, open_at = 0, _Open()
    column = 0
    while number < len(lines):
        start, line = lines[number]
        if not open_at.stack:
            open_at = _Open()
            head = _HEAD.match(line)
            at = head.end() if head is not None else 0
            column = len(line) - len(line.lstrip(" \t-"))
            if line[at : at + 1] in ("[", "{", '"', "'") and line[at : at + 1]:
                open_at.scan(line, at)
            elif _BLOCK.search(line[at - 1 if at else 0 :]):
                number = _behind_block(lines, number)
                continue
        else:
            open_at.scan(line, 0)
        number += 1
        if open_at.stack and not _goes_on(lines, number, column):
            yield start + open_at.end, open_at.closers()
            open_at = _Open()


def _behind_block(lines: list[tuple[int, str]], number: int) -> int:
    """The line behind a block text."""
    indent = _indent(lines[number][1])
    number += 1
    while number < len(lines) and (not lines[number][1].strip() or _indent(lines[number][1]) > indent):
        number += 1
    return number


def _goes_on(lines: list[tuple[int, str]], number: int, column: int) -> bool:
    """Whether what is open goes on below: on a line indented deeper than the key, or with what closes it."""
    for below in range(number, len(lines)):
        line = lines[below][1]
        stripped = line.strip()
        if stripped and stripped[0] != "#":
            return stripped[0] in "]}" or _indent(line) > column
    return False


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


class _Open:
    """The collections and the quoted text that are open."""

    def __init__(self) -> None:
        self.stack: list[str] = []
        self.end = 0
        """Where the line ends, without a remark."""
        self.starts = True
        """Whether a value may begin here."""

    def scan(self, line: str, at: int) -> None:
        """Go through a line."""
        self.end = len(line)
        while at < len(line):
            if self.stack and self.stack[-1] in ("'", '"'):
                at = self._quoted(line, at)
                continue
            match = _INSIDE.match(line, at)
            if match is None:
                return
            token = match.group()
            if token[0] in " \t" and token[-1] == "#":
                self.end = at
                return
            self._token(token)
            at = match.end()

    def _quoted(self, line: str, at: int) -> int:
        quote = self.stack[-1]
        while at < len(line):
            if (line[at] == "\\" and quote == '"') or (line.startswith("''", at) and quote == "'"):
                at += 2
            elif line[at] == quote:
                self.stack.pop()
                self.starts = False
                return at + 1
            else:
                at += 1
        return len(line)

    def _token(self, token: str) -> None:
        if token in _CLOSERS:
            self.stack.append(token)
            self.starts = True
        elif token in ("]", "}"):
            if self.stack and _CLOSERS[self.stack[-1]] == token:
                self.stack.pop()
            self.starts = False
        elif token in ("'", '"') and self.starts:
            self.stack.append(token)
        elif token == "," or token[0] == ":":
            self.starts = True
        elif token.strip():
            self.starts = False

    def closers(self) -> str:
        """What closes all that is open."""
        return "".join(_CLOSERS.get(sign, sign) for sign in reversed(self.stack))
