"""The answers of the editor's features, in the terms of a source: what `pypto_spec.lsp` turns into the protocol's."""

from __future__ import annotations

from enum import Enum

from pypto_spec.diagnostics.span import Span
from pypto_spec.records import dataclass


class Kind(Enum):
    """What a name, a key or a word stands for; editors choose an icon by it."""

    SECTION = "section"
    KEYWORD = "keyword"
    FIELD = "field"
    WORD = "word"
    CONSTANT = "constant"
    SYMBOL = "symbol"
    SCALAR = "scalar"
    TENSOR = "tensor"
    TILE = "tile"
    INDEX = "index"
    NUMBER = "number"
    BUFFER = "buffer"
    FUNCTION = "function"
    ARGUMENT = "argument"
    REGION = "region"
    VARIANT = "variant"
    OPERATOR = "operator"
    SNIPPET = "snippet"


@dataclass(frozen=True, slots=True)
class Edit:
    """A replacement of `text[start:end]`, in code-point offsets."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Completion:
    """One proposal. `edit` puts it in; where `snippet` holds, its text has places to fill in (`${1:name}`).

    Lines of the edit's text behind the first are indented from the indentation of the line that it goes into
    (`adjustIndentation` of the protocol), which is what editors do with snippets by themselves.
    """

    label: str
    kind: Kind
    edit: Edit
    detail: str = ""
    doc: str = ""
    """Markdown."""
    snippet: bool = False
    sort: str = ""
    """Orders the list where it is not empty; else the label does."""
    also: tuple[Edit, ...] = ()
    """Edits made with it, on either side of `edit` and not touching it: quotes around a formula that needs them."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The call around the cursor: its text, the stretches of its parameters in it, and which one is written now."""

    text: str
    parameters: tuple[tuple[int, int], ...]
    active: int | None
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Hover:
    """What is said about the stretch `span`, in Markdown."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Symbol:
    """An entry of the outline: `span` is all of it, `name_span` its name."""

    name: str
    kind: Kind
    span: Span
    name_span: Span
    detail: str = ""
    children: tuple[Symbol, ...] = ()


@dataclass(frozen=True, slots=True)
class Inlay:
    """A short text shown at an offset, between the author's characters; `tip` says more, in Markdown."""

    at: int
    text: str
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Token:
    """A stretch with the kind by which an editor colours it; `declares` where the name is bound there."""

    start: int
    end: int
    kind: Kind
    declares: bool = False


@dataclass(frozen=True, slots=True)
class Action:
    """A change that the user may ask for. `code` is the diagnostic it removes, with the span of that finding."""

    title: str
    edits: tuple[Edit, ...]
    code: str = ""
    at: Span | None = None
    safe: bool = False
