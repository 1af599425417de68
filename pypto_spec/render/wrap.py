"""Lines of at most 120 columns, broken where the project's clang-format breaks them.

Arguments fill a line and go on under the first one; an argument that fits no line by itself is broken inside its own
parentheses, unless starting all arguments on a line of their own avoids that; a definition is broken behind its `=` if
that saves other breaks.
"""

from __future__ import annotations

from pypto_spec.records import dataclass

COLUMNS = 120
INDENT = "    "

_OPEN = {"(": ")", "[": "]", "{": "}"}


@dataclass(slots=True)
class _Broken:
    """A statement over several lines: columns beyond the limit, breaks inside inner parentheses."""

    lines: list[str]
    beyond: int
    inner: int

    @property
    def cost(self) -> tuple[int, int, int]:
        return self.beyond, self.inner, len(self.lines)


def wrap(text: str, indent: str = "") -> list[str]:
    """The lines of one statement, `indent` in front of each."""
    if len(indent) + len(text) <= COLUMNS:
        return [indent + text]
    opening = text.find("(")
    if opening < 0:
        return [indent + text]
    assign = text.find(" = ")
    if 0 <= assign < opening and not text.startswith("for ("):
        return _definition(indent, text, assign, opening).lines
    return _break(indent, text, opening).lines


def _definition(indent: str, text: str, assign: int, opening: int) -> _Broken:
    """A definition, broken behind its `=` if that saves breaks between arguments."""
    beside = _break(indent, text, opening)
    value, deeper = text[assign + 3 :], indent + INDENT
    if len(deeper) + len(value) <= COLUMNS:
        return _Broken([indent + text[: assign + 2], deeper + value], 0, 0)
    below = _break(deeper, value, opening - assign - 3)
    if below.cost < beside.cost:
        below.lines.insert(0, indent + text[: assign + 2])
        return below
    return beside


def _break(start: str, text: str, opening: int) -> _Broken:
    """`text` behind `start`, its outermost parentheses broken in the better of two ways."""
    closing = _closing(text, opening)
    separator, items = _items(text, opening, closing)
    glue = separator.rstrip()  # `,` or ` &&`
    last = len(items) - 1
    pieces = [item + (glue if n < last else text[closing:]) for n, item in enumerate(items)]
    head = start + text[: opening + 1]
    beside = _fill(head, pieces, len(head))
    if separator != ", " or (len(beside.lines) < 3 and beside.cost[:2] == (0, 0)):
        return beside
    pad = len(start) - len(start.lstrip()) if start.strip() else len(start)
    below = _fill(" " * (pad + len(INDENT)), pieces, pad + len(INDENT))
    below.lines.insert(0, head)
    return below if below.cost < beside.cost else beside


def _fill(line: str, pieces: list[str], pad: int) -> _Broken:
    """The pieces behind `line`, then on lines that start at column `pad`."""
    made = _Broken([], 0, 0)
    fresh, broken = True, False
    for piece in pieces:
        if fresh:
            line += piece
        elif not broken and len(line) + 1 + len(piece) <= COLUMNS:
            line += f" {piece}"
            continue
        else:
            made.lines.append(line)
            line = " " * pad + piece
        fresh = broken = False
        if len(line) > COLUMNS:
            opening = piece.find("(")
            before = line[: -len(piece)]
            if opening >= 0 and _closing(piece, opening) > opening + 1:
                inner = _break(before, piece, opening)
                *done, line = inner.lines
                made.lines += done
                made.inner += len(done) + inner.inner
                broken = bool(done)
            made.beyond += max(0, len(line) - COLUMNS)
    made.lines.append(line)
    return made


def _items(text: str, opening: int, closing: int) -> tuple[str, list[str]]:
    """What stands between the parentheses: arguments, else the parts of a `for`, a condition or a sum."""
    inside = text[opening + 1 : closing]
    for separator in ("; ",) if text.startswith("for (") else (", ", " && ", " || ", " + "):
        items = _split(inside, separator)
        if len(items) > 1:
            return separator, items
    return ", ", [inside]


def _closing(text: str, opening: int) -> int:
    depth = 0
    for place in range(opening, len(text)):
        if text[place] in _OPEN:
            depth += 1
        elif text[place] in ")]}":
            depth -= 1
            if depth == 0:
                return place
    return len(text)


def _split(text: str, separator: str) -> list[str]:
    """Pieces between separators that stand in no brackets; template arguments count as brackets before commas."""
    items: list[str] = []
    depth = start = 0
    for place, char in enumerate(text):
        if char in _OPEN:
            depth += 1
        elif char in ")]}":
            depth -= 1
        if depth == 0 and text.startswith(separator, place) and not _in_template(text[start:place], separator):
            items.append(text[start:place])
            start = place + len(separator)
    items.append(text[start:])
    return items


def _in_template(piece: str, separator: str) -> bool:
    """Whether a comma behind `piece` stands between `<` and `>` of template arguments, not of a comparison."""
    if separator != ", ":
        return False
    plain = piece.replace(" < ", "").replace(" <= ", "").replace(" > ", "").replace(" >= ", "")
    return plain.count("<") > plain.count(">")
