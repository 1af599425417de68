"""From an instruction's amounts to its cycles: the one place where a cost table is applied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil
from typing import NamedTuple

from pypto_spec.ir.dtype import REPEAT_BYTES
from pypto_spec.targets.model import Target

ACCUMULATOR_BYTES = 4
"""Bytes of an element of L0C."""


class Sharing(NamedTuple):
    """The cores that run at once, and how many of them have bytes of their own to read from GM."""

    active: int
    readers: int


def cycles(
    target: Target, pipe: str, form: str, *, bytes: int, repeats: int, active: int = 1, readers: int | None = None
) -> int:
    """Cycles that one instruction keeps its pipe.

    `form` is the call, or its form where it has several. `bytes` and `repeats` are those of the call (for a copy its
    data and its rows), `active` is how many cores run at once. `readers` is how many of them have bytes of their own to
    read from GM: the others find theirs in L2. Raises KeyError for a pipe without a cost.
    """
    return PIPES[pipe](target, form, bytes, repeats, Sharing(active, active if readers is None else readers))


def _load(target: Target, form: str, bytes: int, rows: int, sharing: Sharing) -> int:
    costs = target.costs
    moved = _moved(target, bytes, rows)
    if form != "DataCopy.nz":
        far = _ceil(moved * sharing.active, costs.gm_read)
        return costs.load_latency + max(costs.through(costs.gm_to_ub, moved), far)
    far = max(_ceil(moved * sharing.readers, costs.gm_read), _ceil(moved * sharing.active, costs.l2_read))
    return costs.mat_latency + max(costs.through(costs.gm_to_mat, moved), far)


def _store(target: Target, form: str, bytes: int, rows: int, sharing: Sharing) -> int:
    costs = target.costs
    moved = _moved(target, bytes, rows)
    far = _ceil(moved * sharing.active, costs.gm_write)
    return costs.store_latency + max(costs.through(costs.ub_to_gm, moved), far)


def _vector(target: Target, call: str, bytes: int, repeats: int, sharing: Sharing) -> int:
    costs = target.costs
    cost = costs.vector.get(call, costs.vector_default)
    if call == "DataCopy":  # inside UB: moved by bandwidth, its repeats are rows
        return cost.fixed + costs.through(costs.ub_to_ub, bytes)
    full = bytes == repeats * REPEAT_BYTES
    return cost.fixed + cost.per_repeat * repeats + (0 if full else cost.partial)


def _move(target: Target, form: str, bytes: int, fractals: int, sharing: Sharing) -> int:
    """L1 to L0A, L0B or the bias table."""
    costs, l0 = target.costs, target.l0
    if form == "DataCopy.bias":
        return costs.bias_latency + _ceil(bytes, costs.mat_to_bias)
    return ceil(bytes / (l0.left_bandwidth if form.endswith(".left") else l0.right_bandwidth))


def _cube(target: Target, form: str, bytes: int, fractals: int, sharing: Sharing) -> int:
    return target.l0.mad_head + fractals


def _drain(target: Target, form: str, bytes: int, rows: int, sharing: Sharing) -> int:
    """L0C to GM or L1; what GM takes of all cores together is not reckoned with."""
    if form == "Fixpipe.gm":
        return ceil(target.l0.drain(rows, _ceil(bytes, max(rows, 1))))
    return target.costs.keep_latency + _ceil(bytes // ACCUMULATOR_BYTES, target.costs.acc_to_mat)


def _scalar(target: Target, call: str, bytes: int, repeats: int, sharing: Sharing) -> int:
    return target.costs.scalar


PIPES: Mapping[str, Callable[[Target, str, int, int, Sharing], int]] = {
    "s": _scalar,
    "v": _vector,
    "m": _cube,
    "mte1": _move,
    "mte2": _load,
    "mte3": _store,
    "fix": _drain,
}
"""What an instruction takes, by its pipe."""


def _moved(target: Target, bytes: int, rows: int) -> int:
    """Bytes that GM moves: a row below the granularity of its accesses costs a whole one."""
    return max(bytes, rows * target.gm_burst_bytes)


def _ceil(a: int, b: int) -> int:
    return -(-a // b)
