"""Which request is answered by what. An answer that fails is logged and empty: the server itself never does."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from typing import Any

from lsprotocol import types

from pypto_spec.lsp.server import SpecServer

log = logging.getLogger(__name__)

Answer = Callable[[SpecServer, Any, Any], Any]
"""From the server, the open document and the request's parameters to the result."""


def make_server() -> SpecServer:
    """A server with everything it can do."""
    server = SpecServer()
    server.feature(types.INITIALIZE)(_guarded(lambda params: _begin(server, params)))
    server.feature(types.INITIALIZED)(_initialized(server))
    server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(_reconfigured(server))
    return server


def _begin(server: SpecServer, params: types.InitializeParams) -> None:
    server.begin(params)


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
    """Import what a check needs, by checking the smallest kernel of the gallery."""
    from pypto_spec.driver.live import warm_up

    warm_up()


def _guarded(handler: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The handler, whose failure is logged and answered with nothing."""
    if inspect.iscoroutinefunction(handler):

        async def later(params: Any) -> Any:
            try:
                return await handler(params)
            except Exception:
                log.exception("a request failed: %s", type(params).__name__)
                return None

        return later

    def now(params: Any) -> Any:
        try:
            return handler(params)
        except Exception:
            log.exception("a request failed: %s", type(params).__name__)
            return None

    return now
