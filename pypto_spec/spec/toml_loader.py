"""TOML text to the node tree: values and errors from tomllib, places from tree-sitter's concrete syntax."""

from __future__ import annotations

import re
import tomllib
from array import array
from collections.abc import Iterator
from typing import Any, NoReturn

import tree_sitter_toml
from tree_sitter import Language, Parser, Tree
from tree_sitter import Node as Cst

from pypto_spec.diagnostics.model import CompileError, Diagnostic, Fix, Label, diagnose
from pypto_spec.diagnostics.rules.syntax import DUPLICATE_KEY, INVALID_TOML, LIMIT, NUMBER_RANGE
from pypto_spec.diagnostics.span import Source
from pypto_spec.spec.core_schema import INT64_MAX, INT64_MIN
from pypto_spec.spec.duplicates import twice
from pypto_spec.spec.limits import MAX_ERRORS
from pypto_spec.spec.open_brackets import unclosed_in_toml
from pypto_spec.spec.reader import check_text
from pypto_spec.spec.toml_strings import toml_style
from pypto_spec.spec.tree import MAX_DEPTH, KeyNode, MappingNode, Moment, Node, ScalarNode, SequenceNode, span_between

_LANGUAGE = Language(tree_sitter_toml.language())
_KEYS = frozenset({"bare_key", "quoted_key", "dotted_key"})
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*(?:[ ]*[-+*/]+[ ]*[A-Za-z0-9_.]+)*")
_TWICE = re.compile(r"[Cc]annot (overwrite|declare|mutate)|[Dd]uplicate")
_LONG_NUMBER = re.compile(r"[+-]?[0-9_]{1000,}")


def load_toml(source: Source) -> MappingNode:
    """The tree of a TOML spec. Raises CompileError with what is wrong with the text."""
    check_text(source)
    text = source.text.removeprefix("\ufeff")
    # The places come first: they refuse nesting whose cost in tomllib is quadratic.
    builder = Builder(source)
    root = builder.build()
    try:
        plain = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CompileError(_decode_error(source, str(error), builder.errors)) from None
    except RecursionError:
        _too_deep(source, 0)
    except ValueError:
        # Python refuses to read integers of thousands of digits.
        found = _LONG_NUMBER.search(source.text)
        start, end = found.span() if found else (0, 0)
        raise CompileError([_too_large(source, start, end)]) from None
    builder.fill(root, plain)
    if builder.errors:
        raise CompileError(builder.errors[:MAX_ERRORS])
    return root


_UNFINISHED: tuple[tuple[str, str, str], ...] = (
    ("invalid value", "a value is missing", "write one; text stands in quotes"),
    ("initial character for a key", "a key is missing, or the closing bracket", "write `key = value`, or close it"),
    ("expected '='", "the `=` with a value is missing", "write `key = value`"),
    ("of a table declaration", "`[` is never closed", "add the missing `]`"),
    ("of an array declaration", "`[[` is never closed", "add the missing `]]`"),
    ("unterminated string", "a quoted text is never closed", "close it with the same quote"),
    ("illegal character '\\n'", "a quoted text is never closed", "close it with the same quote"),
    ('expected "\'"', "a quoted text is never closed", "close it with the same quote"),
    ("unclosed array", "`[` is never closed", "add the missing `]`"),
    ("unclosed inline table", "`{` is never closed", "add the missing `}`"),
)
"""What the parser says where a line ends too early, what that means, and the way out."""


def _unfinished(source: Source, at: int, problem: str) -> tuple[str, str] | None:
    """What is missing at an error where its line is over; None elsewhere."""
    line, col = source.position(at)
    if source.line(line)[col - 1 :].strip() not in ("", "]"):
        return None
    return next(((message, help_text) for key, message, help_text in _UNFINISHED if key in problem), None)


def _way_out(source: Source, at: int) -> str:
    """What to write instead, as far as the line tells."""
    text = source.text
    stop = min((p for p in (text.find("\n", at), text.find("\r", at)) if p >= 0), default=len(text))
    rest = text[at:stop]
    word = _WORD.match(rest)
    if word is not None:
        return f'text stands in quotes: `"{word.group()[:40].rstrip()}"`'
    if rest[:1] == ":":
        return "TOML has `=` between a key and its value, YAML has `:`"
    return "see https://toml.io for the syntax; text values stand in quotes"


def _repaired(source: Source, at: int) -> Iterator[Fix]:
    """Quotes around a bare word, or `=` in place of `:`; TOML has no other reading of either."""
    text = source.text
    stop = min((p for p in (text.find("\n", at), text.find("\r", at)) if p >= 0), default=len(text))
    word = _WORD.match(text[at:stop])
    before = text[:at].rstrip()
    if word is not None and before[-1:] in ("=", "[", ",") and not text[at:].startswith(("inf", "nan")):
        found = word.group().rstrip()
        if text[at + len(found) : stop].lstrip()[:1] in ("", ",", "]", "}", "#"):
            yield Fix(span_between(source, at, at + len(found)), f'"{found}"', safe=True)
    elif text[at : at + 1] == ":" and before and (before[-1].isalnum() or before[-1] in "_-\"'"):
        blank = "" if text[at - 1 : at] == " " else " "
        yield Fix(span_between(source, at, at + 1), f"{blank}=", safe=True)


def _decode_error(source: Source, text: str, twice: list[Diagnostic]) -> list[Diagnostic]:
    place = _PLACE.search(text)
    if twice and _TWICE.search(text):
        return twice[:MAX_ERRORS]
    starts = source.line_starts()
    at = len(source.text)
    if place and place.group(1):
        line, column = int(place.group(1)), int(place.group(2))
        shift = int(line == 1 and source.text.startswith("\ufeff"))
        at = min((starts[line - 1] if line <= len(starts) else at) + column - 1 + shift, at)
    message = _PLACE.sub("", text)
    opened = unclosed_in_toml(source, at)
    if opened is not None:
        return [opened]
    known = _unfinished(source, at, message.lower())
    message, help_text = known or (message[:1].lower() + message[1:], _way_out(source, at))
    end = at + 1 if at < len(source.text) and source.text[at] not in "\r\n" else at
    return [
        diagnose(
            INVALID_TOML,
            span_between(source, at, end),
            message,
            label="TOML stops here",
            helps=[help_text],
            fixes=list(_repaired(source, at)),
        ),
    ]


def _too_deep(source: Source, at: int) -> NoReturn:
    raise CompileError(
        [
            diagnose(
                LIMIT,
                span_between(source, at, at),
                f"collections nest deeper than {MAX_DEPTH} levels",
                label="here",
                helps=["write it flatter"],
            ),
        ]
    ) from None


def _too_large(source: Source, start: int, end: int) -> Diagnostic:
    shown = source.text[start:end]
    shown = shown if len(shown) <= 24 else shown[:20] + "..."
    return diagnose(
        NUMBER_RANGE,
        span_between(source, start, end),
        f"`{shown}` does not fit in 64 bits",
        label="too large",
        helps=["quote it if it is a word and no number"],
    )


class Builder:
    """Walks the concrete syntax tree; scalars get their values from tomllib afterwards."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.shift = int(source.text.startswith("\ufeff"))
        self.errors: list[Diagnostic] = []
        self._data = source.text[self.shift :].encode()
        self._offsets = self._byte_offsets()

    def _byte_offsets(self) -> array[int] | None:
        """Code-point offset of each byte; None where they are the same."""
        text = self.source.text
        if text.isascii():
            return None
        offsets = array("L")
        for index, char in enumerate(text[self.shift :], self.shift):
            code = ord(char)
            offsets.extend([index] * (1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4))
        offsets.append(len(text))
        return offsets

    def _at(self, byte: int) -> int:
        return byte + self.shift if self._offsets is None else self._offsets[byte]

    def _parsed(self) -> Tree:
        return Parser(_LANGUAGE).parse(self._data)

    def first_error(self) -> int | None:
        """The offset at which the syntax is broken first, or None."""
        node = self._parsed().root_node
        while node.has_error and not node.is_error and not node.is_missing:
            inner = next((c for c in node.children if c.has_error or c.is_error or c.is_missing), None)
            if inner is None:
                break
            node = inner
        return self._at(node.start_byte) if node.has_error or node.is_missing else None

    def build(self) -> MappingNode:
        """The tree with places; values are still missing."""
        tree = self._parsed()
        root = MappingNode(self.source, self.shift, len(self.source.text), {}, False)
        for child in tree.root_node.named_children:
            if child.type == "pair":
                self._pair(root, child, 1)
            elif child.type in ("table", "table_array_element"):
                self._table(root, child)
        return root

    def _table(self, root: MappingNode, table: Cst) -> None:
        keys = [key for child in table.named_children if child.type in _KEYS for key in self._keys(child)]
        if not keys:
            return
        parent = self._descend(root, keys[:-1])
        last = keys[-1]
        pairs = [child for child in table.named_children if child.type == "pair"]
        start = self._at(table.start_byte)
        end = self._at(pairs[-1].end_byte) if pairs else last.end + 1
        known = parent.get(last.text)
        if table.type == "table_array_element":
            if known is None:
                known = SequenceNode(self.source, start, end, [], False)
                parent.entries[last.text] = (last, known)
            if not isinstance(known, SequenceNode):
                self._twice(parent, last)
                return
            node = MappingNode(self.source, start, end, {}, False)
            known.items.append(node)
            known.end = max(known.end, end)
        elif known is None:
            node = MappingNode(self.source, start, end, {}, False)
            parent.entries[last.text] = (last, node)
        elif isinstance(known, MappingNode) and not known.flow and known.start < 0:
            # An earlier `[a.b]` has already made this table; its own header comes only now.
            known.start, known.end = start, end
            node = known
        else:
            self._twice(parent, last)
            return
        for pair in pairs:
            self._pair(node, pair, len(keys) + 1)

    def _descend(self, node: MappingNode, keys: list[KeyNode]) -> MappingNode:
        if len(keys) > MAX_DEPTH:
            _too_deep(self.source, keys[MAX_DEPTH].start)
        for key in keys:
            child = node.get(key.text)
            if isinstance(child, SequenceNode) and child.items:
                child = child.items[-1]
            if not isinstance(child, MappingNode):
                if child is not None:
                    self._twice(node, key)
                child = _Implicit(self.source, key)
                node.entries[key.text] = (key, child)
            node = child
        return node

    def _pair(self, node: MappingNode, pair: Cst, depth: int) -> None:
        children = [child for child in pair.named_children if child.type != "comment"]
        if len(children) < 2:
            return
        keys = self._keys(children[0])
        parent = self._descend(node, keys[:-1])
        value = self._value(children[1], depth + len(keys))
        last = keys[-1]
        if last.text in parent.entries:
            self._twice(parent, last, value)
        else:
            parent.entries[last.text] = (last, value)

    def _keys(self, node: Cst) -> list[KeyNode]:
        """The parts of a dotted key, from a left-leaning tree of pairs."""
        parts: list[KeyNode] = []
        pending = [node]
        while pending:
            current = pending.pop()
            if current.type == "dotted_key":
                pending.extend(child for child in current.named_children if child.type in _KEYS)
                continue
            start, end = self._at(current.start_byte), self._at(current.end_byte)
            raw = self.source.text[start:end]
            text = raw
            if raw[:1] in ("'", '"'):
                start, end = start + 1, end - 1
                text = next(iter(tomllib.loads(f"{raw} = 0")), raw) if current.type == "quoted_key" else raw
            parts.append(KeyNode(self.source, start, end, text))
        parts.sort(key=lambda part: part.start)
        return parts

    def _value(self, node: Cst, depth: int) -> Node:
        start, end = self._at(node.start_byte), self._at(node.end_byte)
        if depth > MAX_DEPTH:
            _too_deep(self.source, start)
        if node.type == "array":
            items = [self._value(child, depth + 1) for child in node.named_children if child.type != "comment"]
            return SequenceNode(self.source, start, end, items, True)
        if node.type == "inline_table":
            table = MappingNode(self.source, start, end, {}, True)
            for child in node.named_children:
                if child.type == "pair":
                    self._pair(table, child, depth + 1)
            return table
        raw = self.source.text[start:end]
        return ScalarNode(self.source, start, end, None, raw, toml_style(raw))

    def _twice(self, node: MappingNode, key: KeyNode, value: Node | None = None) -> None:
        first, old = node.entries[key.text]
        self.errors.append(
            diagnose(
                DUPLICATE_KEY,
                key.span,
                f"the key `{key.text}` is given twice",
                label="given again here",
                secondary=[Label(first.span, "first given here")],
                helps=["remove one of the two"],
                fixes=[] if value is None else [*twice(self.source, (first, old), (key, value), node.flow)],
            )
        )

    def fill(self, node: Node, plain: Any) -> None:
        """Give the scalars below `node` their values. What tree-sitter did not see gets its parent's place."""
        if isinstance(node, MappingNode) and isinstance(plain, dict):
            if node.start < 0:
                node.start = -1 - node.start
            for key, value in plain.items():
                child = node.get(key)
                if child is None or not _same_kind(child, value):
                    child = self._missing(node, value)
                    node.entries[key] = (KeyNode(self.source, node.start, node.end, key), child)
                self.fill(child, value)
        elif isinstance(node, SequenceNode) and isinstance(plain, list):
            if len(node.items) != len(plain) or not all(map(_same_kind, node.items, plain)):
                node.items = [self._missing(node, value) for value in plain]
            for item, value in zip(node.items, plain, strict=True):
                self.fill(item, value)
        elif isinstance(node, ScalarNode):
            self._fill_scalar(node, plain)

    def _fill_scalar(self, node: ScalarNode, plain: Any) -> None:
        if isinstance(plain, str):
            node.value = node.text = plain
        elif isinstance(plain, int) and not INT64_MIN <= plain <= INT64_MAX:
            self.errors.append(_too_large(self.source, node.start, node.end))
        elif isinstance(plain, (bool, int, float)):
            node.value = plain
        else:
            node.value = node.text = Moment(node.text)

    def _missing(self, parent: Node, plain: Any) -> Node:
        start, end = parent.start, parent.end
        if isinstance(plain, dict):
            return MappingNode(self.source, start, end, {}, False)
        if isinstance(plain, list):
            return SequenceNode(self.source, start, end, [self._missing(parent, value) for value in plain], True)
        return ScalarNode(self.source, start, end, None, "", "")


class _Implicit(MappingNode):
    """A table that only stands in the path of another one; `start` is marked until its own header is seen."""

    __slots__ = ()

    def __init__(self, source: Source, key: KeyNode) -> None:
        super().__init__(source, -1 - key.start, key.end, {}, False)


def _same_kind(node: Node, plain: Any) -> bool:
    if isinstance(plain, dict):
        return isinstance(node, MappingNode)
    if isinstance(plain, list):
        return isinstance(node, SequenceNode)
    return isinstance(node, ScalarNode)
