"""What is left open on lines of TOML: texts, tables and lists, and keys without a value."""

from __future__ import annotations

import re

from pypto_spec.editor.mend.patch import Patch

_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\'|"""[^\r\n]*|\'\'\'[^\r\n]*|"(?:[^"\\\r\n]|\\[^\r\n])*"?|\'[^\'\r\n]*\'?|#[^\r\n]*|\r\n|[\r\n]'
    r"|[\[\]{},=]|[ \t]+|[^\s\[\]{},=\"'#]+",
    re.DOTALL,
)
_HEADER = re.compile(r"[ \t]*\[\[?[A-Za-z_][^\[\]\r\n]*\]\]?[ \t]*(?:#|\r|\n|\Z)")
_PAIR = re.compile(r"[ \t]*[A-Za-z0-9_.\"'-]+[ \t]*=")
_WORD = re.compile(r"(?!(?:true|false|inf|nan)\Z)[A-Za-z_]")
_QUOTE = re.compile(r"\"\"\"|'''|[\"']")
MOST_COMMAS = 200
"""Superfluous commas that are taken out of one text."""
_CLOSERS = {"[": "]", "{": "}"}


def mend_lines(patch: Patch) -> None:
    """Close what no line of a text may leave open, and give keys a value."""
    walk = _Walk(patch.text)
    walk.run()
    for at in walk.commas[:MOST_COMMAS]:
        patch.blank(at, at + 1)
    patch.insert(walk.found)


class _Walk:
    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[tuple[int, str]] = []
        """What is put in, and where."""
        self.commas: list[int] = []
        """Commas that end a table in braces, which TOML does not allow."""
        self.stack: list[str] = []
        self.indents: list[int] = []
        """How deep the lines are indented on which they were opened."""
        self.indent = 0
        self.last = ""
        """The last token of the line, or of the list that goes on: what a value may be missing behind."""
        self.end = 0
        """Where that token ends."""
        self.key = True
        """Whether a key may stand here."""
        self.first = -1
        """Where the line begins, if nothing is written in it yet."""

    def run(self) -> None:
        text, at = self.text, 0
        self.first = 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                at += 1
                continue
            if self.first >= 0 and not match.group().isspace():
                at = self._line(at)
                if at < 0:
                    return
                match = _TOKEN.match(text, at)
                if match is None:
                    at += 1
                    continue
            self._token(match.group(), match.start(), match.end())
            at = match.end()
        self._line_end()
        self._close_all()

    def _line(self, at: int) -> int:
        """The first token of a line: a header or a pair ends what is open."""
        start, self.first = self.first, -1
        header = _HEADER.match(self.text, start)
        if (self.stack and (header or (self.stack[-1] == "[" and _PAIR.match(self.text, start)))) or (
            header and not self.stack
        ):
            self._close_all()
        self.indent = at - start
        self._shallow(self.text[at] in "]}")
        if header is not None and not self.stack:
            end = header.end()
            found = self.text.find("]", start)
            while self.text[found : found + 1] == "]":
                found += 1
            self.last, self.end, self.key = "", found, False
            return min(found, end)
        if not self.stack:
            self.last, self.key = "", True
        return at

    def _token(self, token: str, start: int, end: int) -> None:
        if token[0] in "\r\n":
            self._line_end()
            self.first = end
        elif token[0] in " \t#":
            return
        elif token in _CLOSERS:
            self.stack.append(token)
            self.indents.append(self.indent)
            self._seen(token, end)
            self.key = token == "{"
        elif token in "]}" and self.stack and _CLOSERS[self.stack[-1]] == token:
            if token == "}":
                self._fill()
                self._no_comma()
            self.stack.pop()
            self.indents.pop()
            self._seen(token, end)
            self.key = False
        elif token == ",":
            self._fill()
            self._seen(token, end)
            self.key = bool(self.stack) and self.stack[-1] == "{"
        elif token == "=":
            self._seen(token, end)
            self.key = False
        else:
            quote = _QUOTE.match(token)
            if quote is not None and (len(token) < 2 * quote.end() or not token.endswith(quote.group())):
                self.found.append((end, quote.group()))  # a text that is not closed ends with its line
            elif not self.key and _WORD.match(token):
                self.found.append((start, '"'))
                self.found.append((end, '"'))
            self._seen(token, end)

    def _seen(self, token: str, end: int) -> None:
        self.last, self.end = token, end

    def _fill(self) -> None:
        """A value behind the key, or behind the `=`, that stands alone."""
        if self.last == "=":
            self.found.append((self.end, '""'))
            self.last = '""'
        elif self.key and self.last and self.last not in "{[,":
            self.found.append((self.end, ' = ""'))
            self.last = '""'

    def _no_comma(self) -> None:
        if self.last == ",":
            self.commas.append(self.end - 1)

    def _line_end(self) -> None:
        """A table in braces ends with its line, and so does a pair outside of all brackets."""
        if self.stack and self.stack[-1] == "{":
            while self.stack and self.stack[-1] == "{":
                self._fill()
                self._no_comma()
                self._close()
            self._next_item()
        elif not self.stack:
            self._fill()
            self.last, self.key = "", True

    def _next_item(self) -> None:
        """What was closed is an item of a list that goes on."""
        if self.stack and self.stack[-1] == "[":
            self.found.append((self.end, ","))
            self.last = ","

    def _shallow(self, closes: bool) -> None:
        """A line that is indented less deep than the one on which a list of a table began is not in that list."""
        closed = False
        while "{" in self.stack and (
            self.indent < self.indents[-1] or (self.indent == self.indents[-1] and not closes)
        ):
            if self.stack[-1] == "{":
                self._fill()
                self._no_comma()
            self._close()
            closed = True
        if closed and not closes:
            self._next_item()

    def _close(self) -> None:
        sign = _CLOSERS[self.stack.pop()]
        self.indents.pop()
        self.found.append((self.end, sign))
        self.last, self.key = sign, False

    def _close_all(self) -> None:
        while self.stack:
            if self.stack[-1] == "{":
                self._fill()
                self._no_comma()
            self._close()
