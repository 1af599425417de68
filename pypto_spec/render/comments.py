"""Text for comments: statements in one line, and nothing in them that could end a comment or hide code."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from pypto_spec.ir.dtype import DType
from pypto_spec.ir.expr import Expr, Index, to_text
from pypto_spec.ir.nodes import Attr, Condition, For, If, Op, Stmt, Value
from pypto_spec.ir.types import Memory
from pypto_spec.ops.debug import format_text
from pypto_spec.render.names import base

LONGEST = 100


def safe(text: str, longest: int = LONGEST) -> str:
    """`text` as one line of a `//` comment: no line ends, no invisible characters, no backslash at its end."""
    if not (text.isascii() and text.isprintable()):
        text = "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in text)
    text = re.sub(r"\s+", " ", text).strip().replace("??/", "?/")
    if len(text) > longest:
        text = f"{text[: longest - 3].rstrip()}..."
    return text.rstrip("\\ ") if text.endswith("\\") else text


Namer = Callable[[Value], str]


def heading(node: Stmt, name: Namer = lambda v: base(v.name)) -> str:
    """`line 17: y = exp(t)`; `name` gives the names of values."""
    return f"// line {node.loc.span.line}: {safe(describe(node, name))}"


def describe(node: Stmt, name: Namer) -> str:
    """A statement in one line, close to how the spec writes it."""
    if isinstance(node, Op):
        return _op(node, name)
    if isinstance(node, For):
        step = "" if node.step == 1 else f" step {index_text(node.step)}"
        more = f" while {condition_text(node.condition)}" if node.condition is not None else ""
        if node.kind == "while":
            return more.strip()
        return f"{node.kind} {node.index.name} from {index_text(node.start)} to {index_text(node.stop)}{step}{more}"
    return f"if {condition_text(node.condition)}" if isinstance(node, If) else type(node).__name__


def index_text(index: Index) -> str:
    """Spec text of an index without the outermost parentheses."""
    text = to_text(index)
    alone = isinstance(index, Expr) and len(index.terms) == 1 and index.const == 0 and index.terms[0][1] == 1
    return text[1:-1] if alone and text.startswith("(") else text


def condition_text(condition: Condition | Index | None) -> str:
    """Spec text of a condition."""
    if not isinstance(condition, Condition):
        return "" if condition is None else index_text(condition)
    left = condition_text(condition.left)
    return f"not ({left})" if condition.op == "not" else f"{left} {condition.op} {condition_text(condition.right)}"


def _op(op: Op, name: Namer) -> str:
    args: list[str] = []
    for field in op.defn.fields:
        key = field.name
        value = op.operands.get(key)
        if value is not None:
            args.append(f"to={name(value)}" if key == "to" else name(value))
        elif key in op.attrs and field.kind == "format":
            args.append(f'{key}="{format_text(op)}"')
        elif key in op.attrs:
            args.append(f"{key}={_attr(op.attrs[key])}")
    call = f"{op.name}({', '.join(args)})"
    return f"{', '.join(map(name, op.results))} = {call}" if op.results else call


def _attr(attr: Attr) -> str:
    if isinstance(attr, bool):
        return "true" if attr else "false"
    if isinstance(attr, tuple):
        return f"[{', '.join(map(index_text, attr))}]"
    if isinstance(attr, Expr):
        return index_text(attr)
    if isinstance(attr, Condition):
        return condition_text(attr)
    if isinstance(attr, DType):
        return attr.name
    return attr.value if isinstance(attr, Memory) else str(attr)
