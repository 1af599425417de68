"""Which key or value of a document an offset is in, and the statement around it."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_spec.editor.document import Document
from pypto_spec.records import dataclass
from pypto_spec.spec.models.keywords import BLOCK_KEYS, default_table
from pypto_spec.spec.models.statement import SIBLINGS
from pypto_spec.spec.tree import KeyNode, MappingNode, Node, ScalarNode, SequenceNode

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """A statement as it stands in the tree, whether or not it is a valid one: its keyword with what that holds."""

    node: MappingNode
    key: KeyNode
    value: Node

    @property
    def keyword(self) -> str:
        """The keyword's text."""
        return self.key.text

    @property
    def at(self) -> tuple[int, int]:
        """Line and column by which facts know it."""
        return self.key.span.start

    @property
    def lines(self) -> tuple[int, int]:
        """The first and the last line of the statement without its blocks."""
        source = self.node.source
        ends = [self.key.end]
        for name, (key, value) in self.node.entries.items():
            if name not in BLOCK_KEYS and not value.via and not key.via:
                ends.append(max(key.end, value.end - 1))
        return source.position(self.key.start)[0], source.position(max(ends))[0]

    def field(self, name: str) -> Node | None:
        """What is written for a field, in the keyword's mapping or beside it."""
        found = self.value.get(name) if isinstance(self.value, MappingNode) else None
        return found if found is not None else self.node.get(name)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A key, or a value that holds no others. `path` leads to it from the top, `statement` is the one it is part of.

    `field` are the steps from the keyword of the statement on (its own name first), or from a key beside it.
    """

    node: KeyNode | ScalarNode
    path: Path
    statement: Written | None = None
    field: Path = ()

    @property
    def is_key(self) -> bool:
        """Whether it is a key of a mapping."""
        return isinstance(self.node, KeyNode)


def leaves(document: Document) -> Iterator[Leaf]:
    """All keys and values of a document where they are written: what an alias repeats is left out."""
    if document.tree is not None:
        yield from _inside(document.tree, (), None, (), False)


def statements(document: Document) -> Iterator[Written]:
    """All statements in the order of the tree."""
    seen: set[int] = set()
    for leaf in leaves(document):
        found = leaf.statement
        if found is not None and found.key.start not in seen:
            seen.add(found.key.start)
            yield found


def leaf_at(document: Document, at: int) -> Leaf | None:
    """The key or value that an offset is in, or stands right behind."""
    behind: Leaf | None = None
    for leaf in leaves(document):
        if leaf.node.start <= at < leaf.node.end:
            return leaf
        if at == leaf.node.end and leaf.node.start < at:
            behind = leaf
    return behind


def written(node: MappingNode) -> Written | None:
    """The statement of a mapping in a list of statements; None where no keyword stands in it."""
    table = default_table()
    for name, (key, value) in node.entries.items():
        if name in table and name not in SIBLINGS and (name != "yield" or len(node.entries) == 1):
            return Written(node, key, value)
    return None


def _inside(node: Node, path: Path, around: Written | None, field: Path, list_of: bool) -> Iterator[Leaf]:
    if isinstance(node, ScalarNode):
        if not node.via:
            yield Leaf(node, path, around, field)
    elif isinstance(node, SequenceNode):
        for number, item in enumerate(node.items):
            if list_of and isinstance(item, MappingNode):
                yield from _mapping(item, (*path, number), written(item), (), True)
            else:
                yield from _inside(item, (*path, number), around, (*field, number) if field else (), False)
    elif isinstance(node, MappingNode):
        yield from _mapping(node, path, around, field, False)


def _mapping(node: MappingNode, path: Path, around: Written | None, field: Path, is_statement: bool) -> Iterator[Leaf]:
    for key, value in node.items:
        here = (*field, key.text) if field or is_statement else ()
        if not key.via:
            yield Leaf(key, (*path, key.text), around, here)
        block = key.text in BLOCK_KEYS if is_statement else _holds_statements((*path, key.text))
        yield from _inside(value, (*path, key.text), around, () if block else here, block)


def _holds_statements(path: Path) -> bool:
    return path == ("program",) or (len(path) == 3 and path[0] == "functions" and path[2] == "body")
