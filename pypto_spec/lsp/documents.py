"""The documents an editor has open: their texts, kept in step with its edits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lsprotocol import types
from pygls.uris import to_fs_path

from pypto_spec.diagnostics.span import Source
from pypto_spec.editor.document import Document, open_document
from pypto_spec.lsp.positions import Places
from pypto_spec.lsp.recognise import Format, format_of, is_spec

_HALF = re.compile("[\ud800-\udfff]")

Change = types.TextDocumentContentChangeEvent


class Open:
    """One version of an open document. `format` is None, and `wanted` false, where it is no business of ours."""

    __slots__ = (
        "_document", "_sent", "encoding", "format", "language", "name", "places", "source", "uri", "version", "wanted",
    )  # fmt: skip

    def __init__(
        self, uri: str, language: str, version: int, text: str, encoding: str, before: Open | None = None
    ) -> None:
        self.uri = uri
        self.language = language
        self.version = version
        self.encoding = encoding
        self.name: str = before.name if before is not None else to_fs_path(uri) or uri
        self.format: Format | None = format_of(language, self.name)
        self._sent = _joined(text)
        self.source = Source(self.name, _whole(self._sent))
        self.places = Places(self.source, encoding)
        known = before is not None and before.wanted
        self.wanted: bool = self.format is not None and (known or is_spec(self.name, self.format, text))
        self._document: Document | None = None

    @property
    def document(self) -> Document:
        """What the features read; made when the first of them asks."""
        if self._document is None:
            assert self.format is not None
            self._document = open_document(self.name, self.source.text, self.format)
        return self._document

    def changed(self, version: int, changes: Sequence[Change]) -> Open:
        """The next version: the changes one after the other, each on the text that the one before it left."""
        places = Places(Source(self.name, self._sent), self.encoding)
        for change in changes:
            text = change.text
            if isinstance(change, types.TextDocumentContentChangePartial):
                before = places.source.text
                start, end = places.offset(change.range.start), places.offset(change.range.end)
                text = before[: min(start, end)] + text + before[max(start, end) :]
            places = Places(Source(self.name, _joined(text)), self.encoding)
        return Open(self.uri, self.language, version, places.source.text, self.encoding, self)


def _joined(text: str) -> str:
    """The text with halves of characters joined: an edit of UTF-16 units may bring them one by one."""
    if _is_whole(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _whole(text: str) -> str:
    """The text without halves: nothing can be written with them in it. What stands for one has the same width."""
    return text if _is_whole(text) else _HALF.sub("\ufffd", text)


def _is_whole(text: str) -> bool:
    return text.isascii() or _HALF.search(text) is None


class Documents:
    """The open documents by their URIs, as the editor spells them."""

    def __init__(self) -> None:
        self._open: dict[str, Open] = {}
        self.encoding = "utf-16"

    def __iter__(self) -> Iterator[Open]:
        """The specs among them."""
        return iter([one for one in self._open.values() if one.wanted])

    def open(self, item: types.TextDocumentItem) -> Open:
        """A document that was opened; one that is open already starts anew."""
        made = Open(item.uri, item.language_id, item.version, item.text, self.encoding)
        self._open[item.uri] = made
        return made

    def change(self, uri: str, version: int, changes: Sequence[Change]) -> Open | None:
        """The new version of a document; None for one that is not open."""
        known = self._open.get(uri)
        if known is None:
            return None
        made = self._open[uri] = known.changed(version, changes)
        return made

    def close(self, uri: str) -> Open | None:
        """Forget a document; None where it was not open."""
        return self._open.pop(uri, None)

    def get(self, uri: str) -> Open | None:
        """The spec that is open under a URI; None where there is none."""
        found = self._open.get(uri)
        return found if found is not None and found.wanted else None
