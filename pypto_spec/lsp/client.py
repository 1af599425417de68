"""What the client can take: its capabilities, read once into plain answers."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types
from pygls.capabilities import get_capability

from pypto_spec.records import dataclass

_TEXT = "text_document"


@dataclass(frozen=True, slots=True)
class Client:
    """Each field is what the client has said, or false where it has said nothing."""

    snippets: bool = False
    indents: bool = False
    """Whether it adjusts the indentation of inserted lines when asked to."""
    item_markdown: bool = False
    hover_markdown: bool = False
    tree_outline: bool = False
    versioned_edits: bool = False
    refreshes_inlays: bool = False
    configuration: bool = False


def read_client(said: types.ClientCapabilities) -> Client:
    """The capabilities that matter here."""

    def has(path: str) -> bool:
        return bool(get_capability(said, path, False))

    def listed(path: str, word: object) -> bool:
        found: Sequence[object] = get_capability(said, path, None) or ()
        return word in found

    item = f"{_TEXT}.completion.completion_item"
    return Client(
        snippets=has(f"{item}.snippet_support"),
        indents=listed(f"{item}.insert_text_mode_support.value_set", types.InsertTextMode.AdjustIndentation),
        item_markdown=listed(f"{item}.documentation_format", types.MarkupKind.Markdown),
        hover_markdown=listed(f"{_TEXT}.hover.content_format", types.MarkupKind.Markdown),
        tree_outline=has(f"{_TEXT}.document_symbol.hierarchical_document_symbol_support"),
        versioned_edits=has("workspace.workspace_edit.document_changes"),
        refreshes_inlays=has("workspace.inlay_hint.refresh_support"),
        configuration=has("workspace.configuration"),
    )
