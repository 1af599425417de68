"""The server in this process: the same messages through the same protocol object, without pipes and start-up."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from pypto_spec.lsp.wiring import make_server

CAPABILITIES: dict[str, Any] = {
    "textDocument": {
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "completion": {"completionItem": {"snippetSupport": True, "documentationFormat": ["markdown"]}},
        "hover": {"contentFormat": ["markdown"]},
    },
    "workspace": {"workspaceEdit": {"documentChanges": True}},
}


class Inside:
    """A server whose messages are handed over as JSON texts, and kept when they come back."""

    def __init__(self) -> None:
        self.server = make_server()
        self.said: list[dict[str, Any]] = []
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._next = 0
        self._read = 0
        self.server.protocol.set_writer(self, include_headers=False)

    def write(self, data: bytes) -> None:
        """What the server sends."""
        message = json.loads(data)
        waiting = self._waiting.pop(message["id"], None) if "method" not in message else None
        if waiting is None:
            self.said.append(message)
        elif not waiting.done():
            waiting.set_result(message)

    def close(self) -> None:
        """Part of what the server asks of its output."""

    async def begin(self, options: object = None, general: dict[str, Any] | None = None) -> None:
        """Open the session."""
        said = {**CAPABILITIES, **({"general": general} if general is not None else {})}
        await self.ask("initialize", processId=None, rootUri=None, capabilities=said, initializationOptions=options)

    def open(self, uri: str, text: str, language: str = "yaml") -> None:
        """Open a document."""
        item = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.tell("textDocument/didOpen", textDocument=item)

    def replace(self, uri: str, text: str, version: int) -> None:
        """A new text for a document."""
        changes = [{"text": text}]
        self.tell("textDocument/didChange", textDocument={"uri": uri, "version": version}, contentChanges=changes)

    async def errors(self, uri: str, version: int | None = None) -> list[dict[str, Any]]:
        """The errors that are published next for a document, or for that version of it."""
        for _ in range(4_000):
            found = [
                message["params"]
                for message in self.said[self._read :]
                if message["method"] == "textDocument/publishDiagnostics"
                and message["params"]["uri"] == uri
                and (version is None or message["params"]["version"] == version)
            ]
            if found:
                self._read = len(self.said)
                return [d for d in found[-1]["diagnostics"] if d["severity"] == 1]
            await asyncio.sleep(0.005)
        raise TimeoutError(f"nothing is published for {uri}")

    async def end(self) -> None:
        """Close it."""
        await self.ask("shutdown")
        self.server.shutdown()

    def tell(self, method: str, **params: Any) -> None:
        """A notification."""
        self._hand({"jsonrpc": "2.0", "method": method, "params": params})

    async def ask(self, method: str, **params: Any) -> Any:
        """A request, and its result. Raises RuntimeError where the answer is an error."""
        self._next += 1
        waiting = self._waiting[self._next] = asyncio.get_running_loop().create_future()
        self._hand({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params or None})
        answer = await asyncio.wait_for(waiting, 30)
        if "error" in answer:
            raise RuntimeError(answer["error"]["message"])
        return answer.get("result")

    def _hand(self, message: dict[str, Any]) -> None:
        protocol = self.server.protocol
        protocol.handle_message(json.loads(json.dumps(message), object_hook=protocol.structure_message))
