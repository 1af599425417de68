"""Every kind of request about a document, and what must hold of any answer."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from pypto_spec.lsp.wiring import FEATURES
from tests.lsp.wire import position

NAME = "selectionRange"
METHODS = [feature.method for feature in FEATURES]


def place(text: str, offset: int) -> dict[str, int]:
    """A position as JSON holds it, in UTF-16 units."""
    found = position(text, offset)
    return {"line": found.line, "character": found.character}


def parameters(rng: Random, method: str, uri: str, text: str) -> dict[str, Any]:
    """Parameters for a request somewhere in a text; more than a method asks for does no harm."""
    start, end = sorted(rng.randrange(len(text) + 1) for _ in range(2))
    here = place(text, start)
    contexts = {"references": {"includeDeclaration": True}, "codeAction": {"diagnostics": []}}
    context = contexts.get(method.partition("/")[2])
    return {
        "textDocument": {"uri": uri},
        "position": here,
        "positions": [here],
        "range": {"start": here, "end": place(text, end)},
        **({"context": context} if context is not None else {}),
        "newName": rng.choice(["fresh", "x", "1", "", "名"]),
        "options": {"tabSize": 2, "insertSpaces": True},
    }


def ranges(answer: Any) -> Iterator[dict[str, Any]]:
    """All ranges in an answer."""
    if isinstance(answer, dict):
        if {"start", "end"} <= set(answer):
            yield answer
        for value in answer.values():
            yield from ranges(value)
    elif isinstance(answer, list):
        for value in answer:
            yield from ranges(value)


def check_answer(method: str, answer: Any, text: str) -> None:
    """Ranges lie in the text and end behind their start; tokens do not overlap."""
    last = place(text, len(text))
    for found in ranges(answer):
        start, end = ((found[side]["line"], found[side]["character"]) for side in ("start", "end"))
        assert (0, 0) <= start <= end <= (last["line"], last["character"]), (method, found)
    if method.endswith(("semanticTokens/full", "semanticTokens/range")):
        numbers = answer["data"]
        assert len(numbers) % 5 == 0
        length = 0
        for at in range(0, len(numbers), 5):
            lines, units, size = numbers[at : at + 3]
            assert lines > 0 or units >= length
            assert lines >= 0 and units >= 0 and size > 0
            length = size
    if method.endswith("documentSymbol"):
        for symbol in answer:
            _nested(symbol)


def _nested(symbol: dict[str, Any]) -> None:
    ends = [
        (symbol[which][side]["line"], symbol[which][side]["character"])
        for which, side in (
            ("range", "start"),
            ("selectionRange", "start"),
            ("selectionRange", "end"),
            ("range", "end"),
        )
    ]
    assert ends == sorted(ends), symbol
    for child in symbol.get("children", ()):
        _nested(child)
