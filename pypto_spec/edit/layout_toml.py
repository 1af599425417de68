"""Statements to TOML text, in the style of the gallery."""

from __future__ import annotations

import re

from pypto_spec.edit.pieces import STEP, WIDTH, Alias, Collection, Piece, Remark, Scalar
from pypto_spec.edit.toml_reader import Statement
from pypto_spec.edit.words import basic_quoted, spaced
from pypto_spec.spec.models.prose import prose_fields
from pypto_spec.spec.toml_strings import BASIC, RAW

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+\Z")


def toml_text(statements: list[Statement]) -> str:
    """The text of a document, with plain line feeds at its line ends and one at its end."""
    lines: list[str] = []
    table: tuple[str, ...] = ()
    opened = True
    for statement in statements:
        if statement.blank and not opened:
            lines.append("")
        opened = statement.header
        behind = f" {statement.comment}" if statement.comment else ""
        keys = ".".join(map(key_text, statement.keys))
        if statement.header:
            table = tuple(key.text for key in statement.keys)
            lines.append((f"[[{keys}]]" if statement.array else f"[{keys}]") + behind)
        elif statement.value is None:
            lines.append(statement.comment)
        else:
            path = (*table, *(key.text for key in statement.keys))
            formulas = not any(key.startswith("x-") for key in path)
            made = _value(statement.value, 0, len(keys) + 3, path[-1] if formulas else None)
            lines += [f"{keys} = {made[0]}", *made[1:]]
            lines[-1] += behind
    return "\n".join(lines) + "\n"


def key_text(key: Scalar | Alias) -> str:
    """A key, in quotes where it needs them."""
    text = key.text if isinstance(key, Scalar) else key.raw
    return text if _BARE_KEY.match(text) else basic_quoted(text)


def _scalar(scalar: Scalar | Alias, key: str | None) -> str:
    """A value with its spaces and quotes put in order; `key` is the field it belongs to, None where it is nobody's."""
    raw = scalar.raw
    if not isinstance(scalar, Scalar) or scalar.style not in (BASIC, RAW) or "\\" in raw:
        return raw
    text = spaced(scalar.text) if key is not None and key not in prose_fields() else scalar.text
    return f'"{text}"' if '"' not in text else raw


def _value(piece: Piece, indent: int, column: int, key: str | None) -> list[str]:
    """The lines of a value that starts at `column`; those after the first are whole, with `indent` for the last."""
    if not isinstance(piece, Collection):
        return _scalar(piece, key).split("\n")
    if not piece.mapping:
        return _array(piece, indent, column, key)
    if not piece.members:
        return ["{}"]
    lines = ["{ "]
    for number, member in enumerate(piece.members):
        assert member.key is not None
        head, value = member.key, member.value
        name = key_text(head)
        word = head.text if isinstance(head, Scalar) else ""
        while isinstance(value, Collection) and value.pair:  # `a.b = 1`
            inner = value.members[0]
            assert isinstance(inner.key, Scalar)
            name, word, value = f"{name}.{key_text(inner.key)}", inner.key.text, inner.value
        lines[-1] += (", " if number else "") + f"{name} = "
        below = word if key is not None and not word.startswith("x-") else None
        here = len(lines[-1]) + (column if len(lines) == 1 else 0)
        here = 0 if not _holds_tables(value) else here  # breaking its last list makes a long table no better to read
        made = _value(value, indent, here, below)
        lines[-1] += made[0]
        lines += made[1:]
    lines[-1] += " }"
    return lines


def _array(piece: Collection, indent: int, column: int, key: str | None) -> list[str]:
    if not piece.members and not piece.trail:
        return ["[]"]
    bare = not piece.trail and not any(member.commented for member in piece.members)
    tables = _holds_tables(piece)
    if bare and not (tables and piece.broken):
        items = [_value(member.value, indent, column, key) for member in piece.members]
        line = f"[{', '.join(item[0] for item in items)}]"
        if all(len(item) == 1 for item in items) and column + len(line) <= WIDTH:
            return [line]
    return ["[", *_items(piece, indent + STEP, key), " " * indent + "]"]


def _holds_tables(piece: Piece) -> bool:
    """Whether it is a list of tables, such as the statements of a body."""
    return (
        isinstance(piece, Collection)
        and not piece.mapping
        and any(isinstance(member.value, Collection) and member.value.mapping for member in piece.members)
    )


def _items(piece: Collection, indent: int, key: str | None) -> list[str]:
    """The items of an array on lines of their own; numbers and words fill lines."""
    pad = " " * indent
    fill = not any(isinstance(member.value, Collection) for member in piece.members)
    lines: list[str] = []
    filling = False
    for number, member in enumerate(piece.members):
        lines += _remarks(member.lead, indent, first=number == 0)
        if member.blank and not fill and (number > 0 or member.lead):
            lines.append("")
        item = _value(member.value, indent, indent, key)
        item[-1] += ","
        if fill and filling and not member.lead and len(lines[-1]) + 1 + len(item[0]) <= WIDTH:
            lines[-1] += f" {item[0]}"
        else:
            lines.append(pad + item[0])
        lines += item[1:]
        lines[-1] += f" {member.value.tail}" if member.value.tail else ""
        filling = fill and not member.value.tail and len(item) == 1
    return lines + _remarks(piece.trail, indent)


def _remarks(remarks: list[Remark], indent: int, first: bool = False) -> list[str]:
    lines: list[str] = []
    for number, remark in enumerate(remarks):
        if remark.blank and not (first and number == 0):
            lines.append("")
        lines.append(" " * indent + remark.text)
    return lines
