"""How much of each memory is in use at the worst statement of a region, before any tile has a buffer: an estimate."""

from __future__ import annotations

from collections.abc import Sequence, Set

from pypto_spec.ir.nodes import For, Op, Stmt, Value
from pypto_spec.ir.rewrite import definitions, statements
from pypto_spec.ir.types import Memory, TileType
from pypto_spec.passes.memory.lifetimes import scratch_bytes
from pypto_spec.passes.memory.uses import Uses, entering, leaving

Span = tuple[int, int]
"""First and last statement of a life, by number."""


def _spans(order: Sequence[Stmt], ends: dict[For, Span], uses: Uses) -> dict[Value, Span]:
    """The lives of tiles: from the definition to the last use, or to the end of a loop that is in between.

    Views and what is changed in place count as what they stand in.
    """
    spans: dict[Value, Span] = {}
    for number, node in enumerate(order):
        if isinstance(node, Op):
            spans.update((v, (number, number)) for v in node.results if uses.owner(v) is v)
        elif isinstance(node, For):
            spans.update((c.arg, (number, ends[node][1])) for c in node.carries)
            spans.update((c.result, (ends[node][1], ends[node][1])) for c in node.carries)
        else:
            spans.update((v, (number, number)) for v in definitions((node,)) if v not in spans)
    for number, node in enumerate(order):
        for value in map(uses.owner, (*entering(node), *leaving(node))):
            begin, end = spans.get(value, (0, 0))
            ahead = [last for first, last in ends.values() if begin < first <= number <= last]
            spans[value] = begin, max(end, number, *ahead)
    return spans


def live_bytes(body: Sequence[Stmt], without: Set[Value]) -> dict[Memory, int]:
    """Bytes of tiles and scratch live at the worst statement of a region, by memory.

    `without` are values that have their place already. A result counts beside the operands it is made of.
    """
    order = list(statements(body))
    ends: dict[For, Span] = {}
    for number, node in enumerate(order):
        if isinstance(node, For):
            ends[node] = number, number + sum(1 for _ in statements(node.body))
    change: dict[int, dict[Memory, int]] = {}
    for value, (begin, end) in _spans(order, ends, Uses(body)).items():
        kind = value.type
        if isinstance(kind, TileType) and kind.memory is not None and value not in without:
            for at, size in ((begin, kind.bytes), (end + 1, -kind.bytes)):
                there = change.setdefault(at, {})
                there[kind.memory] = there.get(kind.memory, 0) + size
    level: dict[Memory, int] = {}
    most: dict[Memory, int] = {}
    for number, node in enumerate(order):
        for memory, size in change.get(number, {}).items():
            level[memory] = level.get(memory, 0) + size
        scratch = sum(scratch_bytes(node, "exact")) if isinstance(node, Op) else 0
        for memory in level.keys() | {Memory.VEC}:
            here = level.get(memory, 0) + (scratch if memory is Memory.VEC else 0)
            most[memory] = max(most.get(memory, 0), here)
    return most
