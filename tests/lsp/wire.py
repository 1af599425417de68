"""A client on the other side of the wire: a real `pypto-spec lsp`, and short words for what tests ask of it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pytest_lsp import LanguageClient, client_capabilities, make_test_lsp_client

ROOT = Path(__file__).resolve().parents[2]
MAIN = "from pypto_spec.cli.main import main; main()"
EDITOR = "visual_studio_code"
PATIENCE = 8.0
"""Seconds that a test waits for what it was promised."""


class Editor:
    """One editor with its server. Places in texts are code-point offsets or the text to look for."""

    def __init__(self, client: LanguageClient, log: Path) -> None:
        self.client = client
        self.log = log
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.published: list[types.PublishDiagnosticsParams] = []
        self.refreshed = 0
        """How often the server has said that there are new inlay hints."""
        self._news = asyncio.Event()

    # -- documents -----------------------------------------------------------------------------------------------

    def open(self, text: str, name: str = "kernel.yaml", language: str | None = None) -> str:
        """Open a document, and say under which URI."""
        uri = name if ":" in name else f"file:///work/{name}"
        language = language or ("toml" if name.endswith(".toml") else "yaml")
        self.texts[uri], self.versions[uri] = text, 1
        item = types.TextDocumentItem(uri, language, 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def edit(self, uri: str, old: str, new: str) -> int:
        """Replace the first `old` by `new`; the version that this makes."""
        start = self.texts[uri].index(old)
        return self.splice(uri, start, start + len(old), new)

    def splice(self, uri: str, start: int, end: int, new: str) -> int:
        """Replace a stretch; the version that this makes."""
        text = self.texts[uri]
        place = types.Range(position(text, start), position(text, end))
        self.texts[uri] = text[:start] + new + text[end:]
        return self.send(uri, types.TextDocumentContentChangePartial(range=place, text=new))

    def apply(self, uri: str, edits: Sequence[types.TextEdit]) -> int:
        """Make edits that the server has proposed, all of them on the text as it is; the version that this makes."""
        text = self.texts[uri]
        found = [(offset(text, edit.range.start), offset(text, edit.range.end), edit.new_text) for edit in edits]
        version = self.versions[uri]
        for start, end, new in sorted(found, reverse=True):
            version = self.splice(uri, start, end, new)
        return version

    def send(self, uri: str, *changes: Any) -> int:
        """Send changes as they are; the version that they make."""
        self.versions[uri] += 1
        item = types.VersionedTextDocumentIdentifier(uri=uri, version=self.versions[uri])
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(item, list(changes)))
        return self.versions[uri]

    def close(self, uri: str) -> None:
        """Close a document."""
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def place(self, uri: str, word: str, into: int = 0, nth: int = 0) -> dict[str, Any]:
        """The parameters of a request at the n-th `word`, some characters into it."""
        text = self.texts[uri]
        at = -1
        for _ in range(nth + 1):
            at = text.index(word, at + 1)
        return {
            "text_document": types.TextDocumentIdentifier(uri),
            "position": position(text, at + into),
        }

    # -- what the server says --------------------------------------------------------------------------------------

    def heard(self, params: types.PublishDiagnosticsParams) -> None:
        """Take down what was published."""
        self.published.append(params)
        self._news.set()

    def refresh(self) -> None:
        """Take down that there are new inlay hints."""
        self.refreshed += 1
        self._news.set()

    async def findings(self, uri: str, version: int | None = None) -> list[types.Diagnostic]:
        """What is published for this version of a document (the newest one unless given)."""
        wanted = self.versions[uri] if version is None else version
        found = await self.until(lambda: [p for p in self.published if p.uri == uri and p.version == wanted])
        return list(found[-1].diagnostics)

    async def until(self, look: Callable[[], Any]) -> Any:
        """Wait until `look` finds something, which it tries whenever the server has said something."""
        async with asyncio.timeout(PATIENCE):
            while not (found := look()):
                self._news.clear()
                await self._news.wait()
        return found

    def complaints(self) -> str:
        """The server's log, which holds nothing as long as nothing goes wrong."""
        return self.log.read_text(encoding="utf-8") if self.log.exists() else ""


def position(text: str, offset: int) -> types.Position:
    """A place in UTF-16 units, reckoned in another way than the server does."""
    lines = text[:offset].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if text[offset - 1 : offset + 1] == "\r\n" and offset:
        lines = lines[:-1]
    return types.Position(len(lines) - 1, len(lines[-1].encode("utf-16-le", "surrogatepass")) // 2)


def offset(text: str, place: types.Position) -> int:
    """The offset of a place in UTF-16 units."""
    lines = text.split("\n")
    line = lines[place.line].encode("utf-16-le")[: 2 * place.character].decode("utf-16-le")
    return sum(len(one) + 1 for one in lines[: place.line]) + len(line)


def text_at(text: str, place: types.Range, encoding: str = "utf-16-le") -> str:
    """The text under a range."""
    lines = text.split("\n")
    unit = {"utf-16-le": 2, "utf-8": 1, "utf-32-le": 4}[encoding]

    def cut(line: str, start: int | None, end: int | None) -> str:
        data = line.encode(encoding)
        begin = 0 if start is None else start * unit
        return data[begin : None if end is None else end * unit].decode(encoding)

    first, last = place.start.line, place.end.line
    if first == last:
        return cut(lines[first], place.start.character, place.end.character)
    middle = lines[first + 1 : last]
    return "\n".join(
        [cut(lines[first], place.start.character, None), *middle, cut(lines[last], None, place.end.character)]
    )


def text_in(text: str, place: dict[str, Any], encoding: str) -> str:
    """The text under a range as JSON holds it."""
    ends = [types.Position(place[end]["line"], place[end]["character"]) for end in ("start", "end")]
    return text_at(text, types.Range(*ends), "utf-8" if encoding == "utf-8" else f"{encoding}-le")


@asynccontextmanager
async def editor(
    log: Path, options: object = None, *, change: Callable[[types.ClientCapabilities], None] | None = None
) -> AsyncIterator[Editor]:
    """An editor with a running server, as VS Code presents itself unless `change` says otherwise."""
    client = make_test_lsp_client()
    made = Editor(client, log)
    del client.protocol.fm.features[types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS]
    client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: made.heard(params))
    client.feature(types.WORKSPACE_INLAY_HINT_REFRESH)(lambda params: made.refresh())
    await client.start_io(sys.executable, "-c", MAIN, "lsp", "--log", str(log), cwd=ROOT)
    capabilities = client_capabilities(EDITOR)
    assert capabilities.general is not None
    capabilities.general.position_encodings = None
    assert capabilities.workspace is not None
    capabilities.workspace.inlay_hint = types.InlayHintWorkspaceClientCapabilities(refresh_support=True)
    if change is not None:
        change(capabilities)
    try:
        await client.initialize_session(
            types.InitializeParams(capabilities=capabilities, root_uri=None, initialization_options=options)
        )
        yield made
    finally:
        await client.shutdown_session()
        await client.stop()  # type: ignore[no-untyped-call]
