"""The tree of as much of a YAML text as can be read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from pypto_spec.collector import collector_paused
from pypto_spec.diagnostics.model import CompileError
from pypto_spec.diagnostics.span import Source
from pypto_spec.editor.mend.open_yaml import unfinished
from pypto_spec.editor.mend.patch import Patch
from pypto_spec.spec.tree import KeyNode, MappingNode, Node
from pypto_spec.spec.yaml_loader import Composer, Frame, event_reader

MOST_READINGS = 4
"""How often a whole text is read for one tree."""
MOST_REPAIRS = 12
"""Errors of the syntax that are repaired in one entry, each time the text has been read."""

_UNREADABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LINE_END = re.compile(r"[\r\n]")
_WRITTEN = re.compile(r"[^\s]")
_OUTER = re.compile(r"^ {0,2}(?=[^\s#])", re.MULTILINE)
"""Lines at which the entries of sections begin."""


class _Tolerant(Composer):
    """Composes all that comes before an error, and keeps keys that are given twice."""

    twice = False
    """Whether a key was given twice."""

    def rest(self) -> Node | None:
        """The root, with all collections closed that were open when the events stopped."""
        while self.frames:
            frame = self.frames.pop()
            end = max(
                (n.end for n in (*frame.items, *(v for _, v in (frame.entries or {}).values()))), default=frame.start
            )
            node = self._close(frame, end)
            if self.frames:
                if self.frames[-1].entries is not None and self.frames[-1].key is None:
                    continue  # it stood where a key is wanted
                self._put(self.frames[-1], node)
            else:
                self.root = node
        return self.root

    @property
    def stopped(self) -> bool:
        """Whether the reading stopped before the end."""
        return bool(self.frames)

    def _entry(self, frame: Frame, key: KeyNode, node: Node) -> None:
        entries = frame.entries
        assert entries is not None
        if key.text in entries and key.text != "<<":
            self.twice = True
            entries[f"{key.text}\0{key.start}"] = (key, node)
        else:
            super()._entry(frame, key, node)


def tolerant_yaml(source: Source) -> tuple[MappingNode | None, bool]:
    """The tree of what can be read of a text, None where that is no mapping; and whether all of it could be read.

    Takes bounded time: an error is looked for in the whole text, and repaired in the entry around it alone.
    """
    patch = Patch(source.text)
    for match in _UNREADABLE.finditer(source.text, int(source.text.startswith("\ufeff"))):
        patch.put(match.start(), match.end(), " ")
    first = Source(source.name, patch.repaired()) if patch.repairs else source
    composer, get = _Tolerant(first), event_reader(first, False)
    for reading in reversed(range(MOST_READINGS)):
        try:
            with collector_paused():
                composer.compose(get)
            break
        except yaml.MarkedYAMLError as error:
            start = _repair_entry(patch, error, composer) if reading else None
            if start is None:
                break
            composer, get = _again(composer, Source(source.name, patch.repaired()), start)
        except (CompileError, yaml.YAMLError):
            break
    root = composer.rest()
    if not isinstance(root, MappingNode):
        return None, False
    if patch.repairs:
        patch.restore(root, source)
    return root, not (patch.repairs or composer.errors or composer.unquoted or composer.twice or composer.stopped)


def _again(composer: _Tolerant, source: Source, start: int) -> tuple[_Tolerant, Callable[[], Any]]:
    """How to read on in a repaired text from the entry at an offset: what comes before it is composed already."""
    text = source.text
    frames = composer.frames
    while frames and frames[-1].start >= start:
        frames.pop()
    if frames and frames[-1].key is not None:
        start = _line_start(text, frames[-1].key.start)
        frames[-1].key = None
    if not 0 < len(frames) <= 2 or any(f.flow or f.anchor for f in frames) or not _goes_on(text, frames[-1], start):
        return _Tolerant(source), event_reader(source, False)
    for frame in frames:
        _take_back(frame, start)
    header = "a:\n" * (len(frames) - 1)
    get = event_reader(Source("", header + text[start:]), False)
    if not all(isinstance(get(), kind) for kind in _beginning(frames)):
        return _Tolerant(source), event_reader(source, False)
    composer.source, composer.shift = source, start - len(header)
    return composer, get


def _beginning(frames: list[Frame]) -> Iterator[type[Any]]:
    """The events of a text that stands in these collections, up to its first value."""
    yield from (yaml.StreamStartEvent, yaml.DocumentStartEvent)
    for frame in frames:
        yield yaml.SequenceStartEvent if frame.entries is None else yaml.MappingStartEvent
        if frame is not frames[-1]:
            yield yaml.ScalarEvent


def _goes_on(text: str, frame: Frame, start: int) -> bool:
    """Whether what stands at an offset is indented like what is in a collection."""
    match = _WRITTEN.search(text, start)
    at = match.start() if match is not None else start
    return at - _line_start(text, at) == frame.start - _line_start(text, frame.start)


def _take_back(frame: Frame, start: int) -> None:
    """Forget what a collection has from an offset on."""
    frame.items = [item for item in frame.items if _starts_at(item) < start]
    if frame.entries is not None:
        frame.entries = {name: entry for name, entry in frame.entries.items() if _starts_at(entry[0]) < start}


def _starts_at(node: Node) -> int:
    return node.via[-1][0] if node.via else node.start


def _repair_entry(patch: Patch, error: Any, composer: _Tolerant) -> int | None:
    """Repair all errors of the entry in which the first one stands, and say where it starts in the repaired text.

    None where nothing could be done.
    """
    shift = composer.shift
    flow = next((patch.back(frame.start) for frame in composer.frames if frame.flow), len(patch.text))
    start, end = _entry_around(patch.text, min(*_place(patch, error, shift), flow))
    inner = Patch(patch.text[start:end])
    inner.repairs = patch.within(start, end)
    before = list(inner.repairs)
    for _ in range(MOST_REPAIRS):
        inner.insert([(inner.back(place), closers) for place, closers in unfinished(inner.repaired())])
        found = _error_of(inner.repaired())
        if found is None or not _repair(inner, found, 0):
            break
    if inner.repairs != before:
        patch.replace(start, end, inner.repairs)
    elif not _repair(patch, error, shift):  # the entry is good by itself, and cannot stand where it does
        return None
    else:
        start = 0
    return patch.forward(start)


def _error_of(text: str) -> Any:
    get = event_reader(Source("", text), False)
    try:
        while get() is not None:
            pass
    except yaml.MarkedYAMLError as error:
        return error
    return None


def _entry_around(text: str, at: int) -> tuple[int, int]:
    """The stretch of the outermost entries around an offset: from a line that is hardly indented to the next one."""
    start = 0
    for match in _OUTER.finditer(text):
        if match.start() > at:
            return start, match.start()
        start = match.start()
    return start, len(text)


def _place(patch: Patch, error: Any, shift: int) -> tuple[int, int]:
    """Where an error was noticed, and where that began in which it stands, in the text without repairs."""
    length = len(patch.text)
    marks = [m for m in (error.problem_mark, error.context_mark) if m is not None]
    places = [min(patch.back(mark.index + shift), length) for mark in marks] or [0]
    if error.context_mark is None or not (error.context or "").startswith(("while scanning", "while parsing a flow")):
        return places[0], places[0]
    return places[0], places[-1]


def _repair(patch: Patch, error: Any, shift: int) -> bool:
    """Repair the place of an error; False where there is no way left."""
    problem, context = error.problem or "", error.context or ""
    text = patch.text
    at, opened = _place(patch, error, shift)
    if "could not find expected ':'" in problem:
        # A key that is not finished: what stands there is read as a key without a value; among items it is nothing.
        end = _line_end(text, opened)
        return (not _below_item(text, opened) and patch.put(end, end, ":")) or _blank_line(patch, opened)
    if "mapping values are not allowed" in problem and text[at : at + 1] == ":":
        return _not_a_mapping(patch, at)
    if context.startswith("while scanning") and "end of stream" not in problem:
        end = _line_end(text, opened)
        return patch.blank(opened, _word_end(text, opened)) or patch.blank(opened, end) or _blank_line(patch, opened)
    if "unknown escape" in problem or "hex" in problem:
        return patch.put(at - 1, at, "/") or _blank_line(patch, at)
    if text[_line_start(text, at) : at].strip(" -\t"):
        # Something follows a value that is complete, as a bracket or comma too many.
        sign = text[at : at + 1] in tuple(",:]}") and patch.blank(at, at + 1)
        return sign or patch.blank(at, _line_end(text, at)) or _blank_line(patch, at)
    return _indented(patch, at) or _blank_line(patch, at) or _blank_line(patch, opened)


def _not_a_mapping(patch: Patch, at: int) -> bool:
    """Repair a `:` at which a value is no mapping: the line above lacks one, or it belongs to the value."""
    text = patch.text
    start = _line_start(text, at)
    above = text[:start].rstrip()
    begin = _line_start(text, len(above))
    if text[start:at].lstrip(" ").startswith("- ") and ": " not in text[start:at]:
        word = above[begin:].strip()
        if ":" not in word and not word.startswith(("-", "#")):
            return patch.put(len(above), len(above), ":")
        return _blank_block(patch, start)
    return patch.blank(at, at + 1)


def _blank_block(patch: Patch, start: int) -> bool:
    """Read nothing in a line and in those below it that are indented as deep."""
    text = patch.text
    indent = _indent_at(text, start)
    end = _line_end(text, start)
    while end < len(text):
        begin = end + (2 if text.startswith("\r\n", end) else 1)
        stop = _line_end(text, begin)
        if text[begin:stop].strip() and _indent_at(text, begin) < indent:
            break
        end = stop
    patch.drop(start, end)
    return patch.blank(start, end)


def _indent_at(text: str, start: int) -> int:
    line = text[start : _line_end(text, start)]
    return len(line) - len(line.lstrip(" "))


def _below_item(text: str, at: int) -> bool:
    """Whether the line above is an item of a list with the indentation of this one."""
    start = _line_start(text, at)
    above = _line_start(text, max(start - 1, 0))
    return text[above : above + at - start].isspace() and text.startswith("- ", above + at - start)


def _indented(patch: Patch, at: int) -> bool:
    """Indent a line like the one above it, if it is a little off."""
    text = patch.text
    start = _line_start(text, at)
    above = text[:start].rstrip()
    begin = _line_start(text, len(above))
    wanted = len(text[begin:]) - len(text[begin:].lstrip(" "))
    item = text[at : at + 2] == "- "
    if not above or item != (text[begin + wanted : begin + wanted + 2] == "- ") or not text[start:at].isspace():
        return False
    if any(r.start < at and start < r.end for r in patch.repairs):
        return False
    return abs(at - start - wanted) <= 3 and patch.put(start, at, " " * wanted)


def _blank_line(patch: Patch, at: int) -> bool:
    start, end = _line_start(patch.text, at), _line_end(patch.text, at)
    if start == end:
        return False
    patch.drop(start, end)
    return patch.blank(start, end)


def _word_end(text: str, at: int) -> int:
    """The end of the word at an offset."""
    end = at + 1
    while end < len(text) and text[end] not in " \t\r\n,[]{}":
        end += 1
    return min(end, len(text))


def _line_start(text: str, at: int) -> int:
    return max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1


def _line_end(text: str, at: int) -> int:
    found = _LINE_END.search(text, at)
    return found.start() if found else len(text)
