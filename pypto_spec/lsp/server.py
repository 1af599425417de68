"""The server: the documents that are open, the checks of them, and what is told to the editor without being asked."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import FeatureRequestError
from pygls.lsp.server import LanguageServer

from pypto_spec import __version__
from pypto_spec.driver.live import Checked
from pypto_spec.lsp.checking import Checker
from pypto_spec.lsp.client import Client, read_client
from pypto_spec.lsp.diagnosing import SOURCE, diagnostic
from pypto_spec.lsp.documents import Documents, Open
from pypto_spec.lsp.protocol import SpecProtocol
from pypto_spec.lsp.settings import SECTION, Settings, read_settings

if TYPE_CHECKING:
    from pypto_spec.editor.facts import Facts
    from pypto_spec.editor.model import Completion

log = logging.getLogger(__name__)


class SpecServer(LanguageServer):
    """One editor's server."""

    def __init__(self) -> None:
        super().__init__(
            SOURCE, __version__, types.TextDocumentSyncKind.Incremental, protocol_cls=SpecProtocol, max_workers=2
        )
        self.documents = Documents()
        self.settings = Settings()
        self.client = Client()
        self.offered: list[Completion] = []
        """The last list of completions, for the texts about them."""
        self._good: dict[str, bool] = {}
        self._facts: dict[str, Facts | None] = {}
        self.checker = Checker(self._checked, self._learned)

    # -- life ----------------------------------------------------------------------------------------------------

    def begin(self, params: types.InitializeParams) -> None:
        """What the client says about itself, before anything is answered."""
        encoding = self.workspace.position_encoding
        self.documents.encoding = getattr(encoding, "value", encoding) or "utf-16"
        self.client = read_client(params.capabilities)
        self.configure(params.initialization_options, first=True)

    def configure(self, given: object, first: bool = False) -> None:
        """Take over settings; documents are checked anew where they change what is found.

        Whether findings are pushed or pulled is agreed on when the session begins.
        """
        settings, problems = read_settings(given)
        for problem in problems:
            log.warning("setting ignored: %s", problem)
        before = self.settings
        self.settings = settings = settings if first else replace(settings, pull=before.pull)
        self.checker.delay = settings.delay / 1000
        self.checker.defines = settings.defines
        if before.defines != settings.defines:
            for opened in self.documents:
                self.checker.soon(opened, 0)
        if before.inlays != settings.inlays and self.client.refreshes_inlays and not first:
            self.workspace_inlay_hint_refresh(None)

    async def ask_settings(self) -> None:
        """Fetch our section from clients that keep it for us."""
        if not self.client.configuration:
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
        """Into the log, where it is not yet: no window pops up for what a user cannot mend."""
        if source is not FeatureRequestError:
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
        self._good.pop(uri, None)
        self._facts.pop(uri, None)
        known = self.documents.close(uri)
        if known is not None and known.wanted:
            self._publish(uri, None, [])

    def _check(self, opened: Open, delay: float | None) -> None:
        if opened.wanted:
            self.checker.soon(opened, delay)
        else:
            self.checker.drop(opened.uri)

    # -- findings ------------------------------------------------------------------------------------------------

    def _checked(self, opened: Open, checked: Checked) -> bool:
        self._publish(opened.uri, opened.version, self.diagnostics(opened, checked))
        good = all(one.ok for one in checked.compiled)
        return good or not self._good.get(opened.uri, False)

    def _learned(self, opened: Open, checked: Checked, facts: Facts | None) -> None:
        """Facts of a program that compiles, or of a broken one while there are no better ones."""
        self._facts[opened.uri] = facts
        self._good[opened.uri] = all(one.ok for one in checked.compiled)
        if self.settings.inlays and self.client.refreshes_inlays:
            self.workspace_inlay_hint_refresh(None)

    def facts(self, uri: str) -> Facts | None:
        """What the last compile of a document that went well knows; what has changed since, the features leave out."""
        return self._facts.get(uri)

    def diagnostics(self, opened: Open, checked: Checked) -> list[types.Diagnostic]:
        """The findings of a check, for the document that was checked."""
        return [diagnostic(found, opened.places, opened.uri) for found in checked.findings]

    def _publish(self, uri: str, version: int | None, found: list[types.Diagnostic]) -> None:
        if not self.settings.pull:
            params = types.PublishDiagnosticsParams(uri=uri, diagnostics=found, version=version)
            self.text_document_publish_diagnostics(params)
