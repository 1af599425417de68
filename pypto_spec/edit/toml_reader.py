"""TOML text to pieces: a list of statements, as a document of TOML is one."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator

import tree_sitter_toml
from tree_sitter import Language, Parser
from tree_sitter import Node as Cst

from pypto_spec.edit.pieces import Collection, Member, Piece, Remark, Scalar, UnusualError, comments
from pypto_spec.records import dataclass
from pypto_spec.spec.toml_strings import BARE, toml_style

_LANGUAGE = Language(tree_sitter_toml.language())
_KEYS = frozenset({"bare_key", "quoted_key", "dotted_key"})


@dataclass(slots=True)
class Statement:
    """`key = value`; or a header, without a value and with `array` for `[[key]]`; or, without both, a comment."""

    keys: tuple[Scalar, ...] = ()
    value: Piece | None = None
    array: bool = False
    comment: str = ""
    """The comment that it is, or the one behind it."""
    blank: bool = False
    """Whether an empty line stands above it."""

    @property
    def header(self) -> bool:
        """Whether it opens a table."""
        return bool(self.keys) and self.value is None


def statement_comments(statements: list[Statement]) -> Iterator[str]:
    """All comments in order."""
    for statement in statements:
        if statement.value is not None:
            yield from comments(statement.value)
        if statement.comment:
            yield statement.comment


def read_toml(text: str) -> list[Statement]:
    """The statements of a text that loads, with plain line feeds at its line ends. Raises UnusualError."""
    reader = _Reader(text)
    made = reader.statements()
    if len(list(statement_comments(made))) != reader.seen:
        raise UnusualError("a comment belongs nowhere")
    return made


class _Reader:
    def __init__(self, text: str) -> None:
        self.data = text.encode()
        self.seen = 0
        """Comments of the text."""
        self.made: list[Statement] = []

    def statements(self) -> list[Statement]:
        root = Parser(_LANGUAGE).parse(self.data).root_node
        if root.has_error:
            raise UnusualError("the place of a value is not known")
        pending = [root]
        while pending:
            node = pending.pop()
            self.seen += node.type == "comment"
            pending += node.named_children
        self.walk(root)
        return self.made

    def walk(self, node: Cst) -> None:
        for child in node.named_children:
            if child.type == "comment":
                self.comment(child)
            elif child.type == "pair":
                keys, value = self.pair(child)
                self.made.append(Statement(keys, value, blank=self.blank_above(child)))
                for remark in child.named_children:  # one behind the value may count as part of the pair
                    if remark.type == "comment":
                        self.comment(remark)
            elif child.type in ("table", "table_array_element"):
                keys = next((self.keys(key) for key in child.named_children if key.type in _KEYS), ())
                array = child.type == "table_array_element"
                self.made.append(Statement(keys, array=array, blank=self.blank_above(child)))
                self.walk(child)

    def comment(self, node: Cst) -> None:
        remark = self.remark(node)
        if self.made and self.line_before(node).strip():
            self.made[-1].comment = remark.text
        else:
            self.made.append(Statement(comment=remark.text, blank=remark.blank))

    # --- places -----------------------------------------------------------------------------------------------------

    def raw(self, node: Cst) -> str:
        return self.data[node.start_byte : node.end_byte].decode()

    def line_before(self, node: Cst) -> bytes:
        """What stands on the line of a node before it."""
        return self.data[self.data.rfind(b"\n", 0, node.start_byte) + 1 : node.start_byte]

    def blank_above(self, node: Cst) -> bool:
        begin = self.data.rfind(b"\n", 0, node.start_byte) + 1
        if begin == 0 or self.data[begin : node.start_byte].strip():
            return False
        return not self.data[self.data.rfind(b"\n", 0, begin - 1) + 1 : begin - 1].strip()

    def remark(self, node: Cst) -> Remark:
        return Remark(self.raw(node).rstrip(), self.blank_above(node))

    # --- keys and values --------------------------------------------------------------------------------------------

    def keys(self, node: Cst) -> tuple[Scalar, ...]:
        if node.type == "dotted_key":
            return tuple(key for part in node.named_children if part.type in _KEYS for key in self.keys(part))
        raw = self.raw(node)
        text = next(iter(tomllib.loads(f"{raw} = 0"))) if node.type == "quoted_key" else raw
        return (Scalar(raw, text, BARE),)

    def pair(self, node: Cst) -> tuple[tuple[Scalar, ...], Piece]:
        key, value = (child for child in node.named_children if child.type != "comment")
        return self.keys(key), self.value(value)

    def value(self, node: Cst) -> Piece:
        if node.type == "array":
            return self.array(node)
        if node.type == "inline_table":
            table = Collection(mapping=True, flow=True)
            for child in node.named_children:
                if child.type != "pair":
                    raise UnusualError("a comment stands in a table of one line")
                keys, value = self.pair(child)
                for key in reversed(keys[1:]):
                    value = Collection(mapping=True, flow=True, members=[Member(value, key)], pair=True)
                table.members.append(Member(value, keys[0]))
            return table
        raw = self.raw(node)
        style = toml_style(raw)
        return Scalar(raw, tomllib.loads(f"v = {raw}")["v"] if style != BARE else raw, style)

    def array(self, node: Cst) -> Collection:
        made = Collection(mapping=False, flow=True)
        after = self.data[node.start_byte + 1 : node.end_byte].lstrip(b" \t")
        made.broken = after.startswith(b"\n")
        pending: list[Remark] = []
        for child in node.named_children:
            if child.type != "comment":
                made.members.append(Member(self.value(child), None, pending, self.blank_above(child)))
                pending = []
            elif made.members and not pending and self.behind(made.members[-1], child):
                made.members[-1].value.tail = self.remark(child).text
            else:
                pending.append(self.remark(child))
        made.trail = pending
        return made

    def behind(self, member: Member, comment: Cst) -> bool:
        """Whether a comment stands on the line on which the item before it ends."""
        return bool(self.line_before(comment).strip()) and not member.value.tail
