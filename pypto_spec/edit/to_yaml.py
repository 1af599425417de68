"""Statements of TOML as a document of YAML."""

from __future__ import annotations

from pypto_spec.edit.layout_yaml import scalar_text
from pypto_spec.edit.pieces import WIDTH, Collection, Member, Piece, Remark, Scalar, has_comments
from pypto_spec.edit.toml_reader import Statement
from pypto_spec.edit.words import basic_quoted, yaml_quoted
from pypto_spec.spec.core_schema import IntegerTooLargeError, resolve_plain
from pypto_spec.spec.models.keywords import BLOCK_KEYS
from pypto_spec.spec.tree import MappingNode, Node, ScalarNode, SequenceNode

Table = Collection


def yaml_pieces(statements: list[Statement], tree: MappingNode) -> Collection:
    """The pieces of the document in block style, sections of few plain values on one line."""
    root = Collection(mapping=True, flow=False)
    _Builder(root, tree).build(statements)
    for member in root.members:
        _to_one_line(member)
    return root


class _Builder:
    """Goes through the statements with the comments that wait for what they belong to."""

    def __init__(self, root: Collection, tree: MappingNode) -> None:
        self.root = root
        self.tree = tree
        self.table: Collection = root
        self.node: MappingNode = tree
        self.path: tuple[str, ...] = ()
        """The keys of the header of `table`."""
        self.waiting: list[Remark] = []
        self.filled: dict[int, int] = {}
        """Tables of each array that have been opened, by the identity of its node."""

    def build(self, statements: list[Statement]) -> None:
        for number, statement in enumerate(statements):
            divided = self.waiting and not self.waiting[0].blank and statement.blank and statement.value is None
            if divided and not self.goes_on(statements[number:]):
                # They follow what stands above, and an empty line divides them from what comes.
                self.table.trail += self.taken()
            if statement.header:
                self.open(statement)
            elif statement.value is not None:
                self.pair(statement)
            else:
                self.waiting.append(Remark(statement.comment, statement.blank))
        self.root.trail += self.waiting

    def goes_on(self, rest: list[Statement]) -> bool:
        """Whether the table that is open gets more members."""
        after = next((statement for statement in rest if statement.keys), None)
        if after is None or not after.header:
            return after is not None
        path = tuple(key.text for key in after.keys)
        return len(path) > len(self.path) and path[: len(self.path)] == self.path

    def taken(self) -> list[Remark]:
        waiting, self.waiting = self.waiting, []
        return waiting

    def open(self, statement: Statement) -> None:
        self.table, self.node = self.root, self.tree
        self.path = tuple(key.text for key in statement.keys)
        blank = statement.blank
        for place, key in enumerate(statement.keys):
            last = place + 1 == len(statement.keys)
            member, new = self.enter(self.table, key, statement.array and last)
            if new:
                member.lead += self.taken()
                member.blank = blank and place == 0
            below = self.node.get(key.text)
            value = member.value
            assert isinstance(value, Collection) and below is not None
            if isinstance(below, SequenceNode):
                if last:
                    item = Member(Collection(mapping=True, flow=False), None, self.taken(), blank and not new)
                    value.members.append(item)
                    self.filled[id(below)] = len(value.members)
                inner = value.members[-1].value
                assert isinstance(inner, Collection)
                below, value = below.items[self.filled[id(below)] - 1], inner
            assert isinstance(below, MappingNode)
            self.table, self.node = value, below
        if statement.comment:
            self.waiting += [Remark(statement.comment)]
            if not statement.array and not self.table.members and len(self.waiting) == 1:
                self.set_opener(statement)

    def set_opener(self, statement: Statement) -> None:
        """The comment behind a header stands behind the key."""
        parent: Piece = self.root
        member: Member | None = None
        for key in statement.keys:
            while isinstance(parent, Collection) and not parent.mapping:
                parent = parent.members[-1].value
            assert isinstance(parent, Collection)
            member = _find(parent, key.text)
            assert member is not None
            parent = member.value
        if member is not None and not member.opener:
            member.opener = self.taken()[0].text

    def enter(self, table: Collection, key: Scalar, array: bool) -> tuple[Member, bool]:
        """The member of a table under a key, made where it is not there yet."""
        found = _find(table, key.text)
        if found is not None:
            return found, False
        made = Member(Collection(mapping=not array, flow=False), _key(key))
        table.members.append(made)
        return made, True

    def pair(self, statement: Statement) -> None:
        table, node = self.table, self.node
        lead, blank = self.taken(), statement.blank
        for key in statement.keys[:-1]:
            member, new = self.enter(table, key, False)
            if new:
                member.lead, member.blank = lead, blank
                lead, blank = [], False
            below = node.get(key.text)
            assert isinstance(member.value, Collection) and isinstance(below, MappingNode)
            table, node = member.value, below
        key = statement.keys[-1]
        below = node.get(key.text)
        assert below is not None and statement.value is not None
        value = _value(statement.value, below, key.text)
        member = Member(value, _key(key), lead, blank)
        table.members.append(member)
        if statement.comment:
            _put_behind(member, statement.comment)


def _find(table: Collection, key: str) -> Member | None:
    return next((m for m in table.members if isinstance(m.key, Scalar) and m.key.text == key), None)


def _put_behind(member: Member, comment: str) -> None:
    """The comment behind a value, or, of a block, behind its key or at its end."""
    value = member.value
    if not isinstance(value, Collection) or value.flow:
        value.tail = comment
    elif has_comments(value) or not value.members:
        value.trail.append(Remark(comment))
    else:
        member.opener = comment


def _key(key: Scalar) -> Scalar:
    return _text(key.text)


def _text(text: str) -> Scalar:
    """A text in quotes, which the layout takes away where they are not needed."""
    quoted = yaml_quoted(text)
    return Scalar(quoted, text, quoted[0])


def _value(piece: Piece, node: Node, key: str) -> Piece:
    if isinstance(piece, Collection) and isinstance(node, SequenceNode):
        commented = bool(piece.trail) or any(member.commented for member in piece.members)
        tables = any(isinstance(item, MappingNode) for item in node.items)
        block = bool(piece.members) and tables and (piece.broken or commented or key in (*BLOCK_KEYS, "program"))
        made = Collection(mapping=False, flow=not block, trail=piece.trail)
        for member, item in zip(piece.members, node.items, strict=True):
            value = _value(member.value, item, "")
            if block and isinstance(value, Collection) and value.mapping and value.members:
                value.flow = False
            inner = Member(value, None, member.lead, member.blank)
            if member.value.tail:
                _end_with(value, member.value.tail)
            made.members.append(inner)
        return made
    if isinstance(piece, Collection) and isinstance(node, MappingNode):
        made = Collection(mapping=True, flow=True)
        for member in piece.members:
            _add(made, member, node)
        return made
    assert isinstance(node, ScalarNode)
    return _scalar(node, piece.raw if isinstance(piece, Scalar) else "")


def _add(made: Collection, member: Member, node: MappingNode) -> None:
    """An entry of a table of one line; dotted keys meet in one mapping."""
    assert isinstance(member.key, Scalar)
    below = node.get(member.key.text)
    assert below is not None
    known = _find(made, member.key.text)
    value = member.value
    if known is not None and isinstance(value, Collection) and value.pair and isinstance(below, MappingNode):
        assert isinstance(known.value, Collection)
        _add(known.value, value.members[0], below)
        return
    done = _value(value, below, member.key.text)
    made.members.append(Member(done, _key(member.key)))


def _end_with(value: Piece, comment: str) -> None:
    """A comment behind an item: behind the last line of it."""
    last: Piece = value
    while isinstance(last, Collection) and not last.flow:
        if last.trail or not last.members:
            last.trail.append(Remark(comment))
            return
        member = last.members[-1]
        last = member.value
        if isinstance(last, Collection) and not last.flow and not last.mapping:
            last.trail.append(Remark(comment))
            return
    last.tail = comment


def _scalar(node: ScalarNode, raw: str) -> Scalar:
    value = node.value
    if isinstance(value, str):
        text = str(value)
        lines = text.split("\n")
        if len(lines) > 1 and lines[0].strip() and all(line == line.rstrip() and line.isprintable() for line in lines):
            chomp = "" if text.endswith("\n") and not text.endswith("\n\n") else "-" if lines[-1] else None
            if chomp is not None and not lines[0].startswith(" "):
                body = text.removesuffix("\n").split("\n")
                return Scalar("\n".join([f"|{chomp}", *(f"  {line}" if line else "" for line in body)]), text, "|")
        return _text(text) if len(lines) == 1 else Scalar(basic_quoted(text), text, '"')
    try:
        read = resolve_plain(raw)
    except IntegerTooLargeError:
        read = None
    if type(read) is type(value) and read == value:
        return Scalar(raw, raw, "")
    words = {"inf": ".inf", "-inf": "-.inf", "nan": ".nan"}
    made = str(value).lower() if isinstance(value, bool) else words.get(repr(value), repr(value))
    return Scalar(made, made, "")


def _to_one_line(member: Member) -> None:
    """A section of a few plain values, such as `constants`, stands in braces."""
    value = member.value
    if not isinstance(value, Collection) or value.flow or not value.mapping or has_comments(value) or member.opener:
        return
    if any(isinstance(entry.value, Collection) or "\n" in entry.value.raw for entry in value.members):
        return
    entries = [(entry.key, entry.value) for entry in value.members if entry.key and isinstance(entry.value, Scalar)]
    columns = sum(len(scalar_text(key, True)) + len(scalar_text(one, True)) + 4 for key, one in entries)
    value.flow = columns + len(member.key.raw if member.key else "") <= WIDTH
