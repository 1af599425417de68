"""Matmuls that are not cut for L0, and why: data that the pass turns into findings."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from pypto_spec.ops.cube.mmad import ACCUMULATOR
from pypto_spec.passes.l0.problem import Problem
from pypto_spec.records import dataclass


class Reason(Enum):
    """Why a matmul is left as it is."""

    DTYPE = "dtype"
    UNALIGNED_K = "unaligned-k"
    UNALIGNED_BIAS = "unaligned-bias"
    TOO_SMALL = "too-small"
    NO_TILE = "no-tile"


CODES: Mapping[Reason, str] = {
    Reason.DTYPE: "PH-AT-003",
    Reason.UNALIGNED_K: "PH-AT-007",
    Reason.UNALIGNED_BIAS: "PH-AT-011",
    Reason.TOO_SMALL: "PH-AT-005",
    Reason.NO_TILE: "PH-AT-005",
}
"""The hint of each reason, by PyPTO's number."""

PADDED = "PH-AT-008"
"""The hint of a matmul that is cut, but computes more than was asked for (`Problem.is_padded`)."""


_ZERO = "with zeros behind the valid part of the operands"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a matmul is not cut: the reason, one line with its figures, and a way out."""

    reason: Reason
    text: str
    help: str

    @property
    def code(self) -> str:
        """PyPTO's hint."""
        return CODES[self.reason]


def refuse(problem: Problem) -> Refusal | None:
    """What forbids to look for a tile at all, None if nothing does. The first reason counts."""
    for check in (_dtype, _unaligned_bias, _unaligned_k, _too_small):
        refusal = check(problem)
        if refusal is not None:
            return refusal
    return None


def no_tile(problem: Problem) -> Refusal:
    """Not even the smallest tile fits."""
    m, n, k = problem.step
    if problem.width is not None and problem.width.whole:
        n = problem.n
    return Refusal(
        Reason.NO_TILE,
        f"no tile of [{problem.m}, {problem.k}] @ [{problem.k}, {problem.n}] fits: the smallest is {m} x {n} x {k}, "
        f"L0A has {problem.left_bytes:,} B, L0B {problem.right_bytes:,} B, L0C {problem.acc_bytes:,} B",
        _bias_help(problem),
    )


def _bias_help(problem: Problem) -> str:
    if problem.width is None:
        return "use a smaller dtype"
    return f"give fewer columns at a time: the bias table holds {problem.width.most}"


def _dtype(problem: Problem) -> Refusal | None:
    if problem.dtype in ACCUMULATOR:
        return None
    known = ", ".join(map(str, ACCUMULATOR))
    return Refusal(Reason.DTYPE, f"the cube does not multiply {problem.dtype}", f"cast both operands to one of {known}")


def _unaligned_bias(problem: Problem) -> Refusal | None:
    """With a bias every window, the last one too, is made of whole boxes."""
    if problem.width is None:
        return None
    extents = list(zip("MNK", problem.shape, problem.step, strict=True))
    wrong = [f"{name} is {extent}, which is no multiple of {unit}" for name, extent, unit in extents if extent % unit]
    if not wrong:
        return None
    wanted = " and ".join(f"{name} {-(-extent // unit) * unit}" for name, extent, unit in extents if extent % unit)
    return Refusal(Reason.UNALIGNED_BIAS, ", ".join(wrong) + "; with a bias it has to be", f"make {wanted}, {_ZERO}")


def _unaligned_k(problem: Problem) -> Refusal | None:
    unit = problem.step[2]
    if problem.k % unit == 0 and problem.k > 0:
        return None
    wanted = max(unit, -(-problem.k // unit) * unit)
    return Refusal(Reason.UNALIGNED_K, f"K is {problem.k}, which is no multiple of {unit}", f"make K {wanted}, {_ZERO}")


def _too_small(problem: Problem) -> Refusal | None:
    extents = zip("MNK", problem.shape, problem.step, strict=True)
    small = [(name, extent, least) for name, extent, least in extents if extent < least]
    if not small:
        return None
    wanted = " and ".join(f"{name} {least}" for name, _, least in small)
    return Refusal(
        Reason.TOO_SMALL,
        ", ".join(f"{name} is {extent}, less than {least}" for name, extent, least in small),
        f"make {wanted}, {_ZERO}",
    )
