"""Tiles of which a run-time part is valid, in rows and columns, down to none: all else is left alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pypto_spec.golden.compare import Allowed
from tests.golden.harness import Case, check_all, report

pytest.importorskip("torch")

ROWS, COLS = 16, 100
SIZES = ((16, 100), (5, 37), (1, 1), (7, 1), (1, 100), (0, 37), (5, 0), (15, 96), (9, 33))
"""Valid rows and columns: all, odd ones, one, none, and whole blocks of 32 B."""


def _text(name: str, dtype: str, body: list[str], shape: tuple[int, int], out: str | None = None) -> str:
    """A spec that loads a partly valid tile; its output comes with values, so that what must not be written shows."""
    sizes = ", ".join(f"{{M: {m}, N: {n}}}" for m, n in SIZES)
    lines = [
        "spec: v1",
        f"name: {name}",
        "symbols: {M: {min: 0, max: 16}, N: {min: 0, max: 100}}",
        "tensors:",
        f"  x: {{dtype: {dtype}, shape: [{ROWS}, {COLS}]}}",
        f"  out: {{dtype: {out or dtype}, shape: {list(shape)}, access: inout}}",
        "program:",
        "  - region: r",
        "    body:",
        f'      - load: {{into: t, from: x, at: [0, 0], shape: [{ROWS}, {COLS}], valid: ["M", "N"]}}',
        *(f"      - {line}" for line in body),
        "      - store: {from: y, to: out, at: [0, 0]}",
        f"golden: {{sizes: [{sizes}]}}",
        "",
    ]
    return "\n".join(lines)


def _cases() -> Iterator[tuple[str, str, bool]]:
    """Text, and whether results are exact."""
    whole, column, row = (ROWS, COLS), (ROWS, 1), (1, COLS)
    for dtype in ("fp32", "fp16", "bf16", "int32", "int16", "int8"):
        yield f"copy_{dtype}", _text(f"copy_{dtype}", dtype, ["move: {into: y, from: t}"], whole), True
    for dtype in ("fp32", "fp16", "bf16", "int32"):
        for pad in ("zero", "min", "one"):
            fill = [f"fillpad: {{into: y, x: t, pad: {pad}}}"]
            yield f"fill_{pad}_{dtype}", _text(f"fill_{pad}_{dtype}", dtype, fill, whole), True
    for dtype, to in (("fp32", "fp16"), ("fp32", "bf16"), ("fp32", "int32"), ("fp16", "fp32"), ("bf16", "fp32")):
        cast = [f"cast: {{into: y, x: t, dtype: {to}}}"]
        yield f"cast_{dtype}_{to}", _text(f"cast_{dtype}_{to}", dtype, cast, whole, to), True
    for dtype in ("fp32", "fp16", "int32"):
        twice = ["adds: {into: a, x: t, scalar: 2}", "mul: {into: y, lhs: a, rhs: t}"]
        yield f"lanes_{dtype}", _text(f"lanes_{dtype}", dtype, twice, whole), True
        for name in ("sum", "max", "min", "prod"):
            exact = name in ("max", "min") or dtype == "int32"
            for axis, shape in (("row", column), ("col", row)):
                reduce = [f"{axis}_{name}: {{into: y, x: t}}"]
                called = f"{axis}_{name}_{dtype}"
                yield called, _text(called, dtype, reduce, shape), exact
    for dtype in ("fp32", "fp16"):
        for axis, shape in (("row", column), ("col", row)):
            for name in ("argmax", "argmin"):
                called = f"{axis}_{name}_{dtype}"
                yield called, _text(called, dtype, [f"{axis}_{name}: {{into: y, x: t}}"], shape, "int32"), True
        softmax = ["let: e = exp(t - row_max(t))", "let: y = e / row_sum(e)"]
        yield f"softmax_{dtype}", _text(f"softmax_{dtype}", dtype, softmax, whole), False
        centre = ["let: y = t - col_min(t)"]
        yield f"centre_{dtype}", _text(f"centre_{dtype}", dtype, centre, whole), True


CASES = list(_cases())


def test_only_the_valid_part_counts() -> None:
    cases = [Case(text, exact=exact, allowed=None if exact else Allowed(2e-3, 2e-3)) for _, text, exact in CASES]
    failures = check_all(cases)
    assert not failures, report(failures, 3)
