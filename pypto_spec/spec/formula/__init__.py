"""Formulas: the closed expression grammar of `let` lines, sizes, indices, conditions and constants.

    let      = NAME "=" expr
    expr     = expr ("or" | "and") expr | "not" expr | expr ("==" | "!=" | "<" | "<=" | ">" | ">=") expr
             | expr ("+" | "-" | "*" | "/" | "//" | "%" | "**") expr | ("-" | "+") expr | postfix
    postfix  = NAME "(" [argument ("," argument)*] ")" | postfix "[" index ("," index)* "]" | atom
    argument = expr | NAME "=" expr
    index    = expr | [expr] ":" [expr] [":" [expr]]
    atom     = NUMBER | "inf" | "nan" | "true" | "false" | NAME | "(" expr ")" | "[" [expr ("," expr)*] "]"
    NAME     = [A-Za-z_][A-Za-z0-9_]* ["." DIGITS]

Precedence is Python's; comparisons do not chain. There are no attributes, no strings and no calls of anything but a
name, and nothing is ever handed to Python's own `eval`.
"""

from pypto_spec.spec.formula.errors import FormulaError
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
    number,
)
from pypto_spec.spec.formula.parser import parse_expression, parse_let
from pypto_spec.spec.formula.printer import to_text
from pypto_spec.spec.formula.walk import names, walk

__all__ = [
    "Binary", "Boolean", "Call", "Compare", "Expr", "FormulaError", "Index", "Keyword", "Let", "ListExpr", "Logical",
    "Name", "Number", "Slice", "Subscript", "Unary", "names", "number", "parse_expression", "parse_let", "to_text",
    "walk",
]  # fmt: skip
