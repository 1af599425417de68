"""The protocol with our own documents: pygls keeps texts too, but ends lines where Python does (form feeds, U+2028)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.protocol import LanguageServerProtocol, lsp_method

if TYPE_CHECKING:
    from pypto_spec.lsp.server import SpecServer


class SpecProtocol(LanguageServerProtocol):
    """Hands what editors say about their documents to the server, and keeps no second copy."""

    _server: SpecServer

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> Any:
        """A document appears."""
        self._server.opened(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Any:
        """A document has been edited."""
        self._server.changed(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> Any:
        """A document goes."""
        self._server.closed(params)
