"""Nodes to canonical text: `parse_expression(to_text(x)) == x`."""

from __future__ import annotations

import math

from pypto_spec.spec.formula.nodes import (
    Binary,
    Boolean,
    Call,
    Compare,
    Expr,
    Index,
    Let,
    ListExpr,
    Logical,
    Name,
    Number,
    Slice,
    Subscript,
    Unary,
)

# How tightly each operator binds, as in the parser.
_LEVEL = {"or": 10, "and": 20, "not": 30, "+": 50, "-": 50, "*": 60, "/": 60, "//": 60, "%": 60, "**": 80}
_COMPARE, _SIGN, _ATOM = 40, 70, 90


def to_text(node: Expr | Let) -> str:
    """The canonical text. Slices have no blanks at their colons, so that YAML keeps them in one plain scalar."""
    if isinstance(node, Let):
        return f"{node.target} = {to_text(node.value)}"
    return _print(node)[0]


def _print(node: Expr) -> tuple[str, int]:
    """The text of a node and how tightly its outermost operator binds."""
    if isinstance(node, Name):
        return node.id, _ATOM
    if isinstance(node, Number):
        return _number(node.value), _ATOM
    if isinstance(node, Boolean):
        return ("true" if node.value else "false"), _ATOM
    if isinstance(node, Unary):
        if node.op == "not":
            return f"not {_at_least(node.operand, _LEVEL['not'])}", _LEVEL["not"]
        return f"{node.op}{_at_least(node.operand, _SIGN)}", _SIGN
    if isinstance(node, (Binary, Logical)):
        level = _LEVEL[node.op]
        if node.op == "**":
            # Right-associative, and a sign may stand in the exponent but not in the base.
            return f"{_at_least(node.left, level + 1)} ** {_at_least(node.right, _SIGN)}", level
        return f"{_at_least(node.left, level)} {node.op} {_at_least(node.right, level + 1)}", level
    if isinstance(node, Compare):
        return f"{_at_least(node.left, _COMPARE + 1)} {node.op} {_at_least(node.right, _COMPARE + 1)}", _COMPARE
    if isinstance(node, Call):
        parts = [to_text(arg) for arg in node.args]
        parts += [f"{keyword.name}={to_text(keyword.value)}" for keyword in node.keywords]
        return f"{node.func}({', '.join(parts)})", _ATOM
    if isinstance(node, Subscript):
        return f"{_at_least(node.value, _ATOM)}[{', '.join(map(_index, node.indices))}]", _ATOM
    assert isinstance(node, ListExpr)
    return f"[{', '.join(map(to_text, node.items))}]", _ATOM


def _at_least(node: Expr, level: int) -> str:
    text, binds = _print(node)
    return text if binds >= level else f"({text})"


def _index(node: Index) -> str:
    if not isinstance(node, Slice):
        return to_text(node)
    parts = [to_text(part) if part is not None else "" for part in (node.lower, node.upper)]
    if node.step is not None:
        parts.append(to_text(node.step))
    return ":".join(parts)


def _number(value: int | float) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf"
    return repr(value)
