"""Composite functions of `let`, rendered and run, against torch in double precision; far out too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from pypto_spec.convert.let_composites import COMPOSITES
from pypto_spec.golden.compare import Allowed
from pypto_spec.ir.dtype import BF16, FP16, FP32, DType
from tests.golden.harness import Case, assert_good
from tests.golden.spec_text import Spec

torch: Any = pytest.importorskip("torch")

REFERENCE: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "sigmoid": ("sigmoid(s)", lambda x: torch.sigmoid(x)),
    "silu": ("silu(s)", lambda x: torch.nn.functional.silu(x)),
    "tanh": ("tanh(s)", lambda x: torch.tanh(x)),
    "gelu": ("gelu(s, approximate=tanh)", lambda x: torch.nn.functional.gelu(x, approximate="tanh")),
    "gelu_sigmoid": ("gelu(s, approximate=sigmoid)", lambda x: x * torch.sigmoid(1.702 * x)),
    "softmax": ("softmax(s)", lambda x: torch.softmax(x, -1)),
    "log_softmax": ("log_softmax(s)", lambda x: torch.log_softmax(x, -1)),
    "square": ("square(s)", lambda x: x * x),
    "row_mean": ("row_mean(s)", lambda x: x.mean(-1, keepdim=True)),
    "col_mean": ("col_mean(s)", lambda x: x.mean(-2, keepdim=True)),
}
FACTORS = (1, 8, 512)
"""By these the inputs, which lie around 0, are multiplied; powers of two, so that they stay exact."""
ALLOWED = {"fp32": Allowed(1e-5, 5e-7), "fp16": Allowed(2e-3, 1e-6), "bf16": Allowed(1e-2, 1e-6)}
SHAPES = ((33, 100), (1, 40), (70, 1), (5, 300))


def test_every_function_has_a_reference() -> None:
    assert {name.removesuffix("_sigmoid") for name in REFERENCE} == set(COMPOSITES)


def cases(dtype: DType) -> Iterator[Case]:
    for name, (formula, reference) in REFERENCE.items():
        for rows, cols in SHAPES:
            for factor in FACTORS:
                if (name == "square" and dtype == FP16 and factor > 8) or (name.endswith("mean") and factor > 1):
                    continue  # it overflows; large terms cancel out
                spec = Spec(f"{name}_{dtype}_{rows}_{cols}_{factor}")
                spec.load("x", dtype, (rows, cols))
                spec.body += [f"let: s = x * {factor}", f"let: y = {formula}"]
                shape = {"row_mean": (rows, 1), "col_mean": (1, cols)}.get(name, (rows, cols))
                spec.store("y", dtype, shape)

                def expect(inputs: Mapping[str, Any], f: Any = reference, by: int = factor) -> Mapping[str, Any]:
                    return {"out": f(inputs["g_x"] * by)}

                yield Case(spec.text(), expect=expect, allowed=ALLOWED[dtype.name], schedules=1)


@pytest.mark.parametrize("dtype", [FP32, FP16, BF16], ids=str)
def test_functions_agree_with_torch(dtype: DType) -> None:
    assert_good(list(cases(dtype)))
