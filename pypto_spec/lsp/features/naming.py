"""Names: where they are bound, where they are meant, and another text for them."""

from __future__ import annotations

from lsprotocol import types

from pypto_spec.editor.names import RenameError, definition, references, rename, rename_span
from pypto_spec.lsp.documents import Open
from pypto_spec.lsp.edits import workspace_edit
from pypto_spec.lsp.refusal import Refused
from pypto_spec.lsp.server import SpecServer


def answer_definition(server: SpecServer, opened: Open, params: types.DefinitionParams) -> types.Location | None:
    """Where the name is bound."""
    span = definition(opened.document, opened.places.offset(params.position))
    return types.Location(opened.uri, opened.places.of_span(span)) if span is not None else None


def answer_references(server: SpecServer, opened: Open, params: types.ReferenceParams) -> list[types.Location]:
    """Every place that means it."""
    at = opened.places.offset(params.position)
    found = references(opened.document, at, params.context.include_declaration)
    return [types.Location(opened.uri, opened.places.of_span(span)) for span in found]


def answer_highlights(
    server: SpecServer, opened: Open, params: types.DocumentHighlightParams
) -> list[types.DocumentHighlight]:
    """The same places, told apart by whether they bind it."""
    at = opened.places.offset(params.position)
    reads = references(opened.document, at, False)
    read, write = types.DocumentHighlightKind.Read, types.DocumentHighlightKind.Write
    return [
        types.DocumentHighlight(opened.places.of_span(span), read if span in reads else write)
        for span in references(opened.document, at)
    ]


def answer_prepare(server: SpecServer, opened: Open, params: types.PrepareRenameParams) -> types.Range | None:
    """The name that would be changed; nothing where there is none."""
    span = rename_span(opened.document, opened.places.offset(params.position))
    return opened.places.of_span(span) if span is not None else None


def answer_rename(server: SpecServer, opened: Open, params: types.RenameParams) -> types.WorkspaceEdit | None:
    """The edits of a new name; why it cannot be is told to the user."""
    try:
        edits = rename(opened.document, opened.places.offset(params.position), params.new_name)
    except RenameError as error:
        raise Refused(str(error)) from error
    return workspace_edit(opened, edits, server.client) if edits else None
