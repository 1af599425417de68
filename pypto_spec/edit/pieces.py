"""What a text of a spec consists of: values as they are written, with the comments and blank lines around them.

Unlike the tree of the loaders, nothing is expanded or resolved here, and no comment is lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TypeAlias

from pypto_spec.records import dataclass

WIDTH = 120
"""Columns of a line; what is longer is broken where it can be."""

STEP = 2
"""Columns of one indentation."""


class UnusualError(Exception):
    """A form that is read, and that no rule of the layout is for: such a text stays as it is."""


@dataclass(slots=True)
class Remark:
    """A comment on a line of its own, without the blanks around it. `blank`: an empty line stands above it."""

    text: str
    blank: bool = False


@dataclass(slots=True)
class Scalar:
    """A single value. `raw` is how it is written (of a block scalar: all of its lines), `text` what it says."""

    raw: str
    text: str
    style: str
    props: str = ""
    """Anchor and tag."""
    tail: str = ""
    """The comment behind it, on its line."""


@dataclass(slots=True)
class Alias:
    """`*name`, which stands at the offset `at`."""

    raw: str
    tail: str = ""
    props: str = ""
    at: int = 0


@dataclass(slots=True)
class Collection:
    """A mapping or a list, in block or flow style; `broken`: the author starts a line behind its bracket."""

    mapping: bool
    flow: bool
    members: list[Member] = field(default_factory=list)
    props: str = ""
    tail: str = ""
    broken: bool = False
    pair: bool = False
    """A mapping of one entry that stands without braces in a list: `[a: b]`."""
    trail: list[Remark] = field(default_factory=list)
    """Comments behind the last member that belong to the collection."""


Piece: TypeAlias = Scalar | Alias | Collection


@dataclass(slots=True)
class Member:
    """An entry of a mapping, or an item of a list (`key` is None)."""

    value: Piece
    key: Scalar | Alias | None = None
    lead: list[Remark] = field(default_factory=list)
    """Comments on the lines above."""
    blank: bool = False
    """Whether an empty line stands right above it."""
    opener: str = ""
    """The comment behind `key:` or `-` whose value starts on a later line."""
    inner: list[Remark] = field(default_factory=list)
    """Comments between that line and a value that is no block collection."""

    @property
    def commented(self) -> bool:
        """Whether comments stand around it or in it."""
        return bool(self.lead or self.opener or self.inner) or has_comments(self.value)


@dataclass(slots=True)
class Text:
    """A whole document: `head` are the lines up to `---`, `foot` those from `...` on."""

    root: Piece
    head: list[str] = field(default_factory=list)
    foot: list[str] = field(default_factory=list)


def has_comments(piece: Piece, inside: bool = False) -> bool:
    """Whether a comment stands in a value or, where not `inside`, behind it."""
    if piece.tail and not inside:
        return True
    if not isinstance(piece, Collection):
        return False
    return bool(piece.trail) or any(member.commented for member in piece.members)


def lift(piece: Piece) -> None:
    """Mappings with comments inside get block style, and comments between a dash and a collection go above the dash."""
    if not isinstance(piece, Collection):
        return
    if piece.mapping and piece.flow and piece.members and has_comments(piece, inside=True):
        piece.flow = False
        piece.trail += [Remark(piece.tail)] if piece.tail else []
        piece.tail = ""
    for member in piece.members:
        value = member.value
        lift(value)
        if not isinstance(value, Collection) or not value.members or member.key is not None:
            continue
        if (value.mapping or not value.flow) and not value.props and not member.opener:
            first = value.members[0]
            member.lead += [*member.inner, *first.lead]
            member.inner, first.lead, first.blank = [], [], False


def comments(piece: Piece) -> Iterator[str]:
    """All comments of a value in the order in which they are written."""
    if isinstance(piece, Collection):
        for member in piece.members:
            yield from (remark.text for remark in member.lead)
            if member.opener:
                yield member.opener
            yield from (remark.text for remark in member.inner)
            yield from comments(member.value)
        if piece.flow and piece.tail:
            yield from (remark.text for remark in piece.trail)
            yield piece.tail
            return
        yield from (remark.text for remark in piece.trail)
    elif piece.tail:
        yield piece.tail


def plain_lines(text: str) -> tuple[str, str]:
    """A text with line feeds alone, and the line end it had: that of its first line."""
    first = text.find("\n")
    ending = "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text, ending
