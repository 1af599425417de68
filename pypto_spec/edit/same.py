"""Whether two texts say the same: the judge of every rewriting."""

from __future__ import annotations

from itertools import zip_longest

from pypto_spec.spec.formula import FormulaError
from pypto_spec.spec.formula.lexer import tokenize
from pypto_spec.spec.tree import MappingNode, Node, ScalarNode, SequenceNode


def same_tree(one: Node | None, other: Node | None) -> bool:
    """Whether two trees hold the same data in the same order; formulas may differ in their spaces."""
    if isinstance(one, MappingNode) and isinstance(other, MappingNode):
        return one.keys() == other.keys() and all(same_tree(one.get(key), other.get(key)) for key in one.entries)
    if isinstance(one, SequenceNode) and isinstance(other, SequenceNode):
        return all(same_tree(left, right) for left, right in zip_longest(one.items, other.items))
    if isinstance(one, ScalarNode) and isinstance(other, ScalarNode):
        return same_value(one, other)
    return False


def same_value(one: ScalarNode, other: ScalarNode) -> bool:
    """Whether two single values are of one type and say the same."""
    left, right = one.value, other.value
    if isinstance(left, str) and isinstance(right, str):
        return left == right or _tokens(left) == _tokens(right) is not None
    return type(left) is type(right) and (left == right or left != left)


def _tokens(text: str) -> list[tuple[str, str]] | None:
    try:
        return [(token.kind, token.text) for token in tokenize(text)]
    except FormulaError:
        return None
