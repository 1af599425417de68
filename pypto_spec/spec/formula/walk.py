"""Walks over the nodes of a formula. None of them recurses, so none depends on the formula's height."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from pypto_spec.spec.formula.nodes import (
    Binary,
    Boolean,
    Call,
    Compare,
    Expr,
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

Part: TypeAlias = Expr | Slice | Keyword | Let


def children(node: Part) -> tuple[Part, ...]:
    """The parts a node is made of, in the order they are written."""
    if isinstance(node, (Name, Number, Boolean)):
        return ()
    if isinstance(node, (Binary, Compare, Logical)):
        return (node.left, node.right)
    if isinstance(node, Unary):
        return (node.operand,)
    if isinstance(node, Call):
        return (*node.args, *node.keywords)
    if isinstance(node, Subscript):
        return (node.value, *node.indices)
    if isinstance(node, ListExpr):
        return node.items
    if isinstance(node, Slice):
        return tuple(part for part in (node.lower, node.upper, node.step) if part is not None)
    return (node.value,)


def walk(node: Part) -> Iterator[Part]:
    """A node and all below it, each before its parts."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(children(current)))


def names(node: Part) -> Iterator[Name]:
    """The names an expression reads, in the order they are written; functions are not among them."""
    for part in walk(node):
        if isinstance(part, Name):
            yield part


def height(node: Part) -> int:
    """Nodes on the longest way down."""
    top = 0
    pending = [(node, 1)]
    while pending:
        current, level = pending.pop()
        top = max(top, level)
        pending.extend((child, level + 1) for child in children(current))
    return top
