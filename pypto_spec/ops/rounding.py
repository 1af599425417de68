"""Rounding of torch tensors to a dtype in each mode of the Cast instruction, bit by bit.

Everything is computed exactly in float64, which holds every fp32, fp16, bf16 and int32 value; int64 to fp32 is rounded
in integers.
"""

from __future__ import annotations

from typing import Any

from pypto_spec.ir.dtype import DType
from pypto_spec.ops.build import torch_dtype
from pypto_spec.ops.numbers import FORMAT, int_range, largest


def round_to(torch: Any, x: Any, dtype: DType, mode: str) -> Any:
    """`x` in `dtype`; `none` rounds half to even where digits are lost, as the hardware does."""
    target = torch_dtype(torch, dtype)
    if not dtype.is_float:
        return _to_integer(torch, x, dtype, mode).to(target)
    if not x.dtype.is_floating_point and x.dtype == torch.int64:
        x = _shorten(torch, x, mode)
    return _to_float(torch, x.to(torch.float64), dtype, mode).to(target)


def _integral(torch: Any, x: Any, mode: str) -> Any:
    """`x` (float64) rounded to an integer value."""
    if mode in ("none", "rint"):
        return torch.round(x)
    if mode in ("floor", "ceil", "trunc"):
        return getattr(torch, mode)(x)
    whole = torch.trunc(x)
    part = x - whole
    if mode == "round":
        return whole + torch.where(part.abs() >= 0.5, torch.sign(part), torch.zeros_like(part))
    odd = torch.remainder(whole, 2) != 0
    return whole + torch.where((part != 0) & ~odd, torch.sign(x), torch.zeros_like(part))


def _to_integer(torch: Any, x: Any, dtype: DType, mode: str) -> Any:
    low, high = int_range(dtype)
    if not x.dtype.is_floating_point:
        return x.clamp(max(low, torch.iinfo(x.dtype).min), min(high, torch.iinfo(x.dtype).max))
    whole = torch.nan_to_num(_integral(torch, x.to(torch.float64), mode), nan=0.0)
    made = whole.clamp(float(low), float(high)).to(torch.int64)
    if dtype.bytes == 8:
        made = torch.where(whole >= 2.0**63, torch.full_like(made, high), made)
    return made


def _to_float(torch: Any, x: Any, dtype: DType, mode: str) -> Any:
    digits, bottom, _ = FORMAT[dtype.name]
    exponent = (torch.frexp(x)[1] - 1).clamp(min=bottom) - (digits - 1)
    quantum = torch.ldexp(torch.ones_like(x), exponent)
    made = torch.copysign(_integral(torch, x / quantum, mode) * quantum, x)
    top = largest(dtype)
    inside = torch.full_like(x, top)
    outside = torch.full_like(x, float("inf"))
    # Modes that never round away from zero stop at the largest finite value.
    beyond = torch.where(_stops(torch, x, mode), inside, outside)
    made = torch.where(made.abs() > top, torch.copysign(beyond, x), made)
    return torch.where(torch.isfinite(x), made, x)


def _stops(torch: Any, x: Any, mode: str) -> Any:
    if mode == "floor":
        return x > 0
    if mode == "ceil":
        return x < 0
    return torch.full_like(x, mode in ("trunc", "odd"), dtype=torch.bool)


def _shorten(torch: Any, x: Any, mode: str) -> Any:
    """int64 with its last bits folded so that float64 holds it and rounding to fp32 gives the same ("sticky" bit)."""
    low = x & 0x7FF
    sticky = (low != 0).to(torch.int64) << 10
    large = x.abs() >= 1 << 53
    return torch.where(large, (x - low) | sticky, x)
