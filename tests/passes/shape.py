"""A short text of programs, for goldens that do not need the whole dump."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_spec.ir.expr import to_text
from pypto_spec.ir.nodes import Branch, Control, For, Grid, If, Op, Program, Region, Stmt
from pypto_spec.ir.types import TileType


def statements_text(body: Sequence[Stmt], indent: str = "", types: bool = False) -> list[str]:
    """One line per statement; loops and ifs show what they carry and merge."""
    lines: list[str] = []
    for node in body:
        if isinstance(node, Op):
            lines.append(indent + _op(node, types))
        elif isinstance(node, For):
            carries = ", ".join(
                f"{c.result.name} = {c.arg.name} <- {c.init.name}, {c.yielded.name}" for c in node.carries
            )
            lines.append(f"{indent}for {node.index.name} [{carries}]")
            lines += statements_text(node.body, indent + "  ", types)
        elif isinstance(node, If):
            phis = ", ".join(f"{p.result.name} = {p.then.name} | {p.other.name}" for p in node.phis)
            lines.append(f"{indent}if [{phis}]")
            lines += statements_text(node.then, indent + "  ", types)
            if node.other:
                lines += [f"{indent}else", *statements_text(node.other, indent + "  ", types)]
    return lines


def _op(op: Op, types: bool) -> str:
    inputs = [v.name for v in op.operands.values()]
    for name, attr in op.attrs.items():
        shown = f"[{', '.join(map(to_text, attr))}]" if isinstance(attr, tuple) else getattr(attr, "value", attr)
        inputs.append(f"{name}={shown}")
    text = f"{op.name}({', '.join(inputs)})"
    if not op.results:
        return text
    kind = op.result.type
    if not types or not isinstance(kind, TileType):
        return f"{op.result.name} = {text}"
    valid = f" valid [{', '.join(map(to_text, kind.valid))}]" if kind.valid is not None else ""
    memory = f" {kind.memory.value}" if kind.memory is not None else ""
    return f"{op.result.name}: {kind}{valid}{memory} = {text}"


def program_text(program: Program, types: bool = False) -> list[str]:
    """The control plane, with its regions' statements."""
    return _controls(program.body, "", types)


def _controls(body: Sequence[Control], indent: str, types: bool) -> list[str]:
    lines: list[str] = []
    for node in body:
        if isinstance(node, Region):
            lines.append(f"{indent}region {node.name} {node.kernel} {node.core}")
            lines += statements_text(node.body, indent + "  ", types)
        elif isinstance(node, Grid):
            lines.append(f"{indent}{node.kind} {node.index.name} < {node.count}")
            lines += _controls(node.body, indent + "  ", types)
        else:
            lines.append(f"{indent}{type(node).__name__.lower()}")
            for arm in (node.then, node.other) if isinstance(node, Branch) else (node.body,):
                lines += _controls(arm, indent + "  ", types)
    return lines
