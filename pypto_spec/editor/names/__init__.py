"""Names: what is defined where, what means it, and renaming it. Offsets are code-point offsets of the document."""

from __future__ import annotations

from pypto_spec.diagnostics.span import Span
from pypto_spec.editor.document import Document
from pypto_spec.editor.model import Edit
from pypto_spec.editor.names.build import build
from pypto_spec.editor.names.model import Binding, Index, Unknown, Use
from pypto_spec.editor.names.rename import RenameError, rename_use
from pypto_spec.spec.tree import span_between

__all__ = [
    "Binding", "Index", "RenameError", "Unknown", "Use", "definition", "index", "references", "rename", "rename_span",
]  # fmt: skip


def index(document: Document) -> Index:
    """The index of a document, made once for each version of it."""
    found = document.cache.get("names")
    if not isinstance(found, Index):
        found = document.cache["names"] = build(document.source, document.tree)
    return found


def definition(document: Document, at: int) -> Span | None:
    """Where the name at an offset is bound: of what is bound again, the binding that reaches this place."""
    use = index(document).at(at)
    if use is None:
        return None
    site = use if use.declares else use.site or use.binding.declaration
    return span_between(document.source, site.start, site.stop)


def references(document: Document, at: int, declaration: bool = True) -> list[Span]:
    """All places that mean what the name at an offset means; without `declaration` not those that bind it."""
    use = index(document).at(at)
    uses = use.binding.uses if use is not None else []
    return [span_between(document.source, u.start, u.stop) for u in uses if declaration or not u.declares]


def rename_span(document: Document, at: int) -> Span | None:
    """The name at an offset that can be changed, without a version or `$`."""
    use = index(document).at(at)
    return span_between(document.source, use.start, use.end) if use is not None else None


def rename(document: Document, at: int, new: str) -> list[Edit]:
    """The edits that give the name at an offset another text everywhere. Raises RenameError."""
    found = index(document)
    return rename_use(found, found.at(at), new)
