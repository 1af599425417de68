"""All proposals at a place, in order."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_spec.editor.complete.keys import headers, keys
from pypto_spec.editor.complete.request import Request
from pypto_spec.editor.complete.values import values
from pypto_spec.editor.document import Document
from pypto_spec.editor.model import Completion


def proposals(document: Document, at: int) -> list[Completion]:
    """What can stand at an offset, best first."""
    request = Request(document, at)
    found: dict[str, Completion] = {}
    for item in _all(request):
        found.setdefault(item.label, item)
    return sorted(found.values(), key=lambda item: (item.sort, item.label))


def _all(request: Request) -> Iterator[Completion]:
    spot = request.spot
    if request.header is not None:
        yield from headers(request)
    elif spot is not None and spot.mapping is not None:
        yield from keys(request, spot.mapping)
        if not (spot.flow or spot.colon or request.toml) and len(spot.mapping.entries) == 1:
            yield from values(request, spot.shapes)  # a word on a line of its own may be a value as well
    elif spot is not None:
        yield from values(request, spot.shapes)
