"""A spec while it is being written: its text and the tree of as much of it as can be read."""

from __future__ import annotations

from dataclasses import field

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.diagnostics.span import Source
from pypto_spec.records import dataclass
from pypto_spec.spec.load import Format, format_of, load
from pypto_spec.spec.tree import MappingNode


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """One version of a text. `tree` is None where nothing of it can be read; its offsets are those of `source`."""

    source: Source
    format: Format
    tree: MappingNode | None
    cache: dict[str, object] = field(default_factory=dict, repr=False)
    """What features have found out about this version, under their own names."""


def open_document(name: str, text: str, format: Format | None = None) -> Document:
    """The document of a text; never raises for what stands in it."""
    source = Source(name, text)
    form = format or format_of(name)
    try:
        return Document(source, form, load(source, form))
    except CompileError:
        return Document(source, form, None)
