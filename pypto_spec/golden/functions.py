"""The functions of golden formulas, in float64 (int64 for integers), row-wise where they have an axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pypto_spec.golden.need_torch import torch
from pypto_spec.golden.sums import record
from pypto_spec.ir.dtype import DTYPES
from pypto_spec.ops.rounding import round_to

Function = Callable[..., Any]


def _reduce(name: str, axis: int) -> Function:
    def reduced(x: Any) -> Any:
        return getattr(torch(), name)(x, dim=axis, keepdim=True)

    return reduced


def _unary(name: str) -> Function:
    return lambda x: getattr(torch(), name)(_tensor(x))


def _tensor(x: Any) -> Any:
    module = torch()
    return x if isinstance(x, module.Tensor) else module.tensor(x, dtype=module.float64)


def _binary(name: str) -> Function:
    return lambda a, b: getattr(torch(), name)(*torch().broadcast_tensors(_tensor(a), _tensor(b)))


def _softmax(x: Any, axis: int = -1) -> Any:
    return torch().softmax(x, dim=int(axis))


def _log_softmax(x: Any, axis: int = -1) -> Any:
    return torch().log_softmax(x, dim=int(axis))


def _gelu(x: Any, approximate: str = "none") -> Any:
    if approximate == "sigmoid":
        return x * torch().sigmoid(1.702 * x)
    return torch().nn.functional.gelu(x, approximate=approximate)


def _layer_norm(x: Any, eps: float = 1e-5) -> Any:
    return torch().nn.functional.layer_norm(x, (x.shape[-1],), eps=float(eps))


def _rms_norm(x: Any, eps: float = 1e-5) -> Any:
    return x * torch().rsqrt((x * x).mean(-1, keepdim=True) + float(eps))


def _cast(x: Any, dtype: str, mode: str = "") -> Any:
    kind = DTYPES[dtype]
    rounded = round_to(torch(), x, kind, mode or ("rint" if kind.is_float else "trunc"))
    return rounded.to(torch().float64 if kind.is_float else torch().int64)


def _matmul(a: Any, b: Any, a_trans: bool = False, b_trans: bool = False) -> Any:
    lhs, rhs = a.transpose(-1, -2) if a_trans else a, b.transpose(-1, -2) if b_trans else b
    record(lhs, rhs)
    return torch().matmul(lhs, rhs)


def _where(condition: Any, a: Any, b: Any) -> Any:
    return torch().where(condition, _tensor(a), _tensor(b))


FUNCTIONS: Mapping[str, Function] = {
    **{
        name: _unary(name)
        for name in ("exp", "log", "sqrt", "rsqrt", "abs", "neg", "relu", "sigmoid", "tanh", "sin", "cos")
    },
    **{name: _unary(name) for name in ("floor", "ceil", "round", "trunc", "sign", "erf")},
    "recip": _unary("reciprocal"),
    "square": lambda x: x * x,
    "silu": lambda x: x * torch().sigmoid(x),
    "gelu": _gelu,
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "layer_norm": _layer_norm,
    "rms_norm": _rms_norm,
    "cast": _cast,
    "matmul": _matmul,
    "where": _where,
    "maximum": _binary("maximum"),
    "minimum": _binary("minimum"),
    "row_sum": _reduce("sum", -1),
    "row_max": _reduce("amax", -1),
    "row_min": _reduce("amin", -1),
    "row_mean": _reduce("mean", -1),
    "row_prod": _reduce("prod", -1),
    "col_sum": _reduce("sum", -2),
    "col_max": _reduce("amax", -2),
    "col_min": _reduce("amin", -2),
    "col_mean": _reduce("mean", -2),
    "col_prod": _reduce("prod", -2),
    "transpose": lambda x: x.transpose(-1, -2),
    "concat": lambda a, b, axis=-1: torch().cat((a, b), dim=int(axis)),
    "reshape": lambda x, shape: x.reshape(tuple(int(n) for n in shape)),
    "full": lambda shape, value: torch().full(tuple(int(n) for n in shape), float(value), dtype=torch().float64),
}
"""Every function of a golden formula by name; axes count from the end."""
