"""What is known about the thing under the cursor, and what the compiler decided, between the lines."""

from __future__ import annotations

from lsprotocol import types

from pypto_spec.editor.hover import hover
from pypto_spec.editor.inlays import inlays
from pypto_spec.lsp.documents import Open
from pypto_spec.lsp.features.completing import markup
from pypto_spec.lsp.server import SpecServer


def answer_hover(server: SpecServer, opened: Open, params: types.HoverParams) -> types.Hover | None:
    """The hover; what it says of the compiled program is of the last text that compiled, where that is unchanged."""
    found = hover(opened.document, opened.places.offset(params.position), server.facts(opened.uri))
    if found is None:
        return None
    return types.Hover(markup(found.text, server.client.hover_markdown), opened.places.of_span(found.span))


async def answer_inlays(
    server: SpecServer, opened: Open, params: types.InlayHintParams
) -> list[types.InlayHint] | None:
    """The hints of a range; clients that do not ask again when they are told to get them when the check is done."""
    if not server.settings.inlays:
        return []
    if not server.client.refreshes_inlays:
        await server.checker.known(opened, PATIENCE)
    if server.documents.get(opened.uri) is not opened:  # the places asked for are those of a text that is gone
        return None
    start, end = opened.places.offset(params.range.start), opened.places.offset(params.range.end)
    return [
        types.InlayHint(
            position=opened.places.position(one.at),
            label=one.text.strip(),
            tooltip=markup(one.tip, server.client.hover_markdown) if one.tip else None,
            padding_left=one.text[:1] == " ",
            padding_right=one.text[-1:] == " ",
        )
        for one in inlays(opened.document, server.facts(opened.uri), start, end)
    ]


PATIENCE = 2.0
"""Seconds to wait for a check before the hints of an earlier one have to do."""
