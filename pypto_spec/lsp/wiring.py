"""Which request is answered by what. An answer that fails is logged and empty: the server itself never does."""

from __future__ import annotations

import gc
import inspect
import logging
from collections.abc import Callable
from importlib import import_module
from typing import Any

from lsprotocol import types

from pypto_spec.lsp.kinds import MODIFIERS, TOKEN_TYPES
from pypto_spec.lsp.refusal import Refused
from pypto_spec.lsp.server import SpecServer
from pypto_spec.records import dataclass

log = logging.getLogger(__name__)

PACKAGE = "pypto_spec.lsp.features"

Answer = Callable[[SpecServer, Any, Any], Any]
"""From the server, the open document and the request's parameters to the result."""


@dataclass(frozen=True, slots=True)
class Feature:
    """A request about a document: the function `answer` of a module in `features`, imported when it is first asked for.

    `empty` is the answer where there is nothing to say. One that `waits` is a coroutine; the others answer at once, for
    the text as it is when they are asked.
    """

    method: str
    module: str
    answer: str
    options: Any = None
    empty: Callable[[], Any] = lambda: None
    waits: bool = False


_LEGEND = types.SemanticTokensLegend(TOKEN_TYPES, MODIFIERS)
_ACTIONS = types.CodeActionOptions(
    [types.CodeActionKind.QuickFix, types.CodeActionKind.RefactorRewrite, types.CodeActionKind.SourceFixAll]
)

_TRIGGERS = [" ", ":", "{", ",", "(", "$", "."]
"""Behind these something else can stand than before: a value, a field, an operand, a symbol of the host."""

FEATURES = (
    Feature(types.TEXT_DOCUMENT_HOVER, "hovering", "answer_hover"),
    Feature(types.TEXT_DOCUMENT_INLAY_HINT, "hovering", "answer_inlays", waits=True),
    Feature(
        types.TEXT_DOCUMENT_COMPLETION,
        "completing",
        "answer",
        types.CompletionOptions(_TRIGGERS, resolve_provider=True),
    ),
    Feature(
        types.TEXT_DOCUMENT_SIGNATURE_HELP,
        "completing",
        "answer_signature",
        types.SignatureHelpOptions(["(", ","], [")", "="]),
    ),
    Feature(types.TEXT_DOCUMENT_DEFINITION, "naming", "answer_definition"),
    Feature(types.TEXT_DOCUMENT_REFERENCES, "naming", "answer_references"),
    Feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, "naming", "answer_highlights"),
    Feature(types.TEXT_DOCUMENT_PREPARE_RENAME, "naming", "answer_prepare"),
    Feature(types.TEXT_DOCUMENT_RENAME, "naming", "answer_rename", types.RenameOptions(prepare_provider=True)),
    Feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, "outline", "answer_symbols"),
    Feature(types.TEXT_DOCUMENT_FOLDING_RANGE, "outline", "answer_folds"),
    Feature(types.TEXT_DOCUMENT_SELECTION_RANGE, "outline", "answer_selections"),
    Feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, "colours", "answer_all", _LEGEND),
    Feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, "colours", "answer_some", _LEGEND),
    Feature(types.TEXT_DOCUMENT_CODE_ACTION, "acting", "answer", _ACTIONS, waits=True),
    Feature(types.TEXT_DOCUMENT_FORMATTING, "formatting", "answer"),
)

PULL = Feature(
    types.TEXT_DOCUMENT_DIAGNOSTIC,
    "pulling",
    "answer",
    types.DiagnosticOptions(inter_file_dependencies=False, workspace_diagnostics=False, identifier="pypto-spec"),
    lambda: types.RelatedFullDocumentDiagnosticReport(items=[]),
    waits=True,
)
"""Offered only to those who ask for it: an editor that is sent findings and fetches them too shows each twice."""


def make_server() -> SpecServer:
    """A server with everything it can do."""
    server = SpecServer()
    server.feature(types.INITIALIZE)(_guarded(lambda params: _begin(server, params)))
    server.feature(types.INITIALIZED)(_initialized(server))
    server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(_reconfigured(server))
    server.feature(types.COMPLETION_ITEM_RESOLVE)(_resolver(server))
    for feature in FEATURES:
        _offer(server, feature)
    return server


def _offer(server: SpecServer, feature: Feature) -> None:
    server.feature(feature.method, feature.options)(_handler(server, feature))


def _handler(server: SpecServer, feature: Feature) -> Callable[[Any], Any]:
    """Answers for the documents that are specs, and nothing for others."""

    def handle(params: Any) -> Any:
        opened = server.documents.get(params.text_document.uri)
        if opened is None:
            return None
        module = import_module(f"{PACKAGE}.{feature.module}")
        return getattr(module, feature.answer)(server, opened, params)

    async def wait(params: Any) -> Any:
        found = handle(params)
        return await found if found is not None else None

    return _guarded(wait if feature.waits else handle, feature.empty)


def _resolver(server: SpecServer) -> Callable[[Any], Any]:
    def resolve(item: types.CompletionItem) -> types.CompletionItem:
        try:
            from pypto_spec.lsp.features.completing import answer_resolve

            return answer_resolve(server, item)
        except Exception:
            log.exception("no text about an item")
            return item

    return resolve


def _begin(server: SpecServer, params: types.InitializeParams) -> None:
    server.begin(params)
    if server.settings.pull:
        _offer(server, PULL)


def _initialized(server: SpecServer) -> Callable[[Any], Any]:
    async def initialized(params: types.InitializedParams) -> None:
        server.checker.warm(_warm)
        await server.ask_settings()

    return _guarded(initialized)


def _reconfigured(server: SpecServer) -> Callable[[Any], Any]:
    async def reconfigured(params: types.DidChangeConfigurationParams) -> None:
        if params.settings is not None:
            server.configure(params.settings)
        else:
            await server.ask_settings()

    return _guarded(reconfigured)


def _warm() -> None:
    """Import what checks and answers need, so that the first of each is as quick as the others."""
    from pypto_spec.driver.live import warm_up
    from pypto_spec.editor.facts import facts_of

    checked = warm_up()
    for feature in FEATURES:
        import_module(f"{PACKAGE}.{feature.module}")
    for one in checked.compiled:
        facts_of(one)
    gc.collect()
    gc.freeze()  # all this stays: no collection need walk over it again


def _guarded(handler: Callable[[Any], Any], empty: Callable[[], Any] = lambda: None) -> Callable[[Any], Any]:
    """The handler, whose failure is logged and answered with nothing. What is refused, the client is told."""
    if inspect.iscoroutinefunction(handler):

        async def later(params: Any) -> Any:
            try:
                found = await handler(params)
                return empty() if found is None else found
            except Refused:
                raise
            except Exception:
                log.exception("a request failed: %s", type(params).__name__)
                return empty()

        return later

    def now(params: Any) -> Any:
        try:
            found = handler(params)
            return empty() if found is None else found
        except Refused:
            raise
        except Exception:
            log.exception("a request failed: %s", type(params).__name__)
            return empty()

    return now
