"""From an instruction's amounts to its cycles: the one place where a cost table is applied."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pypto_spec.ir.dtype import REPEAT_BYTES
from pypto_spec.targets.model import Target


def cycles(target: Target, pipe: str, call: str, *, bytes: int, repeats: int, active: int = 1) -> int:
    """Cycles that one instruction keeps its pipe.

    `bytes` and `repeats` are those of the call (for a copy its data and its rows), `active` is how many cores run at
    once. Raises KeyError for a pipe that has no cost yet.
    """
    return PIPES[pipe](target, call, bytes, repeats, active)


def _load(target: Target, call: str, bytes: int, rows: int, active: int) -> int:
    costs = target.costs
    moved = _moved(target, bytes, rows)
    return costs.load_latency + max(costs.through(costs.gm_to_ub, moved), _ceil(moved * active, costs.gm_read))


def _store(target: Target, call: str, bytes: int, rows: int, active: int) -> int:
    costs = target.costs
    moved = _moved(target, bytes, rows)
    return costs.store_latency + max(costs.through(costs.ub_to_gm, moved), _ceil(moved * active, costs.gm_write))


def _vector(target: Target, call: str, bytes: int, repeats: int, active: int) -> int:
    costs = target.costs
    cost = costs.vector.get(call, costs.vector_default)
    if call == "DataCopy":  # inside UB: moved by bandwidth, its repeats are rows
        return cost.fixed + costs.through(costs.ub_to_ub, bytes)
    full = bytes == repeats * REPEAT_BYTES
    return cost.fixed + cost.per_repeat * repeats + (0 if full else cost.partial)


def _scalar(target: Target, call: str, bytes: int, repeats: int, active: int) -> int:
    return target.costs.scalar


PIPES: Mapping[str, Callable[[Target, str, int, int, int], int]] = {
    "s": _scalar,
    "v": _vector,
    "mte2": _load,
    "mte3": _store,
}
"""The pipes with a cost; those of the cube have none yet."""


def _moved(target: Target, bytes: int, rows: int) -> int:
    """Bytes that GM moves: a row below the granularity of its accesses costs a whole one."""
    return max(bytes, rows * target.gm_burst_bytes)


def _ceil(a: int, b: int) -> int:
    return -(-a // b)
