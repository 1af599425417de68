"""What the L0 tile chooser reckons with: the figures of the cube's buffers and pipes, with a source for every one.

PyPTO's chooser has the same figures. They rank tiles; they do not predict a device's time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from pypto_spec.records import dataclass


def odd_part(value: int) -> int:
    """The value without its factors of two."""
    return value // (value & -value)


@dataclass(frozen=True, slots=True)
class L0Costs:
    """The figures of a platform. `sources` has an entry for every field; units are in `UNITS`.

    A drain writes one accumulator tile out of L0C: `drain_fixed` once, and for each row the larger of `drain_row` and
    its bytes at `drain_bandwidth`, plus `drain_penalty` for each burst beyond the first that its width makes.
    """

    left_bandwidth: float
    right_bandwidth: float
    drain_bandwidth: float
    drain_fixed: float
    drain_row: float
    drain_penalty: float
    drain_block: int
    mad_head: int
    mad_fractal: int
    mad_fp32_passes: int
    fractal: int
    int32_rows: int
    sources: Mapping[str, str] = field(compare=False)

    def drain(self, rows: int, row_bytes: int) -> float:
        """Cycles until a tile has left L0C; `row_bytes` are those of a row there.

        A row goes out in bursts of blocks; a number of blocks that is no power of two makes more bursts, one for each
        unit of its odd part.
        """
        blocks = max(1, -(-row_bytes // self.drain_block))
        row = max(self.drain_row, row_bytes / self.drain_bandwidth)
        return self.drain_fixed + rows * (row + self.drain_penalty * (odd_part(blocks) - 1))


UNITS: Mapping[str, str] = {
    "left_bandwidth": "B/cycle",
    "right_bandwidth": "B/cycle",
    "drain_bandwidth": "B/cycle",
    "drain_fixed": "cycles a drain",
    "drain_row": "cycles a row, at least",
    "drain_penalty": "cycles a row and further burst",
    "drain_block": "B",
    "mad_head": "cycles a block of K",
    "mad_fractal": "B along K",
    "mad_fp32_passes": "passes a fractal",
    "fractal": "elements",
    "int32_rows": "rows",
}
"""The unit of every figure."""

MEANINGS: Mapping[str, str] = {
    "left_bandwidth": "from L1 to L0A",
    "right_bandwidth": "from L1 to L0B",
    "drain_bandwidth": "out of L0C, for a wide row",
    "drain_fixed": "what any drain takes",
    "drain_row": "what a row of a narrow tile takes",
    "drain_penalty": "for a width whose blocks are no power of two",
    "drain_block": "block of a row of L0C: 8 elements of 4 B",
    "mad_head": "what any Mmad takes",
    "mad_fractal": "what the cube takes in along K at once: 16 elements of 2 B",
    "mad_fp32_passes": "how often an fp32 fractal goes through the cube",
    "fractal": "m, n and k of a tile are multiples of this, and at least as much",
    "int32_rows": "an int32 accumulator takes a multiple of these rows in L0C, any other one of `fractal`",
}
"""What every figure is."""
