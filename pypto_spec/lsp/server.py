"""The server: the documents that are open, the checks of them, and what is told to the editor without being asked."""

from __future__ import annotations

import logging
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from pypto_spec import __version__
from pypto_spec.driver.live import Checked
from pypto_spec.lsp.checking import Checker
from pypto_spec.lsp.diagnosing import SOURCE, diagnostic
from pypto_spec.lsp.documents import Documents, Open
from pypto_spec.lsp.protocol import SpecProtocol
from pypto_spec.lsp.settings import SECTION, Settings, read_settings

log = logging.getLogger(__name__)


class SpecServer(LanguageServer):
    """One editor's server."""

    def __init__(self) -> None:
        super().__init__(
            SOURCE, __version__, types.TextDocumentSyncKind.Incremental, protocol_cls=SpecProtocol, max_workers=2
        )
        self.documents = Documents()
        self.settings = Settings()
        self.checker = Checker(self._checked)

    # -- life ----------------------------------------------------------------------------------------------------

    def begin(self, params: types.InitializeParams) -> None:
        """What the client says about itself, before anything is answered."""
        encoding = self.workspace.position_encoding
        self.documents.encoding = getattr(encoding, "value", encoding) or "utf-16"
        self.configure(params.initialization_options)

    def configure(self, given: object) -> None:
        """Take over settings; documents are checked anew where they change what is found."""
        settings, problems = read_settings(given)
        for problem in problems:
            log.warning("setting ignored: %s", problem)
        before, self.settings = self.settings, settings
        self.checker.delay = settings.delay / 1000
        self.checker.defines = settings.defines
        if before.defines != settings.defines:
            for opened in self.documents:
                self.checker.soon(opened, 0)

    async def ask_settings(self) -> None:
        """Fetch our section from clients that keep it for us."""
        workspace = self.client_capabilities.workspace
        if workspace is None or not workspace.configuration:
            return
        items = [types.ConfigurationItem(section=SECTION)]
        found = await self.workspace_configuration_async(types.ConfigurationParams(items))
        if found and found[0]:
            self.configure(found[0])

    def shutdown(self) -> None:
        """Call off what still runs, then what pygls does."""
        self.checker.close()
        super().shutdown()  # type: ignore[no-untyped-call]

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Into the log: no window pops up for what a user cannot mend."""
        log.error("%s", error, exc_info=error)

    # -- documents -----------------------------------------------------------------------------------------------

    def opened(self, params: types.DidOpenTextDocumentParams) -> None:
        """A document appears: checked at once."""
        self._check(self.documents.open(params.text_document), 0)

    def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        """A document has been edited: checked when the edits pause."""
        item = params.text_document
        made = self.documents.change(item.uri, item.version, params.content_changes)
        if made is None:
            log.warning("an edit of a document that is not open was ignored: %s", item.uri)
        else:
            self._check(made, None)

    def closed(self, params: types.DidCloseTextDocumentParams) -> None:
        """A document goes, and its findings with it."""
        uri = params.text_document.uri
        self.checker.drop(uri)
        known = self.documents.close(uri)
        if known is not None and known.wanted:
            self._publish(uri, None, [])

    def _check(self, opened: Open, delay: float | None) -> None:
        if opened.wanted:
            self.checker.soon(opened, delay)
        else:
            self.checker.drop(opened.uri)

    # -- findings ------------------------------------------------------------------------------------------------

    def _checked(self, opened: Open, checked: Checked) -> None:
        self._publish(opened.uri, opened.version, self.diagnostics(opened, checked))

    def diagnostics(self, opened: Open, checked: Checked) -> list[types.Diagnostic]:
        """The findings of a check, for the document that was checked."""
        return [diagnostic(found, opened.places, opened.uri) for found in checked.findings]

    def _publish(self, uri: str, version: int | None, found: list[types.Diagnostic]) -> None:
        if not self.settings.pull:
            params = types.PublishDiagnosticsParams(uri=uri, diagnostics=found, version=version)
            self.text_document_publish_diagnostics(params)
