"""Columns in UTF-8, UTF-16 and UTF-32, against what the encodings of Python say."""

from __future__ import annotations

import pytest
from lsprotocol import types

from pypto_spec.diagnostics.span import Source
from pypto_spec.lsp.positions import Places
from pypto_spec.spec.tree import span_between

SIZES = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
CODECS = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
TEXTS = [
    "",
    "plain\nlines\n",
    "名: 值 # 注释\r\nb: 😀x😀\rlast é\n\n",
    "form\x0cfeed and \u2028 separators\x85 end no line\nnext",
    "\ufeffspec: v1\n\ud83d lone half\n",
]


@pytest.mark.parametrize("encoding", SIZES)
@pytest.mark.parametrize("text", TEXTS)
def test_every_offset_comes_back(text: str, encoding: str) -> None:
    places = Places(Source("x.yaml", text), encoding)
    for offset in range(len(text) + 1):
        place = places.position(offset)
        start = max(text.rfind("\n", 0, offset), _last_cr(text, offset)) + 1
        assert place.character == len(text[start:offset].encode(CODECS[encoding], "surrogatepass")) // SIZES[encoding]
        if text[offset - 1 : offset + 1] != "\r\n" or not offset:  # a place inside of a line's end is that line's end
            assert places.offset(place) == offset
    assert places.position(len(text)).line == len(Source("x", text).line_starts()) - 1


def _last_cr(text: str, offset: int) -> int:
    """The last CR that ends a line by itself."""
    return max((n for n in range(offset) if text[n] == "\r" and text[n + 1 : n + 2] != "\n"), default=-1)


def test_a_column_inside_of_a_character_is_before_it() -> None:
    places = Places(Source("x.yaml", "a😀b"), "utf-16")
    assert [places.offset(types.Position(0, n)) for n in range(5)] == [0, 1, 1, 2, 3]
    places = Places(Source("x.yaml", "名b"), "utf-8")
    assert [places.offset(types.Position(0, n)) for n in range(5)] == [0, 0, 0, 1, 2]


def test_places_outside_of_the_text_are_its_ends() -> None:
    places = Places(Source("x.yaml", "ab\r\ncd"), "utf-16")
    assert places.offset(types.Position(0, 99)) == 2
    assert places.offset(types.Position(7, 0)) == 6
    assert places.position(-3) == types.Position(0, 0)
    assert places.position(99) == types.Position(1, 2)


def test_a_span_is_its_range() -> None:
    text = "x: 😀\ny: 名前\n"
    source = Source("x.yaml", text)
    start = text.index("名")
    found = Places(source, "utf-16").of_span(span_between(source, start, start + 2))
    assert found == types.Range(types.Position(1, 3), types.Position(1, 5))
