"""Every key, word and name of the gallery is proposed again where it is taken away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from pypto_spec.diagnostics.span import Source
from pypto_spec.editor.complete import completions
from pypto_spec.spec.formula import FormulaError
from pypto_spec.spec.formula.lexer import tokenize
from pypto_spec.spec.load import load
from pypto_spec.spec.tree import MappingNode, Node, ScalarNode, SequenceNode
from tests.editor.complete.asking import document

GALLERY = sorted(path for path in Path("specs").rglob("*") if path.suffix in (".yaml", ".toml"))

Token = tuple[tuple[str, ...], str, str, int]
"""The keys on the way to it, `key` or `value`, the word, where it starts."""

NAMING = {"constants", "symbols", "scalars", "tensors", "buffers", "functions", "carry", "results"}
"""What has names of the author's as keys; arguments are new where a function says what they are."""
NEW = {"name", "into", "index", "region", "as"}
"""What holds a name that is made there."""
FREE = {"about", "python"}


def tokens(node: Node, path: tuple[str, ...] = ()) -> Iterator[Token]:
    """The keys and words below a node, with those in formulas."""
    if isinstance(node, MappingNode):
        for key, value in node.items:
            if not value.via:
                yield path, "key", key.text, key.start + (key.end - key.start - len(key.text)) // 2
                yield from tokens(value, (*path, key.text))
    elif isinstance(node, SequenceNode):
        for item in node.items:
            yield from tokens(item, path)
    elif isinstance(node, ScalarNode) and isinstance(node.value, str | bool):
        for start, end in _words(node.text):
            span = node.sub_span(start, end)
            yield path, "value", node.text[start:end], node.source.line_starts()[span.line - 1] + span.col - 1


def _words(text: str) -> Iterator[tuple[int, int]]:
    try:
        found = tokenize(text)
    except FormulaError:
        return
    yield from ((token.start, token.end) for token in found if token.kind == "name")


def reason(token: Token, text: str, constants: list[str]) -> str:
    """Why a word need not be proposed; empty where it must be."""
    path, kind, word, start = token
    last = path[-1] if path else ""
    if kind == "key":
        declared = last == "args" and path[0] == "functions"
        return "a new name" if last in NAMING or declared else ""
    if last in FREE:
        return "a text"
    if last in NEW or (last == "args" and path[0] == "functions"):
        return "a new name"
    if last == "let" and text[:start].rstrip("\"' ").endswith(("let:", "let =")):
        return "a new name"
    if path[0] == "variants":
        return "a value of a variant"
    return "the word of a constant" if path[0] == "constants" and word not in constants else ""


def recall(path: Path, rest: bool, every: int = 1) -> tuple[int, list[str], Counter[str]]:
    """How many words were proposed again, those that were not, and why others were not asked for.

    With `rest` the rest of the line is taken away as well, as it is while somebody writes it. `every` leaves out most.
    """
    text = path.read_text()
    root = load(Source(str(path), text))
    section = root.get("constants")
    constants = section.keys() if isinstance(section, MappingNode) else []
    found, missing, why = 0, [], Counter[str]()
    for token in list(tokens(root))[::every]:
        _, kind, word, start = token
        left_out = reason(token, text, constants)
        if left_out:
            why[left_out] += 1
            continue
        stop = text.find("\n", start) if rest else start + len(word)
        without = text[:start] + text[stop if stop >= 0 else len(text) :]
        labels = {item.label.rstrip("=").lstrip("$") for item in completions(document(without, path.name), start)}
        if word in labels:
            found += 1
        else:
            missing.append(f"{kind} {word} at {start}")
    return found, missing, why


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_a_word_taken_away_is_proposed_again(path: Path) -> None:
    found, missing, why = recall(path, rest=False, every=3)
    assert found > why.total() - why["a text"]  # what is asked for is most of it
    assert missing == []


@pytest.mark.parametrize("path", GALLERY[::4], ids=lambda path: path.stem)
def test_a_word_is_proposed_while_its_line_is_written(path: Path) -> None:
    found, missing, _ = recall(path, rest=True, every=3)
    assert found > 3
    assert missing == []


@pytest.mark.long
def test_all_words_taken_away_are_proposed_again() -> None:
    assert [path.name for path in GALLERY if recall(path, rest=False)[1]] == []


@pytest.mark.long
def test_a_word_is_proposed_while_its_line_is_written_anywhere() -> None:
    assert [path.name for path in GALLERY if recall(path, rest=True)[1]] == []
