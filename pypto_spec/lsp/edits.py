"""Edits of a text as edits of the protocol, and the smallest edits between two texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from itertools import accumulate

from lsprotocol import types

from pypto_spec.editor.model import Edit
from pypto_spec.lsp.client import Client
from pypto_spec.lsp.documents import Open

CAREFUL = 2_000
"""Lines up to which changed lines are matched; a longer text is replaced from its first change on to its last."""


def text_edit(opened: Open, edit: Edit) -> types.TextEdit:
    """One edit."""
    return types.TextEdit(opened.places.range(edit.start, edit.end), edit.text)


def workspace_edit(opened: Open, edits: Iterable[Edit], client: Client) -> types.WorkspaceEdit:
    """Edits of one document, for this version of it where the client can tell versions apart."""
    made = [text_edit(opened, edit) for edit in edits]
    if not client.versioned_edits:
        return types.WorkspaceEdit(changes={opened.uri: made})
    item = types.OptionalVersionedTextDocumentIdentifier(uri=opened.uri, version=opened.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(item, [*made])])


def edits_between(old: str, new: str) -> list[Edit]:
    """Edits that make the new text of the old one: line by line, and in a line from its first change to its last."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, before))]
    made: list[Edit] = []
    for low, high, first, last in _hunks(before, after):
        made.append(_trimmed("".join(before[low:high]), "".join(after[first:last]), starts[low]))
    return made


def _hunks(before: list[str], after: list[str]) -> Iterator[tuple[int, int, int, int]]:
    if max(len(before), len(after)) > CAREFUL:
        head = _common(before, after)
        tail = _common(before[head:][::-1], after[head:][::-1])
        if head < max(len(before), len(after)):
            yield head, len(before) - tail, head, len(after) - tail
        return
    for tag, low, high, first, last in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "replace" and high - low == last - first:  # line for line: an edit for each that differs
            for n in range(high - low):
                yield low + n, low + n + 1, first + n, first + n + 1
        elif tag != "equal":
            yield low, high, first, last


def _common(one: list[str], other: list[str]) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _trimmed(old: str, new: str, start: int) -> Edit:
    """Without what both begin and end with; no edit cuts through the two characters of a line's end."""
    least = min(len(old), len(new))
    head = next((n for n in range(least) if old[n] != new[n]), least)
    if head and old[head - 1] == "\r":
        head -= 1
    least -= head
    tail = next((n for n in range(least) if old[-1 - n] != new[-1 - n]), least)
    if tail and old[-tail] == "\n" and "\r" in (old[-tail - 1 : -tail], new[-tail - 1 : -tail]):
        tail -= 1
    return Edit(start + head, start + len(old) - tail, new[head : len(new) - tail])
