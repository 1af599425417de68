"""YAML pieces to values of TOML, and their comments to places where TOML allows them."""

from __future__ import annotations

import math
import tomllib

from pypto_spec.edit.pieces import Collection, Member, Piece, Remark, Scalar
from pypto_spec.edit.words import basic_quoted
from pypto_spec.spec.toml_strings import BARE, BASIC, LONG_BASIC
from pypto_spec.spec.tree import MappingNode, Node, ScalarNode, SequenceNode, Value


class Sink:
    """Where comments go that cannot stay: above the statement, then behind the last array that was opened.

    In this way their order stays, whatever lies between them.
    """

    __slots__ = ("remarks",)

    def __init__(self, remarks: list[Remark]) -> None:
        self.remarks = remarks

    def put(self, *texts: str) -> None:
        """Comments without a place."""
        self.remarks += [Remark(text) for text in texts if text]


def toml_value(piece: Piece, node: Node, sink: Sink, long: bool = False) -> Piece:
    """The value in TOML; `node` is the same value as it was loaded. `long`: a text may take several lines."""
    if isinstance(piece, Collection) and isinstance(node, MappingNode):
        made = Collection(mapping=True, flow=True)
        for member, (key, below) in zip(piece.members, node.items, strict=True):
            opener = [*([Remark(member.opener)] if member.opener else []), *member.inner]
            sink.put(*(remark.text for remark in member.lead))
            if isinstance(member.value, Collection) and not member.value.mapping and member.value.members:
                first = member.value.members[0]  # what stands behind `body:` stands behind its bracket
                first.lead = [*opener, *first.lead]
            else:
                sink.put(*(remark.text for remark in opener))
            value = toml_value(member.value, below, sink)
            _hoist_tail(member.value, value, sink)
            made.members.append(Member(value, Scalar(key.text, key.text, BARE)))
        sink.put(*(remark.text for remark in piece.trail))
        return made
    if isinstance(piece, Collection) and isinstance(node, SequenceNode):
        return _array(piece, node, sink)
    assert isinstance(node, ScalarNode)
    return toml_scalar(node, piece.raw if isinstance(piece, Scalar) else "", long)


def _hoist_tail(piece: Piece, made: Piece, sink: Sink) -> None:
    """The comment behind a value that stands inside of a table of one line."""
    made.tail = ""
    sink.put(piece.tail)


def _array(piece: Collection, node: SequenceNode, sink: Sink) -> Collection:
    made = Collection(mapping=False, flow=True, broken=not piece.flow)
    pending: list[Remark] = []
    commented = False
    for member, below in zip(piece.members, node.items, strict=True):
        lead = [*pending, *member.lead, *([Remark(member.opener)] if member.opener else []), *member.inner]
        pending = []
        inner = Sink(lead)
        value = toml_value(member.value, below, inner)
        last = _last_comment(member.value)
        if last and inner.remarks and inner.remarks is lead and lead[-1].text == last:
            value.tail = lead.pop().text
        elif member.value.tail:
            value.tail = member.value.tail
        made.members.append(Member(value, None, lead, member.blank))
        commented = commented or bool(lead or value.tail or inner.remarks is not lead)
    made.trail = list(piece.trail)
    if commented or made.trail:  # what comes later stands behind the comments in here
        made.trail = _followed(made.trail, sink)
    return made


def _followed(trail: list[Remark], sink: Sink) -> list[Remark]:
    sink.remarks = trail
    return trail


def _last_comment(piece: Piece) -> str:
    """The comment behind the last value of a mapping, which ends the line of the item that the mapping is."""
    while isinstance(piece, Collection) and piece.mapping and piece.members and not piece.tail and not piece.trail:
        piece = piece.members[-1].value
    return piece.tail


def toml_scalar(node: ScalarNode, raw: str, long: bool = False) -> Scalar:
    """A single value; null becomes an empty table, which is what TOML writes for it."""
    value = node.value
    if value is None:
        return Scalar("{}", "{}", BARE)
    if isinstance(value, str):
        text = str(value)
        if long and "\n" in text and not any(ord(char) < 32 and char not in "\n\t" for char in text):
            body = text.replace("\\", "\\\\").replace('"""', '""\\"')
            body = body[:-1] + '\\"' if body.endswith('"') else body
            return Scalar(f'"""\n{body}"""', text, LONG_BASIC)
        return Scalar(basic_quoted(text), text, BASIC)
    if isinstance(value, bool):
        return Scalar("true" if value else "false", raw, BARE)
    return Scalar(_number(value, raw), raw, BARE)


def _number(value: int | float, raw: str) -> str:
    """A number as it was written, where TOML reads the same."""
    if _reads(raw, value):
        return raw
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return repr(value)


def _reads(raw: str, value: Value) -> bool:
    try:
        read = tomllib.loads(f"v = {raw}")
    except ValueError:
        return False
    return len(read) == 1 and type(read["v"]) is type(value) and read["v"] == value
