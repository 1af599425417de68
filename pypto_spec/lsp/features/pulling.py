"""Diagnostics for clients that ask for them."""

from __future__ import annotations

from lsprotocol import types

from pypto_spec.lsp.documents import Open
from pypto_spec.lsp.refusal import Overtaken
from pypto_spec.lsp.server import SpecServer


async def answer(
    server: SpecServer, opened: Open, params: types.DocumentDiagnosticParams
) -> types.RelatedFullDocumentDiagnosticReport:
    """The findings of the version that is open now. Raises Overtaken where it goes by meanwhile."""
    checked = await server.checker.outcome(opened)
    if checked is None:
        raise Overtaken("the document has changed", data={"retriggerRequest": False})
    return types.RelatedFullDocumentDiagnosticReport(items=server.diagnostics(opened, checked))
