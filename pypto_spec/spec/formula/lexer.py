"""Formula text to tokens."""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn

from pypto_spec.diagnostics.rules.syntax import LIMIT, NUMBER_RANGE
from pypto_spec.spec.formula.errors import FormulaError

MAX_LENGTH = 16 * 1024
"""Characters of one formula."""

_TOKEN = re.compile(
    r"""[ \t\r\n]*(?:
    (?P<number>0x[0-9a-fA-F]+|0o[0-7]+|(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:\.[0-9]{1,9})?)
    |(?P<op>\*\*|//|==|!=|<=|>=|[-+*/%<>=()\[\],:])
    |(?P<end>\Z))""",
    re.VERBOSE,
)
# Signs of CJK keyboards and of text processors, with what was meant.
_WIDE = dict(zip("（）［］【】，：＝＋＊×／÷－—–−", "()[][],:=+**//----", strict=True))  # noqa: RUF001
_WIDE |= {"≤": "<=", "≥": ">=", "≠": "!=", "\u3000": " ", "\xa0": " "}
_HINTS = {
    "'": "words stand without quotes in a formula", '"': "words stand without quotes in a formula",
    "$": "in a formula a constant is named without `$`", "^": "a power is written `**`", "&": "write `and`",
    "|": "write `or`", "!": "write `not`", ".": "a formula has no attributes; only versions such as `t.1` use a dot",
    ";": "a `let` holds one formula", "{": "a formula has no braces", "}": "a formula has no braces",
    "@": "a matrix product is written `matmul(a, b)`", "?": "there is no conditional expression",
}  # fmt: skip


class Token(NamedTuple):
    """One token; `kind` is `number`, `name`, `op` or `end`."""

    kind: str
    text: str
    start: int
    end: int


def tokenize(text: str) -> list[Token]:
    """The tokens of a formula, closed by an `end` token."""
    if len(text) > MAX_LENGTH:
        raise FormulaError(
            f"a formula has at most {MAX_LENGTH:,} characters, this one has {len(text):,}",
            0,
            1,
            "split it over several `let` lines",
            rule=LIMIT,
        )
    tokens: list[Token] = []
    at = 0
    while True:
        match = _TOKEN.match(text, at)
        if match is None:
            _unknown(text, at)
        kind = match.lastgroup or "end"
        start, at = match.span(kind)
        tokens.append(Token(kind, match.group(kind), start, at))
        if kind == "end":
            return tokens
        if kind in ("number", "name") and at < len(text) and (text[at].isalnum() or text[at] == "_"):
            _run_on(text, start, at, kind)


def _unknown(text: str, at: int) -> NoReturn:
    while text[at] in " \t\r\n":
        at += 1
    char = text[at]
    if char in _WIDE:
        raise FormulaError(
            f"`{char}` is not a sign of formulas",
            at,
            at + 1,
            f"write `{_WIDE[char]}`",
            label=f"looks like `{_WIDE[char]}`",
            replacement=_WIDE[char],
        )
    if char.isalnum():
        _run_on(text, at, at, "name")
    help_text = _HINTS.get(char, "formulas have numbers, names, calls, slices and `+ - * / // % **`")
    raise FormulaError(f"`{char}` has no meaning in a formula", at, at + 1, help_text, label="not part of the grammar")


def _run_on(text: str, start: int, at: int, kind: str) -> NoReturn:
    end = at
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    word = text[start : min(end, start + 40)]
    if kind == "number":
        raise FormulaError(
            f"`{word}` is neither a number nor a name",
            start,
            end,
            "names start with a letter; a product is written with `*`",
            label="starts as a number",
        )
    raise FormulaError(
        f"the name `{word}` has characters other than ASCII letters, digits and `_`",
        start,
        end,
        "names become C++ names",
        label="not a name",
    )


def number_value(token: Token) -> int | float:
    """The value of a number token."""
    text = token.text
    shown = text if len(text) <= 24 else text[:20] + "..."
    if text[:2] in ("0x", "0o"):
        digits, base = text[2:], 16 if text[1] == "x" else 8
    elif text.isdecimal():
        digits, base = text, 10
    else:
        value = float(text)
        if value == float("inf"):
            raise FormulaError(
                f"`{shown}` is too large for a float",
                token.start,
                token.end,
                "write `inf` for infinity",
                rule=NUMBER_RANGE,
            )
        return value
    digits = digits.lstrip("0") or "0"
    # 2**63 itself is let through, for `-9223372036854775808`; evaluation checks the signed value.
    if len(digits) > 24 or int(digits, base) > 1 << 63:
        raise FormulaError(
            f"`{shown}` does not fit in 64 bits",
            token.start,
            token.end,
            "write it as a float, such as `1e20`, if it is no size",
            rule=NUMBER_RANGE,
        )
    return int(digits, base)
