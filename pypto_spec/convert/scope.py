"""What names mean while a program is read: one namespace, no shadowing, and scopes that end.

Tensors, scalars, constants, symbols, loop indices and values share the namespace. A value's name may be bound again;
what it was first bound in (a loop, an arm, a region) ends it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal

from pypto_spec.diagnostics.model import CompileError, Label, diagnose
from pypto_spec.diagnostics.rules.names import SHADOWED_NAME, UNDEFINED_NAME
from pypto_spec.diagnostics.span import NOWHERE, Span
from pypto_spec.diagnostics.suggest import did_you_mean
from pypto_spec.ir.expr import Index
from pypto_spec.ir.nodes import Value
from pypto_spec.records import dataclass
from pypto_spec.spec.tree import Node, ScalarNode

Kind = Literal["tensor", "constant", "symbol", "scalar", "index", "number", "value"]
_EVERYWHERE = frozenset({"tensor", "constant", "symbol", "scalar"})
_ARTICLES = {"index": "a loop index"}
_INNER = "it is first bound inside a loop or one arm of an `if`, and ends there"
_OUTER: dict[str, str] = dict.fromkeys(
    ("value", "number"), "it is bound in another region, and values end with their region"
)
_WAYS_OUT = {
    _INNER: "use it inside; a value bound before the loop or `if` as well lives on behind it",
    _OUTER["value"]: "put both statements into one region, or store it to a tensor there and load it here",
}
_VERSION = re.compile(r"(?<![A-Za-z0-9_])([A-Za-z_][A-Za-z0-9_]*)\.([0-9]{1,9})(?![0-9])")


class PoisonedError(Exception):
    """A statement uses a value whose own statement has an error already; nothing more is said about it."""


Place = Span | Node | tuple[ScalarNode, int, int]
"""A span, or what one can be made of when a diagnostic needs it: a node, or a stretch of a scalar's text."""


def span_of(place: Place) -> Span:
    """The span of a place."""
    if isinstance(place, Span):
        return place
    return place.span if isinstance(place, Node) else place[0].sub_span(place[1], place[2])


@dataclass(frozen=True, slots=True)
class Name:
    """One meaning of a name. `index` is set where it may stand in an index expression, `constant` for constants.

    `argument` is set for a constant that is given to a function: its body may bind the name again.
    """

    text: str
    kind: Kind
    place: Place
    value: Value | None = None
    index: Index | None = None
    constant: int | float | str | bool | None = None
    argument: bool = False

    @property
    def span(self) -> Span:
        """Where it was defined or bound."""
        return span_of(self.place)

    @property
    def rebound(self) -> bool:
        """Whether a number may be bound to it."""
        return self.kind == "number" or self.argument

    @property
    def what(self) -> str:
        """The kind in words, with its article."""
        return _ARTICLES.get(self.kind, f"a {self.kind}")


class Scope:
    """The names in force at one point of the text."""

    def __init__(self) -> None:
        self._names: dict[str, Name] = {}
        self._trail: list[tuple[str, Name | None]] = []
        self._ended: dict[str, tuple[Name, str]] = {}
        self._program: dict[str, Name] | None = None
        """In the body of a function: the names of the whole program."""

    @property
    def in_function(self) -> bool:
        """Whether this is the body of a function."""
        return self._program is not None

    def get(self, text: str) -> Name | None:
        """What a name means here."""
        return self._names.get(text)

    def __iter__(self) -> Iterator[Name]:
        return iter(self._names.values())

    def declare(self, name: Name) -> None:
        """Add a name that must be new; the error shows where it stands already."""
        before = self._names.get(name.text)
        if before is not None:
            raise self.shadowed(before, name.span, name.what)
        self.set(name)

    def set(self, name: Name) -> None:
        """Bind a name, whatever it meant."""
        self._trail.append((name.text, self._names.get(name.text)))
        self._names[name.text] = name

    def shadowed(self, before: Name, span: Span, what: str) -> CompileError:
        """The error for a name that means something else already."""
        return CompileError(
            [
                diagnose(
                    SHADOWED_NAME,
                    span,
                    f"`{before.text}` cannot name {what}: it is {before.what} already",
                    label="this name is taken",
                    secondary=[Label(before.span, f"`{before.text}` is {before.what} here")],
                    notes=["tensors, scalars, constants, symbols, loop indices and values share one namespace"],
                    helps=[f"choose another name, for example `{before.text}_2`"],
                )
            ]
        )

    @contextmanager
    def assuming(self, numbers: Mapping[str, Index]) -> Iterator[None]:
        """While it lasts these names stand for these indices."""
        before = {text: self._names.get(text) for text in numbers}
        self._names.update((text, Name(text, "number", NOWHERE, index=index)) for text, index in numbers.items())
        try:
            yield
        finally:
            for text, name in before.items():
                if name is None:
                    del self._names[text]
                else:
                    self._names[text] = name

    @contextmanager
    def apart(self, names: Sequence[Name]) -> Iterator[None]:
        """While it lasts only what the whole program has is visible, and these names, which come first.

        It is the body of a function: its arguments may be called like tensors of programs it is used in.
        """
        outside, trail, program = self._names, self._trail, self._program
        if program is None:
            self._program = {text: name for text, name in outside.items() if name.kind in _EVERYWHERE}
        self._names = dict(self._program or {})
        self._trail = []
        for name in names:
            self.set(name)
        try:
            yield
        finally:
            self._names, self._trail, self._program = outside, trail, program

    # Scopes

    def mark(self) -> int:
        """The present point, for `leave`, `rewind` and `close`."""
        return len(self._trail)

    def leave(self, mark: int, keep: Collection[str] = ()) -> None:
        """End a loop or arm: names first bound in it are gone (but those of `keep`), others keep their latest value."""
        first: dict[str, Name | None] = {}
        for text, before in self._trail[mark:]:
            first.setdefault(text, before)
        del self._trail[mark:]
        for text, before in first.items():
            if before is None and text not in keep:
                self.end(self._names.pop(text), _INNER)
            else:
                self._trail.append((text, before))

    def rewind(self, mark: int) -> dict[str, Name]:
        """Undo all bindings since `mark`, for the other arm of an `if`; gives what the names meant last."""
        latest: dict[str, Name] = {}
        while len(self._trail) > mark:
            text, before = self._trail.pop()
            latest.setdefault(text, self._names[text])
            if before is None:
                del self._names[text]
            else:
                self._names[text] = before
        return latest

    def close(self, mark: int) -> None:
        """End a region, a host loop or a grid: every name bound in it is gone."""
        for name in self.rewind(mark).values():
            self.end(name, _OUTER.get(name.kind, _INNER))

    def end(self, name: Name, why: str = _INNER) -> None:
        """Remember a name whose scope is over."""
        self._ended[name.text] = (name, why)

    def undefined(self, text: str, span: Span, kinds: tuple[Kind, ...] = ()) -> CompileError:
        """The error for a name that means nothing here; suggestions are names of these `kinds`."""
        known = [n.text for n in self if not _VERSION.fullmatch(n.text) and (not kinds or n.kind in kinds)]
        meant = did_you_mean(text, known)
        helps: list[str] = [meant] if meant else []
        ended = self._ended.get(text)
        if ended is None:
            if known and not helps:
                more = f" and {len(known) - 8} more" if len(known) > 8 else ""
                helps.append("known here: " + ", ".join(f"`{name}`" for name in known[:8]) + more)
            return CompileError(
                [diagnose(UNDEFINED_NAME, span, f"`{text}` is not defined here", label="not defined", helps=helps)]
            )
        name, why = ended
        helps.append(_WAYS_OUT[why])
        return CompileError(
            [
                diagnose(
                    UNDEFINED_NAME,
                    span,
                    f"`{text}` is not defined here: {why}",
                    label="ended before this",
                    secondary=[Label(name.span, f"`{text}` is bound here")],
                    helps=helps,
                )
            ]
        )


class Fresh:
    """Names for the intermediate results of a `let`: versions of the name it binds that the text does not use."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._taken: dict[str, set[int]] | None = None
        self._next: dict[str, int] = {}

    def name(self, base: str) -> str:
        """The next free version of `base`."""
        if self._taken is None:
            self._taken = {}
            for stem, number in _VERSION.findall(self._text):
                self._taken.setdefault(stem, set()).add(int(number))
        base = base.partition(".")[0]
        number = self._next.get(base, 1)
        taken = self._taken.get(base, ())
        while number in taken:
            number += 1
        self._next[base] = number + 1
        return f"{base}.{number}"

    def give_back(self, name: str) -> None:
        """Take back the name given last, which was not needed."""
        base, _, number = name.partition(".")
        self._next[base] = int(number)
