"""What instructions take on a platform, in cycles: a table with a source for every figure.

Everything made from it is called modelled. The table ranks programs; it does not predict a device's time.
"""

from __future__ import annotations

from collections.abc import Mapping

from pypto_spec.records import dataclass

GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class VectorCost:
    """Cycles of one vector call: `fixed`, `per_repeat` for each repeat of 256 B, `partial` where a repeat is not full.

    `fixed` is what the first repeat takes to come out, from head to tail.
    """

    fixed: int
    per_repeat: int
    partial: int = 0


@dataclass(frozen=True, slots=True)
class Costs:
    """The cost table of a platform. `sources` has an entry for every field, and `vector.CALL` for every call.

    Times are in cycles of `clock_mhz`. Bandwidths of one core are as published, in GiB/s: bytes a cycle are
    `GiB/s * 2**30 / (clock_mhz * 10**6)` (`bytes_per_cycle`). `gm_read`, `gm_write` and `l2_read` are bytes a cycle of
    all cores together: cores that run at once share them. What the cube's loads, Mmads and drains to GM take is in the
    figures of L0 (`L0Costs`).
    """

    clock_mhz: int
    gm_to_ub: float
    ub_to_gm: float
    ub_to_ub: float
    gm_read: int
    gm_write: int
    load_latency: int
    store_latency: int
    gm_to_mat: float
    mat_latency: int
    l2_read: int
    mat_to_bias: int
    bias_latency: int
    acc_to_mat: int
    keep_latency: int
    vector: Mapping[str, VectorCost]
    vector_default: VectorCost
    dispatch: int
    scalar: int
    set_flag: int
    wait_flag: int
    barrier: int
    queue_depth: int
    sources: Mapping[str, str]

    def bytes_per_cycle(self, gib_per_second: float) -> float:
        """A published bandwidth as bytes in a cycle of this clock."""
        return gib_per_second * GIB / (self.clock_mhz * 1_000_000)

    def through(self, gib_per_second: float, bytes: int) -> int:
        """Whole cycles that bytes take at a published bandwidth, which has two decimals at most."""
        return -(-bytes * self.clock_mhz * 100_000_000 // (round(gib_per_second * 100) * GIB))


UNITS: Mapping[str, str] = {
    "clock_mhz": "MHz",
    "gm_to_ub": "GiB/s",
    "ub_to_gm": "GiB/s",
    "ub_to_ub": "GiB/s",
    "gm_read": "B/cycle, all cores",
    "gm_write": "B/cycle, all cores",
    "load_latency": "cycles a call",
    "store_latency": "cycles a call",
    "gm_to_mat": "GiB/s",
    "mat_latency": "cycles a call",
    "l2_read": "B/cycle, all cores",
    "mat_to_bias": "B/cycle",
    "bias_latency": "cycles a call",
    "acc_to_mat": "elements/cycle",
    "keep_latency": "cycles a call",
    "dispatch": "cycles",
    "scalar": "cycles",
    "set_flag": "cycles",
    "wait_flag": "cycles",
    "barrier": "cycles",
    "queue_depth": "entries a pipe",
}
"""The unit of every plain figure."""
