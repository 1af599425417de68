"""A client of language servers over stdio: as much of the protocol as the tests need, answered in order.

Servers ask as well (for settings, for registrations); they get answers while the client waits for its own.
"""

from __future__ import annotations

import json
import queue
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

TIMEOUT = 60.0
"""Seconds to wait for one answer; a busy machine starts a server in several."""

CAPABILITIES: dict[str, Any] = {
    "general": {"positionEncodings": ["utf-16"]},
    "workspace": {"configuration": True, "workspaceFolders": True},
    "textDocument": {
        "completion": {"completionItem": {"snippetSupport": True, "documentationFormat": ["markdown", "plaintext"]}},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "publishDiagnostics": {"relatedInformation": True},
    },
}


class Client:
    """One running server."""

    def __init__(
        self, command: Sequence[str | Path], root: Path, settings: Mapping[str, Any], publishes: int = 1
    ) -> None:
        self._settings = settings
        self._publishes = publishes
        self._process = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input: BinaryIO = self._process.stdin  # type: ignore[assignment]
        self._output: BinaryIO = self._process.stdout  # type: ignore[assignment]
        self._messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._published: dict[str, list[list[dict[str, Any]]]] = {}
        self._next = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        folder = {"uri": root.as_uri(), "name": root.name}
        self.capabilities: dict[str, Any] = self.request(
            "initialize",
            {"processId": None, "rootUri": root.as_uri(), "workspaceFolders": [folder], "capabilities": CAPABILITIES},
        )["capabilities"]
        self.notify("initialized", {})
        self.notify("workspace/didChangeConfiguration", {"settings": dict(settings)})

    def request(self, method: str, params: Any) -> Any:
        """The result of a request. Raises TimeoutError, or RuntimeError with the server's words."""
        self._next += 1
        number = self._next
        self._send({"id": number, "method": method, "params": params})
        deadline = time.monotonic() + TIMEOUT
        while True:
            message = self._receive(deadline, method)
            if message.get("id") == number and "method" not in message:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]

    def notify(self, method: str, params: Any) -> None:
        """Send what has no answer."""
        self._send({"method": method, "params": params})

    def diagnostics(self, uri: str) -> list[dict[str, Any]]:
        """What the server finds in a document that was just opened; it answers nothing before that is done.

        Some servers publish several times for it (`publishes`), what they know from the schema last.
        """
        deadline = time.monotonic() + TIMEOUT
        while len(self._published.get(uri, ())) < self._publishes:
            self._receive(deadline, f"the diagnostics of {uri}")
        return self._published.pop(uri)[-1]

    def stop(self) -> None:
        """End the server, as the protocol says or by force."""
        try:
            self.request("shutdown", None)
            self.notify("exit", None)
            self._process.wait(5)
        except (OSError, RuntimeError, TimeoutError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait(5)
        self._reader.join(5)
        for stream in (self._input, self._output):
            stream.close()

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._input.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._input.flush()

    def _receive(self, deadline: float, waiting_for: str) -> dict[str, Any]:
        """The next message; what the server asks or tells is dealt with here."""
        try:
            message = self._messages.get(timeout=max(0.01, deadline - time.monotonic()))
        except queue.Empty:
            raise TimeoutError(f"no answer to {waiting_for} within {TIMEOUT:g} s") from None
        if message is None:
            raise RuntimeError(f"the server ended while {waiting_for} was awaited")
        if "method" in message and "id" in message:
            self._send({"id": message["id"], "result": self._answer(message["method"], message.get("params"))})
        elif message.get("method") == "textDocument/publishDiagnostics":
            self._published.setdefault(message["params"]["uri"], []).append(message["params"]["diagnostics"])
        return message

    def _answer(self, method: str, params: Any) -> Any:
        if method == "workspace/configuration":
            return [self._settings.get(item.get("section", ""), {}) for item in params["items"]]
        return None

    def _read(self) -> None:
        while True:
            length = 0
            while line := self._output.readline().strip():
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if not length:
                self._messages.put(None)
                return
            self._messages.put(json.loads(self._output.read(length)))
