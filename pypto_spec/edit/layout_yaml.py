"""Pieces to YAML text, in the style of the gallery."""

from __future__ import annotations

from pypto_spec.edit.groups import Line, columns
from pypto_spec.edit.pieces import (
    STEP,
    WIDTH,
    Alias,
    Collection,
    Member,
    Piece,
    Remark,
    Scalar,
    Text,
    has_comments,
    lift,
)
from pypto_spec.edit.words import is_plain, spaced, yaml_quoted
from pypto_spec.spec.models.prose import prose_fields, section_fields


def yaml_text(text: Text) -> str:
    """The text of a document, with plain line feeds at its line ends and one at its end."""
    lines = list(text.head)
    root = text.root
    lift(root)
    if isinstance(root, Collection) and _is_block(root, 0, 0, _FORMULAS):
        if root.props:
            lines.append(root.props)
        lines += _collection(root, 0, _FORMULAS)
    else:
        lines += [_one_line(root, flow=False, rule=_FORMULAS) + _behind(root.tail)]
        lines += _remarks(root.trail, 0) if isinstance(root, Collection) else []
    lines += text.foot
    while lines and not lines[0]:
        lines.pop(0)
    return "\n".join(lines) + "\n"


class _Rule:
    """Whether single values may be formulas, and single values of what lies below."""

    __slots__ = ("below", "here")

    def __init__(self, here: bool, below: bool) -> None:
        self.here = here
        self.below = below

    def of(self, key: str) -> _Rule:
        """The rule of the value under a key."""
        if not self.below or key.startswith("x-"):
            return _VERBATIM
        return _PROSE if key in prose_fields() else _FORMULAS


_FORMULAS, _PROSE, _VERBATIM = _Rule(True, True), _Rule(False, True), _Rule(False, False)


# --- single values --------------------------------------------------------------------------------------------------


def scalar_text(scalar: Scalar | Alias, flow: bool, rule: _Rule = _PROSE) -> str:
    """A value of one line with its anchor, its spaces and quotes put in order."""
    if isinstance(scalar, Alias):
        return scalar.raw
    raw = scalar.raw
    if "\n" not in raw and scalar.style in ("", "'", '"') and "!" not in scalar.props:
        text = spaced(scalar.text) if rule.here else scalar.text
        if scalar.style:
            escaped = scalar.style == '"' and "\\" in raw
            if is_plain(text, flow):
                raw = text
            elif not escaped:
                raw = yaml_quoted(text)
        elif text != raw and is_plain(text, flow):
            raw = text
    return f"{scalar.props} {raw}".strip() if scalar.props else raw


def _scalar_lines(scalar: Scalar, indent: int) -> list[str]:
    """A value of several lines; all but the first are whole lines."""
    first, *rest = scalar.raw.split("\n")
    pad = " " * (indent + STEP)
    if scalar.style in ("|", ">"):
        rest = _block_lines(first, rest, pad)
        digits = [char for char in first.split("#")[0] if char.isdigit()]
        header = first.split("#")[0].strip()
        first = header.replace(digits[0], str(STEP)) if digits else header
        first += _behind(scalar.tail)
    else:
        first = first.rstrip() if not first.rstrip().endswith("\\") else first
        rest = [pad + _stripped(line) if line.strip() else "" for line in rest]
    return [f"{scalar.props} {first}".strip(), *rest]


def _stripped(line: str) -> str:
    line = line.lstrip(" \t")
    return line if line.rstrip().endswith("\\") else line.rstrip()


def _block_lines(header: str, lines: list[str], pad: str) -> list[str]:
    digits = [char for char in header.split("#")[0] if char.isdigit()]
    widths = [len(line) - len(line.lstrip(" ")) for line in lines if line.strip()]
    own = min(widths, default=0)
    if not digits and widths:
        own = widths[0]
    return [pad + line[own:] if len(line) > own else "" for line in lines]


# --- on one line ----------------------------------------------------------------------------------------------------


def _fits(piece: Piece) -> bool:
    """Whether a value may stand on one line, however long."""
    if isinstance(piece, Collection):
        return not piece.trail and not any(member.commented or not _fits(member.value) for member in piece.members)
    return "\n" not in piece.raw


def _one_line(piece: Piece, flow: bool, rule: _Rule) -> str:
    if not isinstance(piece, Collection):
        return scalar_text(piece, flow, rule)
    made = ", ".join(_entry(member, rule) for member in piece.members)
    if not piece.pair:
        made = f"{{{made}}}" if piece.mapping else f"[{made}]"
    return f"{piece.props} {made}" if piece.props else made


def _entry(member: Member, rule: _Rule) -> str:
    if member.key is None:
        return _one_line(member.value, True, rule)
    key = _key(member.key, flow=True)
    value = _one_line(member.value, True, rule.of(_word(member.key)))
    return f"{key}: {value}" if value else key


def _key(key: Scalar | Alias, flow: bool) -> str:
    text = scalar_text(key, flow)
    return f"{text} " if isinstance(key, Alias) else text


def _word(key: Scalar | Alias) -> str:
    return key.text if isinstance(key, Scalar) else key.raw


def _behind(comment: str) -> str:
    return f" {comment}" if comment else ""


# --- in block style -------------------------------------------------------------------------------------------------


def _is_block(piece: Piece, column: int, indent: int, rule: _Rule) -> bool:
    """Whether a value that would start at `column` is written in block style."""
    if not isinstance(piece, Collection):
        return False
    if not piece.flow:
        return True
    if not piece.members:
        return False
    if _fits(piece) and column + len(_one_line(piece, False, rule)) <= WIDTH:
        return False
    return piece.mapping or not _fills(piece, indent, rule)


def _fills(piece: Collection, indent: int, rule: _Rule) -> bool:
    """Whether a long list is filled into lines: one of single values, and of short lists of such."""
    return all(
        not _has_mapping(member.value)
        and _fits(member.value)
        and indent + STEP + len(_one_line(member.value, True, rule)) < WIDTH
        for member in piece.members
    )


def _has_mapping(piece: Piece) -> bool:
    return isinstance(piece, Collection) and (piece.mapping or any(_has_mapping(m.value) for m in piece.members))


def _remarks(remarks: list[Remark], indent: int, first: bool = False) -> list[str]:
    lines: list[str] = []
    for number, remark in enumerate(remarks):
        if remark.blank and not (first and number == 0):
            lines.append("")
        lines.append(" " * indent + remark.text)
    return lines


def _collection(piece: Collection, indent: int, rule: _Rule) -> list[str]:
    """The lines of a collection in block style."""
    if piece.mapping and {_word(member.key) for member in piece.members if member.key} <= section_fields():
        known = [0] * len(piece.members)
    else:
        known = columns([_line(member, indent, rule) for member in piece.members], piece.mapping)
    lines: list[str] = []
    for number, member in enumerate(piece.members):
        lines += _remarks(member.lead, indent, first=number == 0)
        if member.blank and (number > 0 or member.lead):
            lines.append("")
        lines += _member(member, indent, rule, known[number])
    return lines + _remarks(piece.trail, indent)


def _member(member: Member, indent: int, rule: _Rule, width: int) -> list[str]:
    pad = " " * indent
    if member.key is None:
        return _item(member, indent, rule, width)
    head = f"{pad}{_key(member.key, flow=False)}:"
    below = rule.of(_word(member.key))
    blanks = " " * max(1, width - (len(head) - indent))
    return _hung(head, blanks, member, indent, below)


def _item(member: Member, indent: int, rule: _Rule, width: int) -> list[str]:
    value = member.value
    block = _is_block(value, indent + STEP, indent, rule)
    if not block or not isinstance(value, Collection) or value.props or member.opener or not value.members:
        return _hung(" " * indent + "-", " ", member, indent, rule)
    if len(value.members) == 1 and value.mapping:
        lines = _member(value.members[0], indent + STEP, rule, width) + _remarks(value.trail, indent + STEP)
    else:
        lines = _collection(value, indent + STEP, rule)
    if value.flow and value.tail:
        lines.append(" " * (indent + STEP) + value.tail)
    return [f"{' ' * indent}- {lines[0][indent + STEP :]}", *lines[1:]]


def _hung(head: str, blanks: str, member: Member, indent: int, rule: _Rule) -> list[str]:
    """What follows `key:` or `-`."""
    value, opener = member.value, _behind(member.opener)
    if _is_block(value, len(head) + len(blanks), indent, rule):
        assert isinstance(value, Collection)
        props = f" {value.props}" if value.props else ""
        lead = _remarks(member.inner, indent + STEP)
        lines = [*lead, *_collection(value, indent + STEP, rule)]
        behind = ""
        if value.tail and (opener or lead or has_comments(value, inside=True)):
            lines.append(" " * (indent + STEP) + value.tail)
        else:
            behind = _behind(value.tail)
        return [head + props + opener + behind, *lines]
    if opener or member.inner:
        lines = _lines(value, indent, rule)
        if lines == [""]:
            return [head + opener, *_remarks(member.inner, indent + STEP)]
        return [head + opener, *_remarks(member.inner, indent + STEP), " " * (indent + STEP) + lines[0], *lines[1:]]
    lines = _lines(value, indent, rule, len(head) + len(blanks))
    return [(head + blanks + lines[0]).rstrip(), *lines[1:]]


def _lines(piece: Piece, indent: int, rule: _Rule, column: int = 0) -> list[str]:
    """A value that is in no block collection's style, its comment behind it; all lines but the first are whole."""
    if isinstance(piece, Scalar) and "\n" in piece.raw:
        lines = _scalar_lines(piece, indent)
        if piece.style not in ("|", ">"):
            lines[-1] += _behind(piece.tail)
        return lines
    if isinstance(piece, Collection) and piece.flow:
        line = _one_line(piece, False, rule)
        if not _fits(piece) or (column + len(line) > WIDTH and piece.members):
            return _filled(piece, indent, rule)
        return [line + _behind(piece.tail)]
    return [_one_line(piece, False, rule) + _behind(piece.tail)]


def _filled(piece: Collection, indent: int, rule: _Rule) -> list[str]:
    """A long list, as many items on a line as fit."""
    pad = " " * (indent + STEP)
    lines = [f"{piece.props} {'{' if piece.mapping else '['}".strip()]
    open_line = False
    for number, member in enumerate(piece.members):
        lines += _remarks(member.lead, indent + STEP)
        open_line = open_line and not member.lead
        item = _one_line(member.value, True, rule) + ("," if number + 1 < len(piece.members) else "")
        if open_line and len(lines[-1]) + 1 + len(item) <= WIDTH:
            lines[-1] += f" {item}"
        else:
            lines.append(pad + item)
        lines[-1] += _behind(member.value.tail)
        open_line = not member.value.tail
    lines += _remarks(piece.trail, indent + STEP)
    closing = "}" if piece.mapping else "]"
    if open_line and not piece.trail:
        lines[-1] += closing
    else:
        lines.append(pad + closing)
    lines[-1] += _behind(piece.tail)
    return lines


# --- which members are aligned --------------------------------------------------------------------------------------


def _line(member: Member, indent: int, rule: _Rule) -> Line | None:
    """What matters about a member for the alignment of its neighbours; None where it takes more than one line."""
    if member.key is None:
        value = member.value
        if not isinstance(value, Collection) or not value.mapping or len(value.members) != 1:
            return None
        if value.flow and (value.tail or not _is_block(value, indent + STEP, indent, rule)):
            return None
        if value.props or member.opener or value.trail or value.members[0].lead:
            return None
        line = _line(value.members[0], indent + STEP, rule)
        return Line(line.key, line.length, line.flow, member.blank, line.mapping) if line else None
    if member.opener or member.inner:
        return None
    head = len(_key(member.key, flow=False)) + 1
    below = rule.of(_word(member.key))
    value = member.value
    if isinstance(value, Collection):
        if not value.flow or _is_block(value, indent + head + 1, indent, below) or not _fits(value):
            return None
        length = indent + head + 1 + len(_one_line(value, False, below))
        return Line(head, length, True, member.blank, value.mapping) if length <= WIDTH else None
    if "\n" in value.raw:
        return None
    return Line(head, 0, False, member.blank, False)
