"""How single values are written: spaces of formulas, and quotes."""

from __future__ import annotations

import re
from functools import lru_cache

import yaml

from pypto_spec.spec.core_schema import IntegerTooLargeError, resolve_plain
from pypto_spec.spec.formula import FormulaError, parse_expression, parse_let
from pypto_spec.spec.formula.lexer import Token, tokenize

_SPACED = frozenset({"or", "and", "not"})
_OPERATORS = frozenset({"+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">="})
_PLAIN = re.compile(r"(?:[^\s\-?:,\[\]{}#&*!|>'\"%@`]|[-?:](?=\S))(?:.*\S)?\Z")
_BROKEN = re.compile(r":(?:\s|\Z)|\s#|\t|[^\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_IN_FLOW = re.compile(r"[,\[\]{}]|:(?=[,\[\]{}])|^[-?:](?=[,\[\]{}])")


def spaced(text: str) -> str:
    """A formula with the usual spaces: `a*b+c` is `a * b + c`, and `f(x , k = 1)` is `f(x, k=1)`.

    The bounds of slices stand without spaces, as YAML ends a plain value at `: `. A text that is no formula, and one
    of a single token, comes back as it is.
    """
    if len(text) < 3 or "\n" in text:
        return text
    try:
        tokens = tokenize(text)
        if len(tokens) < 3:
            return text
        parse_let(text) if _is_let(tokens) else parse_expression(text)
    except FormulaError:
        return text
    return _join(tokens[:-1])


def _is_let(tokens: list[Token]) -> bool:
    return tokens[0].kind == "name" and tokens[1].text == "="


def _join(tokens: list[Token]) -> str:
    tight = _bounds(tokens)
    parts: list[str] = []
    depth = 0
    operand = False  # whether a value stands to the left: then a sign is an operator
    for index, token in enumerate(tokens):
        text = token.text
        word = token.kind == "name" and text in _SPACED
        if token.kind == "op" and text in "([":
            depth += 1
        elif token.kind == "op" and text in ")]":
            depth -= 1
        binary = (token.kind == "op" and text in _OPERATORS and operand) or (word and text != "not")
        if text == "=" and depth == 0:
            parts.append(" = ")
        elif binary and (word or not tight[index]):
            parts.append(f" {text} ")
        elif text == ",":
            parts.append(", ")
        else:
            parts.append("not " if text == "not" else text)
        operand = (token.kind != "op" and not word) or text in (")", "]")
    return "".join(parts)


def _bounds(tokens: list[Token]) -> list[bool]:
    """For each token, whether it belongs to an index with a `:`."""
    tight = [False] * len(tokens)
    starts: list[int] = []
    colons: list[bool] = []
    for index, token in enumerate(tokens):
        if token.kind != "op":
            continue
        if token.text in "([":
            starts.append(index + 1)
            colons.append(False)
        elif token.text == ":" and colons:
            colons[-1] = True
        elif token.text in (",", ")", "]") and starts:
            if colons[-1]:
                tight[starts[-1] : index] = [True] * (index - starts[-1])
            starts[-1], colons[-1] = index + 1, False
            if token.text != ",":
                starts.pop()
                colons.pop()
    return tight


@lru_cache(maxsize=4096)
def is_plain(text: str, flow: bool) -> bool:
    """Whether a text needs no quotes in YAML, in brackets and braces where `flow` holds.

    It does where YAML would read the plain text in another way, or a reader of YAML 1.1 would (`yes`, `1:30`, a date).
    """
    if not _PLAIN.match(text) or _BROKEN.search(text) or (flow and _IN_FLOW.search(text)):
        return False
    if text.startswith(("---", "...")):
        return False
    try:
        if resolve_plain(text) != text or text in ("<<", "="):
            return False
    except IntegerTooLargeError:
        return False
    return not any(pattern.match(text) for _, pattern in _resolvers().get(text[0], ()))


def _resolvers() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
    """What YAML 1.1 takes for something else than a text, by first characters."""
    resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = yaml.resolver.Resolver.yaml_implicit_resolvers
    return resolvers


def yaml_quoted(text: str) -> str:
    """A text of one line in the quotes that need no escapes, or in double ones with escapes."""
    if not _ODD.search(text):
        return f'"{text}"'
    if not _CONTROL.search(text):
        return "'" + text.replace("'", "''") + "'"
    return '"' + _ODD.sub(_escape, text) + '"'


_ODD = re.compile(r'["\\]|[^\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]')
_CONTROL = re.compile(r"[^\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _escape(match: re.Match[str]) -> str:
    """A character as an escape that double quotes of YAML and of TOML both know."""
    char = match.group()
    code = ord(char)
    return _ESCAPES.get(char) or (f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}")


def basic_quoted(text: str) -> str:
    """A text in double quotes with escapes, as YAML and TOML both read it."""
    return '"' + _ODD.sub(_escape, text) + '"'
