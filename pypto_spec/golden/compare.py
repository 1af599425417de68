"""Comparing a result with its reference: worst element, ULPs, share of elements off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pypto_spec.golden.need_torch import torch
from pypto_spec.ir.dtype import DType


@dataclass(frozen=True, slots=True)
class Allowed:
    """How far a result may be off: `atol + rtol * |expected|`, or `ulps` units in the last place, whichever is more."""

    rtol: float
    atol: float
    ulps: float = 0.0

    def __str__(self) -> str:
        plain = f"rtol {self.rtol:g}, atol {self.atol:g}"
        if not self.ulps:
            return plain
        return f"{self.ulps:g} ULPs" + (f", or {plain}" if self.rtol or self.atol else "")


TOLERANCES = {
    "fp32": Allowed(2e-5, 2e-6),
    "fp16": Allowed(1e-2, 1e-3),
    "bf16": Allowed(2e-2, 1e-2),
}
"""Defaults by dtype, for results of a few operations on values of about 1: some 170 fp32 ULPs, 10 fp16 ULPs, 2.5 bf16
ULPs. Integers must be equal."""

DIGITS = {"fp32": 24, "fp16": 11, "bf16": 8}
"""Significant binary digits of each floating-point dtype."""

LOWEST = {"fp32": -125, "fp16": -13, "bf16": -125}
"""Exponents of the smallest normal numbers, for significands from 0.5 to 1."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What is wrong with one output; `index` is that of the worst element."""

    output: str
    index: tuple[int, ...]
    found: float
    expected: float
    ulps: float | None
    off: int
    total: int
    allowed: Allowed

    def __str__(self) -> str:
        share = 100 * self.off / self.total
        where = ", ".join(map(str, self.index))
        apart = f", {self.ulps:.3g} ULPs apart" if self.ulps is not None else ""
        return (
            f"`{self.output}` differs in {self.off} of {self.total} elements ({share:.3g} %); worst at [{where}]: "
            f"found {self.found:.9g}, expected {self.expected:.9g}{apart} (allowed: {self.allowed})"
        )


def allowed_for(
    dtype: DType,
    rtol: float | None = None,
    atol: float | None = None,
    ulps: float | None = None,
    slack: float = 0.0,
) -> Allowed:
    """The tolerance of a dtype, with what the spec says of it instead; `ulps` alone replaces both others.

    `slack` is what sums of products may be off, where the spec says nothing of `atol`.
    """
    default = TOLERANCES.get(dtype.name, Allowed(0, 0)) if ulps is None else Allowed(0, 0)
    least = max(default.atol, slack if dtype.is_float and ulps is None else 0.0)
    return Allowed(
        default.rtol if rtol is None else rtol, least if atol is None else atol, 0.0 if ulps is None else ulps
    )


def compare(name: str, found: Any, expected: Any, dtype: DType, allowed: Allowed) -> Difference | None:
    """The difference of an output (in its dtype) from its reference (float64 or int64), None where it is good.

    NaN must meet NaN, infinities must be equal; a reference beyond the dtype's range counts as the infinity it rounds
    to.
    """
    module = torch()
    if dtype.is_float:
        got = found.to(module.float64)
        want = expected.to(module.float64)
        want = module.where(want.to(found.dtype).isinf(), want.to(found.dtype).to(module.float64), want)
        same = (got == want) | (got.isnan() & want.isnan())
        error = module.where(same, module.zeros_like(got), (got - want).abs())
        error = module.where(error.isnan(), module.full_like(error, float("inf")), error)
        near = module.maximum(allowed.atol + allowed.rtol * want.abs(), allowed.ulps * _ulp(want, dtype))
        limit = module.where(want.isfinite(), near, module.zeros_like(want))
        off = error > limit
    else:
        got, want = found.to(module.int64), expected.to(module.int64)
        error = (got - want).abs().to(module.float64)
        limit = (allowed.atol + allowed.rtol * want.abs().to(module.float64)).clamp(min=allowed.ulps)
        off = error > limit
    count = int(off.sum())
    if not count:
        return None
    excess = module.where(off, error / (limit + 1e-300), module.full_like(error, -1.0))
    flat = int(excess.reshape(-1).argmax())
    index = []
    rest = flat
    for extent in reversed(found.shape):
        index.append(rest % extent)
        rest //= extent
    at = tuple(reversed(index))
    worst_found, worst_want = float(got.reshape(-1)[flat]), float(want.reshape(-1)[flat])
    return Difference(
        name, at, worst_found, worst_want, ulps(worst_found, worst_want, dtype), count, found.numel(), allowed
    )


def _ulp(values: Any, dtype: DType) -> Any:
    """One unit in the last place of each value; of zero and of subnormal numbers the smallest subnormal one."""
    module = torch()
    exponents = module.frexp(values)[1].clamp(min=LOWEST[dtype.name])
    return module.ldexp(module.ones_like(values), exponents - DIGITS[dtype.name])


def ulps(found: float, expected: float, dtype: DType) -> float | None:
    """Distance in units in the last place of the expected value; None where that says nothing: 0, inf or NaN."""
    if not dtype.is_float:
        return abs(found - expected)
    if not expected or not abs(expected) < float("inf") or not abs(found) < float("inf"):
        return None
    module = torch()
    return float(abs(found - expected) / _ulp(module.tensor(expected, dtype=module.float64), dtype))
