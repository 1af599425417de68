"""A spec while it is being written: its text and the tree of as much of it as can be read."""

from __future__ import annotations

from dataclasses import field

from pypto_spec.diagnostics.span import Source
from pypto_spec.editor.mend.yaml import tolerant_yaml
from pypto_spec.records import dataclass
from pypto_spec.spec.limits import MAX_TEXT
from pypto_spec.spec.load import Format, format_of
from pypto_spec.spec.tree import MappingNode


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """One version of a text.

    `tree` is that of the text; for one that is not finished that of what can be read of it, and None where that is no
    mapping. Its offsets are those of `source`. A key that is given twice is in `items` twice.
    """

    source: Source
    format: Format
    tree: MappingNode | None
    whole: bool = True
    """Whether the text could be read without repairs."""
    cache: dict[str, object] = field(default_factory=dict, repr=False)
    """What features have found out about this version, under their own names."""


def open_document(name: str, text: str, format: Format | None = None) -> Document:
    """The document of a text; never raises for what stands in it."""
    source = Source(name, text)
    form = format or format_of(name)
    if len(text) > MAX_TEXT:
        return Document(source, form, None, False)
    if form == "yaml":
        return Document(source, form, *tolerant_yaml(source))
    from pypto_spec.editor.mend.toml import tolerant_toml  # TOML's parsers are loaded when a TOML spec comes

    return Document(source, form, *tolerant_toml(source))
