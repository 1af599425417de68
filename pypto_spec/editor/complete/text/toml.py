"""TOML, read tolerantly: tables, dotted keys, arrays and inline tables, whatever is half-typed.

What is never closed ends with its line, an array where a line starts with the header of a table or with `key =`.
"""

from __future__ import annotations

import re

from pypto_spec.editor.complete.text.tree import CURSOR, MAX_DEPTH, Entry, Header, Map, Node, Scalar, Seq, Tree

_BLANKS = re.compile(r"[ \t]*")
_PART = re.compile(rf"""[ \t]*(?P<key>"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[\w{CURSOR}-]+)[ \t]*""")
_NEXT = re.compile(r"\[\[?[A-Za-z_]|[A-Za-z_][\w.-]*[ \t]*=")
"""What can only stand outside of an array, at the start of a line."""
_PLAIN = re.compile(r"[^\n,\]}#]*")
_LONG = {'"': '"""', "'": "'" * 3}


def read_toml(text: str) -> Tree:
    """The tree of any text, with the mark in it."""
    return _Reader(text).document()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 0
        self.depth = 0
        self.root = Map(0)
        self.table = self.root
        self.header: Header | None = None

    def document(self) -> Tree:
        self.pos = 1 if self.text[:1] == "\ufeff" else 0
        while self.token():
            before = self.pos
            if self.char() == "[":
                self.heading()
            else:
                self.pair(self.table)
            if self.pos == before:
                self.pos += 1
        return Tree(self.root, self.header)

    def char(self) -> str:
        return self.text[self.pos : self.pos + 1]

    def blanks(self) -> None:
        match = _BLANKS.match(self.text, self.pos)
        assert match is not None
        self.pos = match.end()

    def line_end(self) -> None:
        end = self.text.find("\n", self.pos)
        self.pos = len(self.text) if end < 0 else end

    def token(self) -> bool:
        """Go to the next token, over blanks, lines and comments; False at the end."""
        while self.pos < len(self.text):
            self.blanks()
            char = self.char()
            if char == "#":
                self.line_end()
            elif char in ("\n", "\r"):
                self.pos += 1
            else:
                return char != ""
        return False

    # Tables

    def heading(self) -> None:
        array = self.text.startswith("[[", self.pos)
        self.pos += 2 if array else 1
        parts = self.parts()
        while self.char() == "]":
            self.pos += 1
        here = next((n for n, part in enumerate(parts) if part.here), None)
        if here is not None:
            self.header = Header(tuple(part.word for part in parts[:here]), parts[here], array)
            self.table = Map(self.pos)
            return
        holder = self.root
        names = [part for part in parts if part.word]
        for number, part in enumerate(names):
            holder = _enter(holder, part, array and number == len(names) - 1)
        self.table = holder

    def parts(self) -> list[Scalar]:
        """The names of a dotted key; an empty one where nothing is written yet."""
        found: list[Scalar] = []
        while True:
            match = _PART.match(self.text, self.pos)
            if match is None:
                return found
            key, start = match.group("key"), match.start("key")
            quote = key[0] if key[0] in "\"'" else ""
            inner = start + len(quote)
            found.append(Scalar(start, start + len(key), key[1:-1] if quote else key, inner, quote))
            self.pos = match.end()
            if self.char() != ".":
                return found
            self.pos += 1

    def pair(self, table: Map) -> None:
        """`key = value` of a table, the key perhaps dotted."""
        parts = self.parts()
        if not parts:
            self.line_end()
            return
        for part in parts[:-1]:
            table = _enter(table, part, False)
        entry = Entry(parts[-1], None, False)
        table.entries.append(entry)
        self.blanks()
        if self.char() != "=":
            return
        entry.colon = True
        self.pos += 1
        self.blanks()
        if self.char() not in ("", "\n", "\r", "#", ",", "}", "]"):
            entry.value = self.value()

    # Values

    def value(self) -> Node:
        char = self.char()
        if char == "[" and self.depth < MAX_DEPTH:
            return self.array()
        if char == "{" and self.depth < MAX_DEPTH:
            return self.inline_table()
        if char in _LONG:
            return self.string(char)
        match = _PLAIN.match(self.text, self.pos)
        assert match is not None
        self.pos = max(match.end(), match.start() + 1)
        text = match.group().rstrip()
        return Scalar(match.start(), match.start() + len(text), text, match.start())

    def string(self, quote: str) -> Scalar:
        start = self.pos
        mark = _LONG[quote] if self.text.startswith(_LONG[quote], start) else quote
        inner = at = start + len(mark)
        stop = self.text.find("\n", at) if len(mark) == 1 else len(self.text)
        stop = len(self.text) if stop < 0 else stop
        while at < stop and not self.text.startswith(mark, at):
            at += 2 if quote == '"' and self.text[at] == "\\" else 1
        at = min(at, stop)
        self.pos = at + len(mark) if at < stop else at
        return Scalar(start, self.pos, self.text[inner:at], inner, mark)

    def array(self) -> Seq:
        made = Seq(self.pos, True)
        self.pos += 1
        self.depth += 1
        while self.token():
            char = self.char()
            line_start = self.pos == 0 or self.text[self.pos - 1] == "\n"
            if char in "]}":
                self.pos += 1 if char == "]" else 0
                break
            if line_start and _NEXT.match(self.text, self.pos):
                break
            if char == ",":
                self.pos += 1
            else:
                made.items.append(self.value())
        self.depth -= 1
        return made

    def inline_table(self) -> Map:
        made = Map(self.pos, True)
        self.pos += 1
        self.depth += 1
        while True:
            self.blanks()
            char = self.char()
            if char in ("", "\n", "\r", "#", "]") or self.text[self.pos - 1] == "\n":
                break  # at the end of its line, or behind that where something inside of it was never closed
            if char == "}":
                self.pos += 1
                break
            before = self.pos
            if char != ",":
                self.pair(made)
            if self.pos == before:
                self.pos += 1
        self.depth -= 1
        return made


def _enter(table: Map, part: Scalar, array: bool) -> Map:
    """The table of a name in another one, the last one of a list of tables; made where it is missing."""
    for entry in table.entries:
        if entry.key.word == part.word:
            value = entry.value
            if isinstance(value, Seq):
                if array or not value.items or not isinstance(value.items[-1], Map):
                    value.items.append(Map(part.start))
                last = value.items[-1]
                assert isinstance(last, Map)
                return last
            if isinstance(value, Map) and not array:
                return value
    made = Map(part.start)
    table.entries.append(
        Entry(Scalar(part.start, part.end, part.word, part.inner), Seq(part.start, False, [made]) if array else made)
    )
    return made
