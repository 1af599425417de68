"""Expansion of YAML aliases: a copy of the anchored node that remembers the alias."""

from __future__ import annotations

from pypto_spec.spec.limits import MAX_EXPANDED
from pypto_spec.spec.tree import MAX_DEPTH, KeyNode, MappingNode, Node, ScalarNode, SequenceNode


class TooMuchError(Exception):
    """The aliases of a text expand beyond bounds."""


def clone(node: Node, alias: tuple[int, int], depth: int, budget: int) -> tuple[Node, int]:
    """A copy of an anchored node for one alias, and how many nodes it has.

    A copy, not the node itself: every place of the tree then knows the one alias it was reached by.
    """
    used = 0

    def copy(node: Node, depth: int) -> Node:
        nonlocal used
        used += 1
        if used > budget:
            raise TooMuchError(f"add more than {MAX_EXPANDED:,} values to the file")
        if depth > MAX_DEPTH:
            raise TooMuchError(f"nest collections deeper than {MAX_DEPTH} levels")
        via = (*node.via, alias)
        if isinstance(node, ScalarNode):
            return ScalarNode(node.source, node.start, node.end, node.value, node.text, node.style, via)
        if isinstance(node, SequenceNode):
            items = [copy(item, depth + 1) for item in node.items]
            return SequenceNode(node.source, node.start, node.end, items, node.flow, via)
        assert isinstance(node, MappingNode)
        entries = {
            text: (KeyNode(key.source, key.start, key.end, text, (*key.via, alias)), copy(value, depth + 1))
            for text, (key, value) in node.entries.items()
        }
        return MappingNode(node.source, node.start, node.end, entries, node.flow, via)

    return copy(node, depth), used
