"""What is said about a declared name beside it, in a few words: as it is written, nothing is computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pypto_spec.editor.model import Kind
from pypto_spec.spec.tree import MappingNode, Node, ScalarNode, SequenceNode

MOST_DETAIL = 72
"""Characters of what is said about a name."""


def shortened(text: str) -> str:
    """A text in one line of at most `MOST_DETAIL` characters."""
    shown = " ".join(text.split())
    return shown if len(shown) <= MOST_DETAIL else shown[: MOST_DETAIL - 3] + "..."


def text_of(node: Node | None) -> str:
    """A value in one line; nothing where none is written."""
    if isinstance(node, ScalarNode):
        return node.text
    if isinstance(node, SequenceNode):
        return "[" + ", ".join(text_of(item) for item in node.items) + "]"
    if isinstance(node, MappingNode):
        return "{" + ", ".join(f"{key.text}: {text_of(value)}" for key, value in node.items) + "}"
    return ""


def _constant(node: Node) -> str:
    return f"= {text_of(node)}"


def _symbol(node: Node) -> str:
    if not isinstance(node, MappingNode):
        return ""
    low, high, step = (text_of(node.get(key)) for key in ("min", "max", "multiple_of"))
    return f"{low or 1}..{high}" + (f", a multiple of {step}" if step else "")


def _tensor(node: Node) -> str:
    if not isinstance(node, MappingNode):
        return ""
    parts = [text_of(node.get(key)) for key in ("dtype", "shape")]
    return " ".join(part for part in (*parts, text_of(node.get("access")) or "in") if part)


def _function(node: Node) -> str:
    if not isinstance(node, MappingNode):
        return ""
    args, returns = node.get("args"), node.get("returns")
    names = args.keys() if isinstance(args, MappingNode) else []
    if isinstance(args, SequenceNode):
        names = [text_of(item) for item in args.items]
    given = [text_of(item) for item in returns.items] if isinstance(returns, SequenceNode) else [text_of(returns)]
    return f"({', '.join(names)}) -> {', '.join(given)}"


_DETAILS: Mapping[Kind, Callable[[Node], str]] = {
    Kind.CONSTANT: _constant,
    Kind.SYMBOL: _symbol,
    Kind.TENSOR: _tensor,
    Kind.FUNCTION: _function,
}


def detail_of(kind: Kind, node: Node) -> str:
    """What is written for a declared name."""
    return shortened(_DETAILS.get(kind, text_of)(node))
