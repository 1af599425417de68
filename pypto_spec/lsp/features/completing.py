"""Completion, and the signature of the call that is being written."""

from __future__ import annotations

import re
from typing import Any

from lsprotocol import types

from pypto_spec.editor.complete import completions, signature
from pypto_spec.editor.model import Completion
from pypto_spec.lsp.documents import Open
from pypto_spec.lsp.edits import text_edit
from pypto_spec.lsp.kinds import KINDS
from pypto_spec.lsp.positions import units
from pypto_spec.lsp.server import SpecServer

_FILLED = re.compile(r"\$\{\d+:((?:[^\\}]|\\.)*)\}|\$\{\d+\}|\$\d+|\\([$}\\])")


def answer(server: SpecServer, opened: Open, params: types.CompletionParams) -> types.CompletionList:
    """What can stand here. The texts about each are kept back until one is looked at."""
    found = completions(opened.document, opened.places.offset(params.position))
    server.offered = found
    items = [_item(server, opened, one, place) for place, one in enumerate(found)]
    return types.CompletionList(is_incomplete=False, items=items)


def answer_resolve(server: SpecServer, item: types.CompletionItem) -> types.CompletionItem:
    """The text about an item of the last list."""
    place = item.data.get("place") if isinstance(item.data, dict) else None
    if isinstance(place, int) and 0 <= place < len(server.offered) and server.offered[place].label == item.label:
        found = server.offered[place]
        if found.doc:
            item.documentation = markup(found.doc, server.client.item_markdown)
    return item


def _item(server: SpecServer, opened: Open, found: Completion, place: int) -> types.CompletionItem:
    snippet = found.snippet and server.client.snippets
    edit = text_edit(opened, found.edit)
    if found.snippet and not snippet:
        edit.new_text = plain(edit.new_text)
    more: dict[str, Any] = {}
    if server.client.indents and "\n" in edit.new_text:
        more["insert_text_mode"] = types.InsertTextMode.AdjustIndentation
    return types.CompletionItem(
        label=found.label,
        kind=KINDS[found.kind][0],
        detail=found.detail or None,
        sort_text=found.sort or None,
        filter_text=None,
        insert_text_format=types.InsertTextFormat.Snippet if snippet else types.InsertTextFormat.PlainText,
        text_edit=edit,
        additional_text_edits=[text_edit(opened, one) for one in found.also] or None,
        data={"place": place},
        **more,
    )


def plain(snippet: str) -> str:
    """A snippet for clients without places to fill in: what stands in them as an example."""
    return _FILLED.sub(lambda found: found[1] or found[2] or "", snippet)


def markup(text: str, markdown: bool) -> types.MarkupContent:
    """Markdown, or the same text for clients that show it as it is."""
    return types.MarkupContent(types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText, text)


def answer_signature(server: SpecServer, opened: Open, params: types.SignatureHelpParams) -> types.SignatureHelp | None:
    """The call around the cursor. The stretches of parameters count UTF-16 units, whatever columns count."""
    found = signature(opened.document, opened.places.offset(params.position))
    if found is None:
        return None
    parameters = [
        types.ParameterInformation((units(found.text[:start], "utf-16"), units(found.text[:end], "utf-16")))
        for start, end in found.parameters
    ]
    doc = markup(found.doc, server.client.item_markdown) if found.doc else None
    shown = types.SignatureInformation(found.text, doc, parameters, found.active)
    return types.SignatureHelp([shown], 0, found.active)
