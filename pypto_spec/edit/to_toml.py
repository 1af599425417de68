"""A document of YAML as statements of TOML: tables for sections, `[[program]]`, values of one line for the rest.

In TOML the keys behind a header belong to it. So that the order stays, what is followed by a plain key is no table but
a value, or, where comments stand inside, a row of dotted keys.
"""

from __future__ import annotations

from pypto_spec.edit.pieces import WIDTH, Collection, Member, Piece, Remark, Scalar, has_comments
from pypto_spec.edit.toml_reader import Statement
from pypto_spec.edit.toml_values import Sink, toml_value
from pypto_spec.spec.models.keywords import BLOCK_KEYS
from pypto_spec.spec.toml_strings import BARE
from pypto_spec.spec.tree import MappingNode, Node, SequenceNode

Keys = tuple[Scalar, ...]


def toml_statements(root: Collection, tree: MappingNode) -> list[Statement]:
    """The statements of a document without aliases."""
    writer = _Writer()
    writer.table(root, tree, (), top=True)
    writer.remarks(root.trail)
    return writer.made


class _Writer:
    def __init__(self) -> None:
        self.made: list[Statement] = []

    def remarks(self, remarks: list[Remark], blank: bool = False) -> None:
        for number, remark in enumerate(remarks):
            self.made.append(Statement(comment=remark.text, blank=remark.blank or (blank and number == 0)))

    def table(self, piece: Collection, tree: MappingNode, path: Keys, top: bool = False) -> None:
        """The members of a table whose header is `path` and stands above already."""
        nodes = [node for _, node in tree.items]
        tables = [_is_table(member, node, top) for member, node in zip(piece.members, nodes, strict=True)]
        for number, (member, node) in enumerate(zip(piece.members, nodes, strict=True)):
            key = _key(member)
            if tables[number] and all(tables[number:]):
                self.below(member, node, (*path, key))
            else:
                self.pair(member, node, (key,), table=tables[number])

    def below(self, member: Member, node: Node, path: Keys) -> None:
        """A table, or a list of tables, with headers of their own."""
        value = member.value
        assert isinstance(value, Collection)
        opener = [Remark(text) for text in (member.opener, value.tail if value.flow else "") if text]
        if isinstance(node, SequenceNode):
            lead = [*member.lead, *opener, *member.inner]
            for item, below in zip(value.members, node.items, strict=True):
                assert isinstance(item.value, Collection) and isinstance(below, MappingNode)
                lead += [*item.lead, *([Remark(item.opener)] if item.opener else []), *item.inner]
                self.header(path, lead, array=True)
                self.table(item.value, below, path)
                self.remarks(item.value.trail)
                lead = [Remark(item.value.tail)] if item.value.flow and item.value.tail else []
            self.remarks([*lead, *value.trail])
            return
        assert isinstance(node, MappingNode)
        entries = zip(value.members, node.items, strict=True)
        if not (opener or member.inner) and all(_is_table(entry, item, False) for entry, (_, item) in entries):
            first = value.members[0]  # a header above nothing but headers says nothing
            first.lead = [*member.lead, *first.lead]
            self.table(value, node, path)
            self.remarks(value.trail)
            return
        header = self.header(path, member.lead)
        if opener:
            header.comment = opener.pop(0).text
        self.remarks([*opener, *member.inner])
        self.table(value, node, path)
        self.remarks(value.trail)

    def header(self, path: Keys, lead: list[Remark], array: bool = False) -> Statement:
        first = not self.made
        self.remarks(lead, blank=not first)
        made = Statement(path, array=array, blank=not (first or lead))
        self.made.append(made)
        return made

    def pair(self, member: Member, node: Node, keys: Keys, table: bool) -> None:
        """`key = value`, or a row of dotted keys."""
        value = member.value
        dotted = isinstance(value, Collection) and isinstance(node, MappingNode) and bool(value.members)
        if dotted and (has_comments(value, inside=True) or (table and _width(value, node, keys) > WIDTH)):
            assert isinstance(value, Collection) and isinstance(node, MappingNode)
            self.remarks([*member.lead, *([Remark(member.opener)] if member.opener else []), *member.inner])
            for number, (entry, (_, below)) in enumerate(zip(value.members, node.items, strict=True)):
                entry.blank = entry.blank if number else member.blank and not member.lead
                self.pair(entry, below, (*keys, _key(entry)), table)
            tail = [Remark(value.tail)] if value.flow and value.tail else []
            self.remarks([*value.trail, *tail])
            return
        lead = [*member.lead, *([Remark(member.opener)] if member.opener else []), *member.inner]
        if isinstance(value, Collection) and not value.mapping and value.members and member.opener:
            lead = list(member.lead)  # what stands behind `body:` stands behind its bracket
            value.members[0].lead = [Remark(member.opener), *member.inner, *value.members[0].lead]
        sink = Sink(lead)
        made = toml_value(value, node, sink, long=True)
        made.tail = ""
        last = lead[-1] if sink.remarks is lead and lead else None
        comment = value.tail
        self.remarks(lead)
        assert last is None or sink.remarks is lead
        self.made.append(Statement(keys, made, comment=comment, blank=member.blank))


def _key(member: Member) -> Scalar:
    assert isinstance(member.key, Scalar)
    return Scalar(member.key.text, member.key.text, BARE)


def _is_table(member: Member, node: Node, top: bool) -> bool:
    """Whether a member would have a header of its own: sections, and what is a block within them."""
    value = member.value
    if not isinstance(value, Collection) or not value.members:
        return False
    if isinstance(node, SequenceNode):
        key = member.key.text if isinstance(member.key, Scalar) else ""
        return (
            not value.flow
            and key not in BLOCK_KEYS
            and all(isinstance(item.value, Collection) and item.value.members for item in value.members)
            and all(isinstance(item, MappingNode) for item in node.items)
            and top
        )
    return isinstance(node, MappingNode) and (top or not value.flow or has_comments(value, inside=True))


def _width(piece: Piece, node: Node, keys: Keys) -> int:
    """The columns of a mapping as a value of one line."""
    from pypto_spec.edit.layout_toml import toml_text

    made = toml_value(piece, node, Sink([]))
    return len(toml_text([Statement(keys, made)])) - 1
