"""Operands that were put into L0A or L0B by hand: one that is larger than its memory cannot be helped by any plan."""

from __future__ import annotations

from pypto_spec.ir.dtype import BLOCK_BYTES, DType
from pypto_spec.ir.types import Memory, round_up
from pypto_spec.records import dataclass
from pypto_spec.targets.model import Target


@dataclass(frozen=True, slots=True)
class TooLarge:
    """An operand that is larger than its memory, in bytes. `k` is the largest extent of K with which it fits, or 0."""

    memory: Memory
    needed: int
    available: int
    k: int


def too_large(target: Target, memory: Memory, dtype: DType, m_or_n: int, k: int) -> TooLarge | None:
    """Whether A [m, k] in `left` or B [k, n] in `right` is larger than all of its memory; None if it fits."""
    fractal, block = target.l0.fractal, BLOCK_BYTES // dtype.bytes
    across = round_up(m_or_n, fractal) * dtype.bytes
    needed, available = across * round_up(k, block), target.capacity[memory]
    if needed <= available:
        return None
    unit = max(fractal, block)
    return TooLarge(memory, needed, available, available // across // unit * unit)
