"""The layout of a document."""

from __future__ import annotations

from lsprotocol import types

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.edit.layout import formatted
from pypto_spec.lsp.documents import Open
from pypto_spec.lsp.edits import edits_between, text_edit
from pypto_spec.lsp.server import SpecServer


def answer(server: SpecServer, opened: Open, params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
    """What `pypto-spec fmt` changes, as small edits, so that the cursor and folds stay; nothing for broken text."""
    try:
        text = formatted(opened.source, opened.document.format)
    except CompileError:
        return None
    return [text_edit(opened, edit) for edit in edits_between(opened.source.text, text)]
