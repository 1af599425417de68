"""What is asked: the text, the cursor, what may stand there, and the edits that put something in."""

from __future__ import annotations

import re
from functools import cached_property

from pypto_spec.editor.complete.scope import Scope
from pypto_spec.editor.complete.snippets import Style
from pypto_spec.editor.complete.spot import Spot, spot_of
from pypto_spec.editor.complete.text.toml import read_toml
from pypto_spec.editor.complete.text.tree import CURSOR, Header, Map, find
from pypto_spec.editor.complete.text.yaml import read_yaml
from pypto_spec.editor.document import Document
from pypto_spec.editor.model import Edit

_WORD = re.compile(r"[\w$-]")


class Request:
    """A place of a document. `spot` is None where nothing can be proposed, `header` that of a TOML table."""

    def __init__(self, document: Document, at: int) -> None:
        self.text = document.source.text
        self.at = at = max(0, min(at, len(self.text)))
        self.toml = document.format == "toml"
        shown = self.text.replace(CURSOR, "?")
        marked = shown[:at] + CURSOR + shown[at:]
        self.tree = read_toml(marked) if self.toml else read_yaml(marked)
        self.header: Header | None = self.tree.header
        place = find(self.tree.root)
        self.spot: Spot | None = spot_of(self.tree, place) if place is not None else None

    @cached_property
    def scope(self) -> Scope:
        """The names in force at the cursor."""
        assert self.spot is not None
        return Scope(self.spot)

    @property
    def dump(self) -> bool:
        """Whether the document is a dump, which has keys of its own."""
        return self.tree.root.get("dump") is not None

    def real(self, offset: int) -> int:
        """The offset in the document of one in the marked text."""
        return offset - 1 if offset > self.at else offset

    @cached_property
    def word(self) -> tuple[int, int]:
        """The word around the cursor; where nothing of it is typed yet, the empty place before what follows."""
        start = end = self.at
        while start > 0 and _WORD.match(self.text[start - 1]):
            start -= 1
        while start < self.at and self.text[start] == "-" and not self._inside(start):
            start += 1
        if start == self.at:
            return start, start
        while end < len(self.text) and _WORD.match(self.text[end]):
            end += 1
        return start, end

    def _inside(self, offset: int) -> bool:
        """Whether a dash joins two parts of a word."""
        return offset > 0 and bool(_WORD.match(self.text[offset - 1]))

    @property
    def typed(self) -> str:
        """What is typed of the word."""
        return self.text[self.word[0] : self.at]

    @property
    def style(self) -> Style:
        """How the text around the cursor is written."""
        flow = self.spot is not None and self.spot.flow
        if self.toml:
            return "inline" if flow else "table"
        return "flow" if flow else "block"

    @property
    def line_start(self) -> int:
        return self.text.rfind("\n", 0, self.at) + 1

    @property
    def indent(self) -> int:
        """The column of the word, relative to the indentation of its line."""
        line = self.text[self.line_start : self.word[0]]
        return len(line.lstrip(" "))

    @property
    def alone(self) -> bool:
        """Whether nothing but blanks stands before the word on its line."""
        return not self.text[self.line_start : self.word[0]].strip(" ")

    def first_in_item(self, mapping: Map) -> bool:
        """Whether a statement starts with the word, on a line without the dash that it needs."""
        if self.toml or self.spot is None or self.spot.flow or not self.alone:
            return False
        starts = self.real(mapping.start) == self.word[0]
        return starts and not self.text[: self.word[0]].rstrip().endswith("-")

    def edit(self, text: str) -> Edit:
        """Put a text in the place of the word, with a blank before it where the sign before it needs one."""
        start, end = self.word
        before = self.text[start - 1 : start]
        scalar = self.spot.scalar if self.spot is not None else None
        first = scalar is not None and self.real(scalar.start) == start
        blank = first and (before == "=" if self.toml else before in (":", "-"))
        return Edit(start, end, f" {text}" if blank else text)

    def quoted(self, text: str) -> str:
        """A word as a value: in quotes where TOML wants them and none are there."""
        scalar = self.spot.scalar if self.spot is not None else None
        return f'"{text}"' if self.toml and scalar is not None and not scalar.quote else text


def present(mapping: Map) -> set[str]:
    """The keys of a mapping but for the one that is being written."""
    return {entry.key.word for entry in mapping.entries if not entry.key.here}
