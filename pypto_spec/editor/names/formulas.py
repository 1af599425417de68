"""The parts of a formula, also of one that is not finished: names, functions, named arguments, words."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Literal, TypeAlias

from pypto_spec.convert.let_composites import COMPOSITES
from pypto_spec.ir.dtype import DTYPES
from pypto_spec.ir.opdef import Field
from pypto_spec.ir.types import Memory
from pypto_spec.ops.registry import function
from pypto_spec.records import dataclass
from pypto_spec.spec.formula import FormulaError
from pypto_spec.spec.formula.lexer import Token, tokenize
from pypto_spec.spec.formula.parser import RESERVED
from pypto_spec.spec.positions import scalar_offsets
from pypto_spec.spec.tree import ScalarNode

PartKind: TypeAlias = Literal["name", "target", "function", "keyword", "word", "reserved", "number", "sign"]

_MOST_REPAIRS = 40
"""Characters without a meaning that are skipped in one formula."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part with its place in the formula's text. `function` is the call around it, for a named argument."""

    kind: PartKind
    text: str
    start: int
    end: int
    function: str = ""
    alone: bool = False
    """Of a name: it is all of an argument, or all of the formula, so that it may be a word."""


def tokens_of(text: str) -> list[Token]:
    """The tokens of a formula; what is no token is skipped."""
    for _ in range(_MOST_REPAIRS):
        try:
            return tokenize(text)
        except FormulaError as error:
            end = max(error.end, error.start + 1)
            if end - error.start >= len(text):
                return []
            text = text[: error.start] + " " * (end - error.start) + text[end:]
    return []


@cache
def word_fields(name: str) -> Mapping[str | int, frozenset[str]]:
    """The words that arguments of a function take, by their place and by their name."""
    found: dict[str | int, frozenset[str]] = {}
    for defn in function(name):
        for place, field in enumerate(f for f in defn.fields if f.kind != "bind"):
            words = _words(field)
            if words:
                found[place] = found[field.name] = words
    composite = COMPOSITES.get(name)
    if composite is not None and composite.forms:
        found[1] = found["approximate"] = frozenset(composite.forms)
    return found


def _words(field: Field) -> frozenset[str]:
    kinds = {"dtype": DTYPES, "memory": [m.value for m in Memory], "word": field.words}
    return frozenset(kinds.get(field.kind, ()))


class _Calls:
    """Which argument of which call a token is."""

    def __init__(self) -> None:
        self.stack: list[tuple[str, str | int]] = []

    def open(self, name: str) -> None:
        self.stack.append((name, 0))

    def close(self) -> None:
        if self.stack:
            self.stack.pop()

    def next(self) -> None:
        if self.stack:
            name, place = self.stack[-1]
            self.stack[-1] = name, place + 1 if isinstance(place, int) else place

    def named(self, keyword: str) -> None:
        if self.stack:
            self.stack[-1] = self.stack[-1][0], keyword

    def words(self) -> frozenset[str]:
        if not self.stack:
            return frozenset()
        name, place = self.stack[-1]
        return word_fields(name).get(place, frozenset())


@lru_cache(maxsize=16384)
def parts(text: str, *, let: bool = False) -> tuple[Part, ...]:
    """The parts of a formula; with `let` it starts with the name it binds."""
    tokens = tokens_of(text)
    made: list[Part] = []
    calls = _Calls()
    for number, token in enumerate(tokens[:-1]):
        before = tokens[number - 1].text if number else ""
        after = tokens[number + 1].text
        kind: PartKind = "sign"
        if token.kind == "number":
            kind = "number"
        elif token.kind == "name":
            alone = (not number or before in ("(", ",", "=")) and after in (")", ",", "")
            if let and number == 0 and (after == "=" or len(tokens) <= 2):
                kind = "target"
            elif token.text in RESERVED:
                kind = "reserved"
            elif after == "(":
                kind = "function"
            elif after == "=" and calls.stack:
                kind = "keyword"
                calls.named(token.text)
            else:
                kind = "word" if alone and token.text in calls.words() else "name"
            around = calls.stack[-1][0] if calls.stack else ""
            made.append(Part(kind, token.text, token.start, token.end, around, alone))
            continue
        elif token.text in ("(", "["):
            calls.open(tokens[number - 1].text if number and tokens[number - 1].kind == "name" else "")
        elif token.text in (")", "]"):
            calls.close()
        elif token.text == ",":
            calls.next()
        made.append(Part(kind, token.text, token.start, token.end))
    return tuple(made)


class Places:
    """Where the characters of a scalar's text stand in the file."""

    __slots__ = ("_base", "_begins", "_ends")

    def __init__(self, node: ScalarNode) -> None:
        self._begins: list[int] | None = None
        self._ends: list[int] | None = None
        start, end = node.content_offsets()
        self._base: int | None = start
        if node.source.text[start:end] == node.text and node.style not in ("|", ">"):
            return
        found = scalar_offsets(node)
        if found is None:
            self._base = None
        else:
            self._begins, self._ends = found

    @property
    def known(self) -> bool:
        """Whether the places can be told."""
        return self._base is not None

    def of(self, start: int, end: int) -> tuple[int, int]:
        """The offsets in the file of a non-empty stretch of the text."""
        if self._begins is not None and self._ends is not None:
            return self._begins[start], self._ends[end - 1]
        base = self._base or 0
        return base + start, base + end
