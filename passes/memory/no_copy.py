"""Copies that a memory does not have: nothing copies an accumulator to an accumulator, or within L1, L0A, L0B and BT.

Where a value would have to be copied within its memory - because it is changed in place and still needed, or because a
loop or an `if` goes on with it in another place - this is the error to raise.
"""

from __future__ import annotations

from collections.abc import Callable

from pypto_spec.diagnostics.model import CompileError, Label, diagnose
from pypto_spec.diagnostics.rules.memory import NO_PATH
from pypto_spec.diagnostics.span import Span
from pypto_spec.ir.naming import split
from pypto_spec.ir.nodes import For, Op, Phi, Stmt, Value
from pypto_spec.ir.types import Memory, TileType
from pypto_spec.ops.cube.copies import WITHIN


def can_copy(memory: Memory) -> bool:
    """Whether a tile can be copied within a memory."""
    return (memory, memory) in WITHIN


def stays(phi: Phi, owner: Callable[[Value], Value]) -> bool:
    """Whether what an `if` gives is one tile that each arm changes in place, or leaves, where none can be copied.

    `owner` says in whose memory a value stands.
    """
    kind = phi.result.type
    if not isinstance(kind, TileType) or kind.memory is None or can_copy(kind.memory):
        return False
    return owner(phi.then) is owner(phi.other)


def still_needed(op: Op, field: str, later: Stmt | None) -> CompileError:
    """The error for an op that changes in place an operand that is needed as it was, by `later` if that is known."""
    value = op.operands[field]
    name, memory = split(value.name)[0], _memory(value)
    again = (
        f"make `{name}` a second time, by the same product" if memory is Memory.ACC else f"load `{name}` a second time"
    )
    return _no_copy(
        memory,
        op.loc.field(field),
        f"`{op.name}` changes `{name}` in place, and `{name}` is needed as it was",
        "changed here",
        [] if later is None else [Label(later.loc.span, f"`{name}` is needed here")],
        (
            f"use `{name}` before this statement" if later is not None else f"bring `{name}` into the loop",
            f"or {again}",
        ),
    )


def moves_on(value: Value, stmt: Stmt, like: Value) -> CompileError:
    """The error for a value with which a loop or an `if` goes on, and which is not where `like` is."""
    name, target, memory = split(value.name)[0], split(like.name)[0], _memory(like)
    loop = isinstance(stmt, For)
    what = "the loop carries" if loop else "the `if` gives"
    changed = " by `matmul_acc`" if memory is Memory.ACC else ""
    return _no_copy(
        memory,
        stmt.loc.span,
        f"{what} `{target}` in one place, and `{name}` stands in another",
        f"`{name}` would have to be copied",
        [],
        (
            f"let each round change what it carries in place{changed}, and use the start of it in this loop only"
            if loop
            else "let each arm make its value itself",
            "or store it to a tensor and load it from there" if memory is not Memory.ACC else "or store it to a tensor",
        ),
    )


def _memory(value: Value) -> Memory:
    kind = value.type
    assert isinstance(kind, TileType) and kind.memory is not None
    return kind.memory


def _no_copy(
    memory: Memory, span: Span, why: str, label: str, secondary: list[Label], helps: tuple[str, ...]
) -> CompileError:
    place = f"`{memory.value}`"
    return CompileError([
        diagnose(
            NO_PATH, span, f"no path from {place} to {place}: {why}", label=label, secondary=secondary,
            notes=[f"nothing copies a tile within {place}"], helps=list(helps),
        )
    ])  # fmt: skip
