"""Where the cursor is in a formula: inside which calls and brackets, before an operand or behind one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field

from pypto_spec.records import dataclass

_TOKEN = re.compile(
    r"[ \t\r\n]*(?:(?P<number>(?:0x[0-9a-fA-F]+|0o[0-7]+|(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)(?:[eE][+-]?[0-9]*)?)\w*)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:\.[0-9]+)?)|(?P<op>\*\*|//|==|!=|<=|>=|[^\s]))"
)
_SIGNS = frozenset({"and", "or", "not"})
_AFTER = re.compile(r"[ \t]*(\(|=(?!=))")


@dataclass(slots=True, eq=False)
class Level:
    """A bracket around the cursor: a call of `name`, a slice of it, a list, or a parenthesis.

    `argument` counts the commas, `keyword` is the name of the argument that is written by name, `given` those before.
    """

    kind: str
    name: str = ""
    argument: int = 0
    keyword: str = ""
    given: list[str] = field(default_factory=list)
    first: bool = True
    """Whether nothing of the current argument stands there yet."""


@dataclass(slots=True, eq=False)
class Cursor:
    """The cursor in a formula. `start` and `end` are the word it is in, relative to the formula.

    `operand` tells whether a value is wanted, `words` are the names that stand there so far, and `follows` is the sign
    right behind the word (`(` or `=`), which need not be put in again.
    """

    start: int
    end: int
    levels: list[Level]
    operand: bool
    target: bool
    names: list[str]
    follows: str

    @property
    def call(self) -> Level | None:
        """The innermost call around the cursor, over lists and parentheses."""
        return next((level for level in reversed(self.levels) if level.kind == "call"), None)


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while match := _TOKEN.match(text, at):
        kind = match.lastgroup or "op"
        yield kind, match.group(kind)
        at = match.end()


def read(text: str, at: int, let: bool, *, numbers: bool = False) -> Cursor | None:
    """The place `at` of a formula; None where no word can stand: within a number, unless `numbers` holds."""
    start = at
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] in "_."):
        start -= 1
    end = at
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    if not numbers and (text[start:at][:1].isdigit() or text[start:at][:1] == "."):
        return None
    if start == at:
        end = at
    levels: list[Level] = []
    names: list[str] = []
    before = ""
    operand, target = True, let
    for kind, token in _tokens(text[:start]):
        top = levels[-1] if levels else None
        if token in "([":
            _open(levels, token, before)
            operand = True
        elif token in ")]":
            if levels:
                levels.pop()
            operand = False
        elif token == ",":
            if top is not None:
                if top.keyword:
                    top.given.append(top.keyword)
                top.argument, top.keyword, top.first = top.argument + 1, "", True
            operand = True
        elif token == "=":
            if target and top is None:
                target, names = False, []
            elif top is not None and top.kind == "call" and re.fullmatch(r"[A-Za-z_]\w*", before):
                top.keyword, top.first = before, False
                names = names[:-1]
            operand = True
        else:
            if top is not None:
                top.first = False
            operand = kind == "op" or token in _SIGNS
            if kind == "name" and token not in _SIGNS:
                names.append(token)
        before = token if kind != "number" else "0"
    match = _AFTER.match(text, end)
    return Cursor(start, end, levels, operand, target, names, match.group(1) if match is not None else "")


def _open(levels: list[Level], token: str, before: str) -> None:
    named = bool(re.match(r"[A-Za-z_]", before)) and before not in _SIGNS
    if levels:
        levels[-1].first = False
    if token == "(":
        levels.append(Level("call", before) if named else Level("group"))
    else:
        levels.append(Level("slice", before) if named or before in (")", "]") else Level("list"))
