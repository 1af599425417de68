"""YAML, read tolerantly: block and flow collections by indentation and brackets, whatever is half-typed.

Flow collections that are never closed end where a line is not indented beyond what holds them: that line is the next
key or statement. A formula with parentheses keeps its commas, though YAML would end it there.
"""

from __future__ import annotations

import re

from pypto_spec.editor.complete.text.tree import CURSOR, MAX_DEPTH, Entry, Map, Node, Scalar, Seq, Tree

_KEY = re.compile(
    rf"""(?P<key>"(?:[^"\\\n]|\\.)*"|'(?:[^'\n]|'')*'|[\w.$<{CURSOR}][\w.$<{CURSOR}-]*)[ \t]*:(?=[\s{CURSOR}]|\Z)"""
)
_FLOW_KEY = re.compile(r"[^\s,\[\]{}:#]+")
_DASH = re.compile(rf"-(?=[\s{CURSOR}]|\Z)")
_BLANK = frozenset(" \t\r")
_LINE_END = frozenset(("", "\n"))
_EMPTY = re.compile(r"(?:[ \t\r]*(?:#[^\n]*)?(?:\n|\Z))+[ \t]*(?:#[^\n]*\Z)?")
"""The rest of a line without content, and lines without any."""
_DECOR = re.compile(r"[&!][^\s,\[\]{}]*[ \t]+")
"""An anchor or tag before a value."""
_BLOCK = re.compile(r"[|>][-+0-9]*[ \t]*(?:#[^\n]*)?(?=\n|\Z)")
_SPECIAL = re.compile(r"[()\[\]{}\n,:#]")
_PLAIN = re.compile(r"[^\n]*?(?=[ \t]+#|[ \t\r]*(?:\n|\Z))")
_CLOSERS = {"{": "}", "[": "]"}


def read_yaml(text: str) -> Tree:
    """The tree of any text, with the mark in it."""
    return Tree(_Reader(text).document())


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 0
        self.depth = 0

    def document(self) -> Map:
        root = Map(0)
        self.pos = 1 if self.text[:1] == "\ufeff" else 0
        while True:
            column = self.content()
            if column is None:
                return root
            before = self.pos
            if self.text.startswith(("---", "...", "%"), self.pos) and column == 0:
                self.line_end()
                continue
            node = self.node(column)
            if isinstance(node, Map):
                root.entries.extend(node.entries)
            elif isinstance(node, Scalar) and node.here:
                root.entries.append(Entry(node, None, False))
            if self.pos == before:
                self.line_end()

    # Lines

    def column(self) -> int:
        return self.pos - (self.text.rfind("\n", 0, self.pos) + 1)

    def line_end(self) -> None:
        end = self.text.find("\n", self.pos)
        self.pos = len(self.text) if end < 0 else end

    def blanks(self) -> None:
        while self.text[self.pos : self.pos + 1] in _BLANK:
            self.pos += 1

    def char(self) -> str:
        return self.text[self.pos : self.pos + 1]

    def at_end(self) -> bool:
        """Whether nothing but a comment is left of the line."""
        self.blanks()
        char = self.text[self.pos : self.pos + 1]
        return char in _LINE_END or (char == "#" and (self.pos == 0 or self.text[self.pos - 1] in " \t\r\n"))

    def content(self) -> int | None:
        """Go to the next content, at the rest of this line or on a later one; its column, or None at the end."""
        if self.at_end():
            found = _EMPTY.match(self.text, self.pos)
            assert found is not None  # the end of a line, or a comment
            self.pos = found.end()
            if self.pos >= len(self.text):
                return None
        return self.column()

    def peek(self) -> tuple[int, int] | None:
        """Column and offset of the next content, without going there."""
        before = self.pos
        column = self.content()
        found = (column, self.pos) if column is not None else None
        self.pos = before
        return found

    # Blocks

    def node(self, column: int, holder: int = -1) -> Node | None:
        """What starts here, at `column`."""
        self.depth += 1
        try:
            if self.depth > MAX_DEPTH:
                self.line_end()
                return None
            if _DASH.match(self.text, self.pos):
                return self.sequence(column, holder)
            if _KEY.match(self.text, self.pos):
                return self.mapping(column)
            if self.char() in "{[\"'|>&!*":
                return self.inline(column - 1)
            return self.mapping(column) if self.lone_key() else self.inline(column - 1)
        finally:
            self.depth -= 1

    def lone_key(self) -> bool:
        """Whether a word here, without a colon, may be a key: it is being typed, or keys follow in line with it."""
        match = _PLAIN.match(self.text, self.pos)
        return match is not None and CURSOR in match.group()

    def mapping(self, column: int) -> Map:
        made = Map(self.pos)
        while True:
            match = _KEY.match(self.text, self.pos)
            if match is not None:
                key = _quoted_key(match.group("key"), match.start("key"))
                self.pos = match.end()
                entry = Entry(key)
                made.entries.append(entry)
                entry.value = self.value(column)
            else:
                made.entries.append(Entry(self.plain(), None, False))
            at = self.next_in_line(column)
            if at is None or _DASH.match(self.text, at):
                return made
            self.pos = at

    def next_in_line(self, column: int) -> int | None:
        """Where the next line at `column` has its content; None where the collection there has ended.

        Lines that are indented further belong to nothing, and are left out.
        """
        self.line_end()
        while True:
            found = self.peek()
            if found is None or found[0] < column:
                return None
            if found[0] == column:
                return found[1]
            self.pos = found[1]
            self.line_end()

    def sequence(self, column: int, holder: int) -> Seq:
        """A list whose dashes stand at `column`, below something at column `holder`.

        A word that is being typed there, without a dash, is an item without one.
        """
        made = Seq(self.pos)
        while True:
            if _DASH.match(self.text, self.pos):
                self.pos += 1
                made.items.append(self.dashed(column))
            else:
                made.items.append(Map(self.pos, False, [Entry(self.plain(), None, False)]))
            at = self.next_in_line(column)
            if at is None:
                return made
            before, self.pos = self.pos, at
            if not _DASH.match(self.text, at) and (
                column == holder or _KEY.match(self.text, at) or not self.lone_key()
            ):
                self.pos = before
                return made

    def dashed(self, column: int) -> Node | None:
        """What stands behind a dash at `column`."""
        if not self.at_end():
            return self.node(self.column())
        found = self.peek()
        if found is None or found[0] <= column:
            return None
        self.pos = found[1]
        return self.node(found[0])

    def value(self, column: int) -> Node | None:
        """The value behind the colon of a key at `column`."""
        self.decor()
        if not self.at_end():
            return self.inline(column)
        found = self.peek()
        if found is None or found[0] < column:
            return None
        here, at = found
        if here > column or _DASH.match(self.text, at):
            self.pos = at
            return self.node(here, column) if here > column else self.sequence(here, column)
        return None

    def inline(self, limit: int) -> Node | None:
        """A value that starts on this line, below something at column `limit`."""
        self.blanks()
        char = self.char()
        if char in ("{", "["):
            return self.flow(limit)
        if char in ("'", '"'):
            return self.quoted(limit)
        if char in ("|", ">") and _BLOCK.match(self.text, self.pos):
            return self.block_text(limit)
        scalar = self.plain()
        while True:  # a plain text goes on over lines that are indented further
            found = self.peek()
            if found is None or found[0] <= limit or "\n" not in self.text[self.pos : found[1]]:
                return scalar
            if _KEY.match(self.text, found[1]) or _DASH.match(self.text, found[1]):
                return scalar
            self.pos = found[1]
            more = self.plain()
            scalar.end = more.end
            scalar.text = self.text[scalar.inner : more.end]

    def plain(self) -> Scalar:
        match = _PLAIN.match(self.text, self.pos)
        assert match is not None
        self.pos = match.end()
        return Scalar(match.start(), match.end(), match.group(), match.start())

    def block_text(self, limit: int) -> Scalar:
        start = self.pos
        self.line_end()
        inner = end = min(self.pos + 1, len(self.text))
        while self.pos < len(self.text):
            line = self.pos + 1
            stop = self.text.find("\n", line)
            stop = len(self.text) if stop < 0 else stop
            stripped = self.text[line:stop].lstrip(" ")
            if stripped.strip() and stop - line - len(stripped) <= limit:
                break
            self.pos = end = stop
        return Scalar(start, end, self.text[inner:end], inner, "|")

    def quoted(self, limit: int) -> Scalar:
        start, quote = self.pos, self.char()
        at = start + 1
        stop = self.text.find("\n", at)
        stop = len(self.text) if stop < 0 else stop
        while at < len(self.text) and self.text[at] != quote:
            at += 2 if quote == '"' and self.text[at] == "\\" else 1
            if quote == "'" and self.text.startswith("''", at):
                at += 2
        closed = at < len(self.text)
        if at > stop and (not closed or CURSOR in self.text[start:stop] or self.dedents(start, at, limit)):
            at, closed = stop, False  # nobody has closed it yet
        at = min(at, len(self.text))
        self.pos = at + 1 if closed else at
        return Scalar(start, self.pos, self.text[start + 1 : at], start + 1, quote)

    def dedents(self, start: int, end: int, limit: int) -> bool:
        """Whether a line between two offsets is not indented beyond `limit`."""
        for line in self.text[start:end].split("\n")[1:]:
            stripped = line.lstrip(" ")
            if stripped and len(line) - len(stripped) <= limit:
                return True
        return False

    def decor(self) -> None:
        """Go over blanks, an anchor and a tag before a value."""
        self.blanks()
        while self.char() in ("&", "!"):
            match = _DECOR.match(self.text, self.pos)
            if match is None:
                return
            self.pos = match.end()

    # Flow

    def flow(self, limit: int) -> Map | Seq:
        opener = self.char()
        self.pos += 1
        made: Map | Seq = Map(self.pos - 1, True) if opener == "{" else Seq(self.pos - 1, True)
        self.depth += 1
        while self.inside(limit) and self.depth <= MAX_DEPTH:
            char = self.char()
            if char in "}]":
                if char == _CLOSERS[opener]:
                    self.pos += 1
                break
            if char == ",":
                self.pos += 1
            elif isinstance(made, Map):
                made.entries.append(self.pair(limit))
            else:
                made.items.append(self.item(limit))
        self.depth -= 1
        return made

    def inside(self, limit: int) -> bool:
        """Go to the next token of a flow collection; False where it has ended, or must have."""
        while self.at_end():
            found = self.peek()
            if found is None or (found[0] <= limit and self.text[found[1]] not in "}]"):
                return False
            self.pos = found[1]
        return True

    def pair(self, limit: int) -> Entry:
        if self.char() in ("'", '"'):
            key = self.quoted(limit)
        else:
            match = _FLOW_KEY.match(self.text, self.pos)
            end = match.end() if match is not None else self.pos + 1
            key = Scalar(self.pos, end, self.text[self.pos : end], self.pos)
            self.pos = end
        return self.after_key(key, limit)

    def after_key(self, key: Scalar, limit: int) -> Entry:
        self.blanks()
        if self.char() != ":":
            return Entry(key, None, False)
        self.pos += 1
        if not self.inside(limit) or self.char() in ",}]":
            return Entry(key)
        return Entry(key, self.flow_value(limit))

    def item(self, limit: int) -> Node:
        node = self.flow_value(limit)
        if isinstance(node, Scalar):
            before = self.pos
            self.blanks()
            if self.char() == ":":
                return Map(node.start, True, [self.after_key(node, limit)])
            self.pos = before
        return node

    def flow_value(self, limit: int) -> Node:
        self.decor()
        char = self.char()
        if char in ("{", "["):
            return self.flow(limit)
        return self.quoted(limit) if char in ("'", '"') else self.flow_plain()

    def flow_plain(self) -> Scalar:
        """A plain text in a flow collection, with the commas inside its own brackets."""
        start = at = self.pos
        text, open_ = self.text, ""
        while True:
            found = _SPECIAL.search(text, at)
            if found is None:
                at = len(text)
                break
            at, char = found.start(), found.group()
            if char in "([":
                open_ += char
            elif (char == ")" and open_[-1:] == "(") or (char == "]" and open_[-1:] == "["):
                open_ = open_[:-1]
            elif char in "\n{}]" or (not open_ and self.ends_plain(start, at)):
                break
            at += 1
        self.pos = max(at, start + 1)
        end = start + len(text[start:at].rstrip())
        return Scalar(start, end, text[start:end], start)

    def ends_plain(self, start: int, at: int) -> bool:
        """Whether a plain text of a flow collection ends: at a comma, a comment, or the colon of a key."""
        text, char = self.text, self.text[at]
        if char == ":":
            return text[at + 1 : at + 2] in (" ", "\n") and _is_word(text[start:at])
        return char == "," or (char == "#" and at > start and text[at - 1] in " \t")


def _is_word(text: str) -> bool:
    return text.replace(CURSOR, "x").isidentifier()


def _quoted_key(text: str, start: int) -> Scalar:
    if text[:1] in ("'", '"'):
        return Scalar(start, start + len(text), text[1:-1], start + 1, text[0])
    return Scalar(start, start + len(text), text, start)
