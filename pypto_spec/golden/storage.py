"""The memory behind a tensor argument: dense, or with other things between its rows that nobody may touch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pypto_spec.golden.need_torch import torch
from pypto_spec.ir.dtype import DType
from pypto_spec.ir.expr import Sym, evaluate
from pypto_spec.ir.nodes import Value
from pypto_spec.ir.types import TensorType
from pypto_spec.ops.build import torch_dtype

POISON = 0xFF
"""What undefined bytes hold: NaN in every floating-point dtype, -1 in integers."""
GAP = 77
"""What stands between rows: exact in every dtype, and far from what a kernel computes by accident."""


@dataclass(frozen=True, slots=True)
class Storage:
    """Flat memory and the view of it that is the tensor; `gap` says which elements belong to no index (None: none)."""

    flat: Any
    view: Any
    gap: Any = None

    def touched(self) -> list[int]:
        """Elements of the memory that are not the tensor's and do not hold `GAP` any more."""
        if self.gap is None:
            return []
        return [int(n) for n in torch().nonzero(self.gap & (self.flat != GAP)).reshape(-1)[:8]]


def strides_of(tensor: Value, values: Mapping[Sym, int]) -> tuple[int, ...] | None:
    """The strides of a tensor argument at one size; None where its rows are dense."""
    kind = tensor.type
    if not isinstance(kind, TensorType) or kind.pitches is None:
        return None
    return tuple(evaluate(stride, values) for stride in kind.pitches)


def undefined(shape: tuple[int, ...], dtype: DType) -> Any:
    """A tensor with undefined contents: every byte is `POISON`."""
    made = torch().empty(shape, dtype=torch_dtype(torch(), dtype))
    made.view(-1).view(torch().uint8).fill_(POISON)
    return made


def store(content: Any, strides: tuple[int, ...] | None) -> Storage:
    """Memory that holds `content` at these strides. Where elements overlap, the content is what was written last."""
    module = torch()
    if strides is None:
        dense = content.clone().contiguous()
        return Storage(dense.view(-1), dense)
    shape = tuple(content.shape)
    size = 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    flat = module.full((size,), GAP, dtype=content.dtype)
    view = flat.as_strided(shape, strides)
    used = module.zeros((size,), dtype=module.bool)
    if size:
        places = sum(
            module.arange(n).reshape([-1 if a == axis else 1 for a in range(len(shape))]) * s
            for axis, (n, s) in enumerate(zip(shape, strides, strict=True))
        ).expand(shape)
        flat[places.reshape(-1)] = content.reshape(-1)
        used[places.reshape(-1)] = True
    return Storage(flat, view, ~used)
