"""How much of each memory a block needs at once, before any tile has a buffer: an estimate from values alone."""

from __future__ import annotations

from collections.abc import Sequence, Set

from pypto_spec.ir.nodes import Op, Stmt, Value
from pypto_spec.ir.rewrite import statements
from pypto_spec.ir.types import Memory, TileType
from pypto_spec.passes.memory.lifetimes import scratch_bytes
from pypto_spec.passes.memory.uses import Uses, base_of, entering, leaving


def live_bytes(body: Sequence[Stmt], without: Set[Value]) -> dict[Memory, int]:
    """Bytes of tiles and scratch live at the worst statement, by memory; `without` are values placed elsewhere.

    A tile lives from its definition to its last use in the text; one that comes from outside or is carried lives all
    along. Views and what is changed in place count as what they stand in. In-place results count beside their operand.
    """
    uses = Uses(body)
    order = list(statements(body))
    last: dict[Value, int] = {}
    for number, node in enumerate(order):
        for value in (*entering(node), *leaving(node)):
            last[uses.owner(value)] = number
    inside = {v for node in order if isinstance(node, Op) for v in node.results}
    level: dict[Memory, int] = {}
    for value in last.keys() - inside - without:
        _add(level, value, 1)
    most = dict(level)
    ends: dict[int, list[Value]] = {}
    for number, node in enumerate(order):
        if isinstance(node, Op):
            made = [v for v in node.results if base_of(node) is None and v not in without]
            for value in made:
                _add(level, value, 1)
                ends.setdefault(max(last.get(value, number), number), []).append(value)
            here = dict(level)
            for size in scratch_bytes(node, "exact"):
                here[Memory.VEC] = here.get(Memory.VEC, 0) + size
            most = {m: max(most.get(m, 0), here.get(m, 0)) for m in most.keys() | here.keys()}
        for value in ends.pop(number, ()):
            _add(level, value, -1)
    return most


def _add(level: dict[Memory, int], value: Value, sign: int) -> None:
    kind = value.type
    if isinstance(kind, TileType) and kind.memory is not None:
        level[kind.memory] = level.get(kind.memory, 0) + sign * kind.bytes
