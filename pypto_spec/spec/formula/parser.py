"""Formula tokens to nodes: a Pratt parser with bounded nesting, size and height."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NoReturn

from pypto_spec.diagnostics.rules.syntax import LIMIT
from pypto_spec.spec.formula.errors import FormulaError
from pypto_spec.spec.formula.lexer import Token, number_value, tokenize
from pypto_spec.spec.formula.nodes import (
    Binary,
    Boolean,
    Call,
    Compare,
    Expr,
    Index,
    Keyword,
    Let,
    ListExpr,
    Logical,
    Name,
    Number,
    Slice,
    Subscript,
    Unary,
)
from pypto_spec.spec.formula.walk import height
from pypto_spec.spec.tree import Moment

MAX_NESTING = 80
"""Parentheses, brackets, calls and unary signs inside each other."""

MAX_NODES = 4000
"""Nodes of one formula."""

MAX_HEIGHT = 200
"""Height of the tree: a sum of 200 terms is that high. Walks may recurse because of it."""

RESERVED = frozenset({"and", "or", "not", "true", "false", "inf", "nan"})
"""Words of the grammar, which name nothing else."""

# Binding powers: (left, right); the higher binds tighter.
_BINARY = {
    "or": (10, 11), "and": (20, 21),
    "==": (40, 41), "!=": (40, 41), "<": (40, 41), "<=": (40, 41), ">": (40, 41), ">=": (40, 41),
    "+": (50, 51), "-": (50, 51), "*": (60, 61), "/": (60, 61), "//": (60, 61), "%": (60, 61), "**": (80, 70),
}  # fmt: skip
_COMPARE = frozenset({"==", "!=", "<", "<=", ">", ">="})
_NOT, _SIGN = 30, 70


_IN_PLACE = frozenset({"+", "-", "*", "/", "//", "%", "**"})
"""Signs of Python's assignments in place, which formulas do not have."""


def parse_expression(text: str) -> Expr:
    """The expression a text holds. Raises FormulaError."""
    if isinstance(text, Moment):
        raise FormulaError(
            f"`{text}` is a date or time in TOML, and no expression",
            0,
            len(text),
            "put it in quotes if it is one, or write a number",
            label="no expression",
        )
    return _expression(text)


@lru_cache(maxsize=8192)
def _expression(text: str) -> Expr:
    parser = _Parser(text)
    expr = parser.expression(0)
    parser.finish()
    parser.check_height(expr)
    return expr


@lru_cache(maxsize=8192)
def parse_let(text: str) -> Let:
    """The `name = expression` a text holds. Raises FormulaError."""
    parser = _Parser(text)
    name = parser.take()
    if name.kind != "name" or name.text in RESERVED:
        parser.fail(name, "a `let` starts with the name it binds", "write `let: y = exp(x)`")
    sign = parser.take()
    if sign.text != "=":
        if sign.text == ",":
            help_text = "bind each value in a `let` of its own"
        elif sign.text in _IN_PLACE and parser.peek().text == "=":
            rest = text[parser.peek().end :].strip()
            help_text = (
                f"write it out: `{name.text} = {name.text} {sign.text} {rest if rest.isalnum() else f'({rest})'}`"
            )
        else:
            help_text = f"name the result: `y = {text.strip()}`" if len(text) < 80 else "write `let: y = exp(x)`"
        parser.fail(sign, f"`=` expected after `{name.text}`, found {_shown(sign)}", help_text)
    expr = parser.expression(0)
    parser.finish()
    parser.check_height(expr)
    return Let(name.text, expr, name.start, name.end)


def _shown(token: Token) -> str:
    return f"`{token.text}`" if token.kind != "end" else "the end of the formula"


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokenize(text)
        self.at = 0
        self.depth = 0
        self.count = 0
        if len(self.tokens) == 1:
            self.fail(self.tokens[0], "the formula is empty", "write a number, a name or an expression")

    def take(self) -> Token:
        token = self.tokens[self.at]
        if token.kind != "end":
            self.at += 1
        return token

    def peek(self) -> Token:
        return self.tokens[self.at]

    def fail(self, token: Token, message: str, help_text: str, replacement: str | None = None) -> NoReturn:
        end = token.end if token.end > token.start else token.start
        raise FormulaError(message, token.start, end, help_text, label="here", replacement=replacement)

    def finish(self) -> None:
        token = self.peek()
        if token.kind == "end":
            return
        if token.text in ")]":
            self.fail(token, f"`{token.text}` closes nothing", "remove it, or add what it should close")
        if token.text == "=":
            self.fail(token, "`=` cannot stand inside an expression", "compare with `==`", "==")
        if token.text == ",":
            self.fail(token, "the formula ends before this `,`", "a list stands in brackets: `[a, b]`")
        if token.text == ":":
            self.fail(token, "`:` stands only inside `[...]`", "a slice is written `x[a:b, :]`")
        if token.text in ("if", "else"):
            self.fail(token, "there is no conditional expression", "use an `if` statement or `where(...)`")
        self.fail(token, f"an operator is missing before `{token.text}`", "a product is written with `*`")

    def check_height(self, expr: Expr) -> None:
        if self.count > MAX_HEIGHT and height(expr) > MAX_HEIGHT:
            raise FormulaError(
                f"the formula chains more than {MAX_HEIGHT} operations",
                0,
                len(self.text),
                "split it over several `let` lines",
                rule=LIMIT,
            )

    def expression(self, least: int) -> Expr:
        """An expression of operators that bind at least as tightly as `least`."""
        self.depth += 1
        first = self.peek()
        if self.depth > MAX_NESTING:
            raise FormulaError(
                f"the formula nests deeper than {MAX_NESTING} levels",
                first.start,
                first.end,
                "split it over several `let` lines",
                rule=LIMIT,
            )
        left = self.prefix(least)
        compared = False
        while True:
            token = self.peek()
            powers = _BINARY.get(token.text) if token.kind != "number" else None
            if powers is None or powers[0] < least:
                break
            op = token.text
            if op in _COMPARE:
                if compared:
                    self.fail(token, "comparisons do not chain", "join two of them: `a < b and b < c`")
                compared = True
            self.at += 1
            right = self.expression(powers[1])
            left = self.joined(op, left, right, first.start)
        self.depth -= 1
        return left

    def joined(self, op: str, left: Expr, right: Expr, start: int) -> Expr:
        end = self.tokens[self.at - 1].end
        self.counted()
        if op in _COMPARE:
            return Compare(op, left, right, start, end)
        if op in ("and", "or"):
            return Logical(op, left, right, start, end)
        return Binary(op, left, right, start, end)

    def counted(self) -> None:
        self.count += 1
        if self.count > MAX_NODES:
            token = self.peek()
            raise FormulaError(
                f"a formula has at most {MAX_NODES:,} parts",
                token.start,
                token.end,
                "split it over several `let` lines",
                rule=LIMIT,
            )

    def prefix(self, least: int) -> Expr:
        token = self.peek()
        if token.text in ("-", "+"):
            self.at += 1
            self.counted()
            operand = self.expression(_SIGN)
            return Unary(token.text, operand, token.start, self.tokens[self.at - 1].end)
        if token.text == "not":
            if least > _NOT:
                self.fail(token, "`not` cannot stand right behind this operator", "put it in parentheses: `(not x)`")
            self.at += 1
            self.counted()
            operand = self.expression(_NOT)
            return Unary("not", operand, token.start, self.tokens[self.at - 1].end)
        return self.postfix()

    def postfix(self) -> Expr:
        first = self.peek()
        value = self.atom()
        while self.peek().text in ("(", "["):
            token = self.take()
            if token.text == "(":
                if not isinstance(value, Name) or "." in value.id or self.tokens[self.at - 2].text == ")":
                    self.fail(token, "only a name can be called", "a product is written with `*`")
                value = self.call(value)
            else:
                indices = self.indices()
                value = Subscript(value, indices, first.start, self.tokens[self.at - 1].end)
            self.counted()
        return value

    def atom(self) -> Expr:
        token = self.take()
        self.counted()
        if token.kind == "number":
            return Number(number_value(token), token.start, token.end)
        if token.kind == "name":
            return self.word(token)
        if token.text == "(":
            inner = self.expression(0)
            if self.peek().text == ",":
                self.fail(self.peek(), "a formula has no tuples", "a list stands in brackets: `[a, b]`")
            self.close(token, ")")
            return inner
        if token.text == "[":
            items: list[Expr] = []
            while self.peek().text != "]":
                items.append(self.expression(0))
                if self.peek().text != ",":
                    break
                self.at += 1
            self.close(token, "]")
            return ListExpr(tuple(items), token.start, self.tokens[self.at - 1].end)
        what = f"a value is missing before {_shown(token)}" if token.kind != "end" else "the formula ends too early"
        self.fail(token, what, "write a number, a name, a call or a parenthesis here")

    def word(self, token: Token) -> Expr:
        text = token.text
        if text in ("true", "false"):
            return Boolean(text == "true", token.start, token.end)
        if text == "inf":
            return Number(math.inf, token.start, token.end)
        if text == "nan":
            return Number(math.nan, token.start, token.end)
        if text in RESERVED:
            self.fail(
                token, f"a value is missing before `{text}`", "write a number, a name, a call or a parenthesis here"
            )
        if text in ("True", "False"):
            raise FormulaError(
                f"`{text}` is not a word of formulas",
                token.start,
                token.end,
                f"write `{text.lower()}`",
                replacement=text.lower(),
            )
        if text in ("lambda", "import", "eval", "exec"):
            self.fail(token, f"`{text}` has no meaning in a formula", "formulas have no Python in them")
        return Name(text, token.start, token.end)

    def close(self, opened: Token, closer: str) -> None:
        token = self.take()
        if token.text == closer:
            return
        if token.kind == "end":
            raise FormulaError(
                f"`{opened.text}` is never closed",
                opened.start,
                opened.end,
                f"add the missing `{closer}`",
                label="here",
                swap=(token.start, token.start, "", closer),
            )
        self.fail(token, f"`{closer}` expected, found `{token.text}`", "close what is open, or add an operator")

    def call(self, func: Name) -> Call:
        opened = self.tokens[self.at - 1]
        args: list[Expr] = []
        keywords: list[Keyword] = []
        while self.peek().text != ")":
            name = self.peek()
            follows = self.tokens[min(self.at + 1, len(self.tokens) - 1)]
            if name.kind == "name" and follows.text == "=":
                if name.text in RESERVED or "." in name.text or any(name.text == known.name for known in keywords):
                    self.fail(name, f"`{name.text}` cannot be the name of this argument", "give each argument once")
                self.at += 2
                keywords.append(Keyword(name.text, self.expression(0), name.start, name.end))
            else:
                value = self.expression(0)
                if keywords:
                    self.fail(name, "arguments without a name come first", f"put it before `{keywords[0].name}=...`")
                args.append(value)
            if self.peek().text != ",":
                break
            self.at += 1
        self.close(opened, ")")
        return Call(func.id, tuple(args), tuple(keywords), func.start, self.tokens[self.at - 1].end)

    def indices(self) -> tuple[Index, ...]:
        opened = self.tokens[self.at - 1]
        found: list[Index] = []
        while self.peek().text != "]":
            found.append(self.index())
            if self.peek().text != ",":
                break
            self.at += 1
        self.close(opened, "]")
        if not found:
            self.fail(opened, "the brackets hold no index", "write `x[i, :]`")
        return tuple(found)

    def index(self) -> Index:
        start = self.peek().start
        parts: list[Expr | None] = [None, None, None]
        which = 0
        while True:
            token = self.peek()
            if token.text == ":":
                if which == 2:
                    self.fail(token, "a slice has at most a start, an end and a step", "write `x[a:b]`")
                which += 1
                self.at += 1
                continue
            if token.text in ",]" or token.kind == "end" or parts[which] is not None:
                break
            parts[which] = self.expression(0)
        lower, upper, step = parts
        if which:
            self.counted()
            return Slice(lower, upper, step, start, self.tokens[self.at - 1].end)
        if lower is None:
            self.fail(
                self.peek(), f"an index is missing before {_shown(self.peek())}", "write `:` for all of a dimension"
            )
        return lower
