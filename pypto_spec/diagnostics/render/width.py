"""How wide text is on a terminal, and text made harmless for it."""

from __future__ import annotations

from unicodedata import category, east_asian_width

TAB = "    "
"""What a tab is shown as: a fixed width, so that carets do not depend on where a line was cut."""


def show(char: str) -> str:
    """A character of the user's file as it is printed: tabs as spaces, control characters as visible stand-ins.

    A spec is somebody else's text: an escape sequence in it must not reach the terminal.
    """
    if char == "\t":
        return TAB
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    # C1 controls, surrogates, line separators, and the marks that turn the writing direction around.
    if 0x80 <= code < 0xA0 or 0xD800 <= code < 0xE000 or code in _UNSAFE:
        return "\ufffd"
    return char


def show_text(text: str) -> str:
    """A whole text made harmless; line feeds become spaces."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(" " if char == "\n" else show(char) for char in text)


def char_width(shown: str) -> int:
    """Columns one shown character (or the stand-in of a tab) takes: 0 for combining marks, 2 for wide ones."""
    if shown.isascii():
        return len(shown)
    if category(shown) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(shown) in ("W", "F") else 1


def text_width(text: str) -> int:
    """Columns a piece of the user's file takes when shown."""
    return sum(char_width(show(char)) for char in text)


_UNSAFE = frozenset((0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)))
