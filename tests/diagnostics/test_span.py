from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.diagnostics.span import Source, Span


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("a", ["a"]),
        ("a\n", ["a", ""]),
        ("a\nb", ["a", "b"]),
        ("a\r\nb\r\n", ["a", "b", ""]),
        ("a\rb", ["a", "b"]),
        ("a\n\r\nb", ["a", "", "b"]),
        ("a\x0cb\u2028c\x85d\r\ne", ["a\x0cb\u2028c\x85d", "e"]),
    ],
)
def test_lines(text: str, lines: list[str]) -> None:
    source = Source("k.yaml", text)
    assert [source.line(n + 1) for n in range(len(source.line_starts()))] == lines
    assert source.line(0) == source.line(len(lines) + 1) == ""


@given(st.text("a宽\r\n\u2028 "), st.data())
def test_position_finds_the_character(text: str, data: st.DataObject) -> None:
    source = Source("k.yaml", text)
    offset = data.draw(st.integers(0, len(text)))
    line, col = source.position(offset)
    assert source.line_starts()[line - 1] + col - 1 == offset
    if offset < len(text) and text[offset] not in "\r\n":
        assert source.line(line)[col - 1] == text[offset]


def test_offsets_of_a_place_that_the_text_does_not_have_are_its_end() -> None:
    assert Span(Source("gone.yaml", ""), 12, 9, 12, 30).offsets == (0, 0)
    assert Span(Source("k.yaml", "ab\ncd\n"), 2, 1, 2, 99).offsets == (3, 6)
