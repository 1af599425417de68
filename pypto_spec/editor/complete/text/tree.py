"""What the tolerant readers make of a text. All offsets count the mark at the cursor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TypeAlias

from pypto_spec.records import dataclass

CURSOR = "\ue000"
"""Stands in the text at the cursor: a character of private use, which no spec has a use for."""

MAX_DEPTH = 60
"""Collections inside each other, beyond which nothing is read any more."""


@dataclass(slots=True, eq=False)
class Scalar:
    """A text, as it is written: `text` without its quotes, which starts at `inner`. `quote` is empty for plain ones."""

    start: int
    end: int
    text: str
    inner: int
    quote: str = ""

    @property
    def word(self) -> str:
        """The text without the mark."""
        return self.text.replace(CURSOR, "").strip()

    @property
    def here(self) -> bool:
        """Whether the cursor is in it."""
        return CURSOR in self.text


@dataclass(slots=True, eq=False)
class Entry:
    """A key with its value; `colon` tells whether the sign between them is there."""

    key: Scalar
    value: Node | None = None
    colon: bool = True


@dataclass(slots=True, eq=False)
class Map:
    """A mapping; `flow` for one in braces."""

    start: int
    flow: bool = False
    entries: list[Entry] = field(default_factory=list)

    def get(self, key: str) -> Node | None:
        """The value of the first entry of that key."""
        for entry in self.entries:
            if entry.key.word == key:
                return entry.value
        return None

    def items(self) -> Iterator[tuple[str, Node | None]]:
        """Keys with values, as they stand."""
        return ((entry.key.word, entry.value) for entry in self.entries)


@dataclass(slots=True, eq=False)
class Seq:
    """A list; `flow` for one in brackets."""

    start: int
    flow: bool = False
    items: list[Node | None] = field(default_factory=list)


Node: TypeAlias = Scalar | Map | Seq


@dataclass(slots=True, eq=False)
class Header:
    """The header of a TOML table with the cursor in it: the names before that, and whether it is one of a list."""

    names: tuple[str, ...]
    part: Scalar
    array: bool


@dataclass(slots=True, eq=False)
class Tree:
    """A text read tolerantly."""

    root: Map
    header: Header | None = None


@dataclass(slots=True, eq=False)
class Step:
    """One step from the root to the cursor: into the value of a key, or into an item of a list."""

    holder: Map | Seq
    key: str | int


@dataclass(slots=True, eq=False)
class Place:
    """Where the cursor is. `entry` is set where it stands in a key, which is then not part of the path."""

    path: list[Step]
    scalar: Scalar
    entry: Entry | None = None

    @property
    def holder(self) -> Map | Seq | None:
        """The collection that the cursor's token belongs to."""
        return self.path[-1].holder if self.path else None


def find(root: Map) -> Place | None:
    """The place of the cursor; None where it is in a comment, or in what the reader could make nothing of."""
    path: list[Step] = []

    def inside(node: Node | None) -> Place | None:
        if node is None:
            return None
        if isinstance(node, Scalar):
            return Place(path, node) if node.here else None
        if isinstance(node, Map):
            for entry in node.entries:
                path.append(Step(node, entry.key.word))
                if entry.key.here:
                    return Place(path, entry.key, entry)
                found = inside(entry.value)
                if found is not None:
                    return found
                path.pop()
            return None
        for number, item in enumerate(node.items):
            path.append(Step(node, number))
            found = inside(item)
            if found is not None:
                return found
            path.pop()
        return None

    return inside(root)
