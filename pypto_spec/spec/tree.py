"""The position-keeping node tree: what both loaders produce and everything above reads.

A node keeps two code-point offsets into its source and nothing else about its place; spans are computed when a
diagnostic (or an IR location) asks for one, so that loading stays cheap. Aliases and merge keys are expanded: an
expanded node keeps the offsets of its anchor and remembers in `via` the aliases that brought it here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from pypto_spec.diagnostics.model import ALIASED, Label
from pypto_spec.diagnostics.span import Source, Span

Value: TypeAlias = str | int | float | bool | None
Plain: TypeAlias = "Value | list[Plain] | dict[str, Plain]"
Via: TypeAlias = tuple[tuple[int, int], ...]

MAX_DEPTH = 200
"""How deep collections may nest. Walks over the tree may recurse because of it."""


def span_between(source: Source, start: int, end: int) -> Span:
    """The span of two code-point offsets of a source."""
    line, col = source.position(start)
    end_line, end_col = source.position(end)
    return Span(source, line, col, end_line, end_col)


class Node:
    """A piece of the document: its source and the offsets at which it starts and ends."""

    __slots__ = ("end", "source", "start", "via")

    kind = "node"

    def __init__(self, source: Source, start: int, end: int, via: Via = ()) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.via = via

    @property
    def span(self) -> Span:
        """Where the node stands; for an aliased node, where its anchor stands."""
        return span_between(self.source, self.start, self.end)

    @property
    def alias_spans(self) -> tuple[Span, ...]:
        """The aliases through which an expanded node came, the innermost first."""
        return tuple(span_between(self.source, start, end) for start, end in self.via)

    @property
    def alias_labels(self) -> tuple[Label, ...]:
        """`alias_spans` as secondary labels of a diagnostic."""
        return tuple(Label(span, ALIASED) for span in self.alias_spans)

    def to_plain(self, scalar: Callable[[ScalarNode], Value] | None = None) -> Plain:
        """Plain Python data, in document order; `scalar` may say what a scalar stands for."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.source.name}:{self.span.line}:{self.span.col}>"


class KeyNode(Node):
    """The key of a mapping entry. Keys are always words: `text` is what stands there, whatever it looks like."""

    __slots__ = ("text",)

    kind = "key"

    def __init__(self, source: Source, start: int, end: int, text: str, via: Via = ()) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.via = via
        self.text = text

    def to_plain(self, scalar: Callable[[ScalarNode], Value] | None = None) -> str:
        """The key's text."""
        return self.text


class Moment(str):
    """A date or time, which only TOML has: a text like any other, but no expression, though it looks like one."""

    __slots__ = ()


class ScalarNode(Node):
    """A scalar. `text` is its content as a string, `value` the typed value of that content.

    `style` says how it is written (see `positions.py`); it is what maps offsets of `text` back to the file.
    """

    __slots__ = ("style", "text", "value")

    kind = "single value"

    def __init__(
        self, source: Source, start: int, end: int, value: Value, text: str, style: str, via: Via = ()
    ) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.via = via
        self.value = value
        self.text = text
        self.style = style

    @property
    def span(self) -> Span:
        """Where the scalar stands. The line end that closes a block scalar is not part of it."""
        end = self.end
        if self.style in ("|", ">"):
            end = self.start + len(self.source.text[self.start : self.end].rstrip())
        return span_between(self.source, self.start, end)

    def sub_span(self, start: int, end: int) -> Span:
        """The file span of `text[start:end]`, through escapes, folding and indentation."""
        from pypto_spec.spec.positions import scalar_offsets  # only diagnostics need it

        start = max(0, min(start, len(self.text)))
        end = max(start, min(end, len(self.text)))
        if start == 0 and end == len(self.text) and self.style not in ("|", ">") and len(self.style) <= 2:
            begin_at, end_at = self.content_offsets()
            return span_between(self.source, begin_at, end_at)
        offsets = scalar_offsets(self)
        if offsets is None:
            return self.span
        begins, ends = offsets
        if start == end:
            place = begins[start] if start < len(begins) else (ends[-1] if ends else self.content_offsets()[0])
            return span_between(self.source, place, place)
        return span_between(self.source, begins[start], ends[end - 1])

    def content_offsets(self) -> tuple[int, int]:
        """Offsets of the content without its quotes."""
        quote = len(self.style.lstrip("=")) if self.style not in ("|", ">") else 0  # `=` leads TOML's styles
        return self.start + quote, self.end - quote

    def to_plain(self, scalar: Callable[[ScalarNode], Value] | None = None) -> Value:
        """The typed value."""
        return self.value if scalar is None else scalar(self)


class SequenceNode(Node):
    """A sequence of nodes."""

    __slots__ = ("flow", "items")

    kind = "list"

    def __init__(self, source: Source, start: int, end: int, items: list[Node], flow: bool, via: Via = ()) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.via = via
        self.items = items
        self.flow = flow

    def __iter__(self) -> Iterator[Node]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def to_plain(self, scalar: Callable[[ScalarNode], Value] | None = None) -> list[Plain]:
        """The items as plain data."""
        return [item.to_plain(scalar) for item in self.items]


class MappingNode(Node):
    """A mapping. Keys are unique (the loaders see to it) and keep their order.

    It satisfies `Located`, so that a diagnostic can ask for the span of one field.
    """

    __slots__ = ("entries", "flow")

    kind = "mapping"

    def __init__(
        self,
        source: Source,
        start: int,
        end: int,
        entries: dict[str, tuple[KeyNode, Node]],
        flow: bool,
        via: Via = (),
    ) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.via = via
        self.entries = entries
        self.flow = flow

    @property
    def items(self) -> list[tuple[KeyNode, Node]]:
        """Keys and values in document order; merged entries come after the mapping's own."""
        return list(self.entries.values())

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def keys(self) -> list[str]:
        """The keys' texts in order."""
        return list(self.entries)

    def get(self, key: str) -> Node | None:
        """The value under `key`, or None."""
        entry = self.entries.get(key)
        return entry[1] if entry is not None else None

    def key_node(self, key: str) -> KeyNode | None:
        """The key itself as a node, or None."""
        entry = self.entries.get(key)
        return entry[0] if entry is not None else None

    def key_span(self, key: str) -> Span | None:
        """Where the key stands, or None."""
        entry = self.entries.get(key)
        return entry[0].span if entry is not None else None

    def field_span(self, name: str) -> Span | None:
        """Where the value of `name` stands; dots descend (`at.1` is the second item of `at`)."""
        node = self.find(*name.split(".")) if name not in self.entries else self.get(name)
        return node.span if node is not None else None

    def find(self, *path: str | int) -> Node | None:
        """The node at a path of keys and item numbers, or None."""
        node: Node | None = self
        for step in path:
            if isinstance(node, MappingNode):
                node = node.get(str(step))
            elif isinstance(node, SequenceNode) and str(step).isdecimal() and int(step) < len(node.items):
                node = node.items[int(step)]
            else:
                return None
        return node

    def to_plain(self, scalar: Callable[[ScalarNode], Value] | None = None) -> dict[str, Plain]:
        """The entries as plain data, without the author's own: keys that start with `x-` are never read."""
        return {key: entry[1].to_plain(scalar) for key, entry in self.entries.items() if key[:2] != "x-"}
