"""Tiles of three and four dimensions, rendered and run: against torch over the dimensions as they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from pypto_spec.ir.dtype import FP16, FP32, INT32, DType
from tests.golden.harness import Case, assert_good

pytest.importorskip("torch")

SHAPES = {
    "3d": (3, 5, 40),
    "3d_odd": (2, 7, 13),
    "3d_row": (1, 1, 64),
    "3d_column": (4, 6, 1),
    "4d": (2, 3, 4, 32),
    "4d_odd": (3, 1, 5, 9),
    "4d_many": (2, 10, 15, 16),
}
DTYPES = (FP32, FP16, INT32)


def _spec(name: str, dtype: DType, shape: tuple[int, ...], outs: Mapping[str, tuple[int, ...]], body: list[str]) -> str:
    zeros = [0] * len(shape)
    lines = ["spec: v1", f"name: {name}", "tensors:"]
    lines += [f"  x: {{dtype: {dtype}, shape: {list(shape)}}}"]
    lines += [f"  {n}: {{dtype: {dtype}, shape: {list(s)}, access: out}}" for n, s in outs.items()]
    lines += ["program:", "  - region: r", "    body:"]
    lines += [f"      - load: {{into: t, from: x, at: {zeros}, shape: {list(shape)}}}"]
    lines += [f"      - {line}" for line in body]
    lines += [f"      - store: {{from: y_{n}, to: {n}, at: {[0] * len(s)}}}" for n, s in outs.items()]
    return "\n".join([*lines, ""])


def whole(word: str, dtype: DType, shape: tuple[int, ...]) -> Iterator[Case]:
    """Element by element, reductions over the last axis, and spreads back along it."""
    row = (*shape[:-1], 1)
    body = ["let: y_sum = t + t", "let: y_high = row_max(t)", "let: y_off = t - y_high"]
    outs = {"sum": shape, "high": row, "off": shape}

    def expect(given: Mapping[str, Any]) -> dict[str, Any]:
        x = given["x"]
        high = x.amax(dim=-1, keepdim=True)
        return {"sum": x + x, "high": high, "off": x - high}

    yield Case(_spec(f"whole_{word}_{dtype}", dtype, shape, outs, body), expect=expect, schedules=1)


def reshaped(word: str, dtype: DType, shape: tuple[int, ...]) -> Iterator[Case]:
    """To two dimensions, to one more than there are, and to one row."""
    total = 1
    for extent in shape:
        total *= extent
    flat, more, line = (total // shape[-1], shape[-1]), (1, *shape), (1, total)
    body = ["let: d = t + t"]
    outs: dict[str, tuple[int, ...]] = {"flat": flat, "more": more}
    if shape[-1] * dtype.bytes % 32 == 0 or shape[-1] == 1:  # rows that follow each other without padding
        outs["line"] = line
    body += [f"reshape: {{into: y_{n}, x: d, shape: {list(s)}}}" for n, s in outs.items()]

    def expect(given: Mapping[str, Any]) -> dict[str, Any]:
        return {n: (given["x"] * 2).reshape(s) for n, s in outs.items()}

    yield Case(_spec(f"reshaped_{word}_{dtype}", dtype, shape, outs, body), expect=expect, schedules=1)


def spread(word: str, dtype: DType, shape: tuple[int, ...]) -> Iterator[Case]:
    """A row of extent 1 in all other dimensions, spread over all rows."""
    row = (*([1] * (len(shape) - 1)), shape[-1])
    zeros = [0] * len(shape)
    text = _spec(
        f"spread_{word}_{dtype}",
        dtype,
        shape,
        {"out": shape},
        [f"load: {{into: v, from: w, at: {zeros}, shape: {list(row)}}}", "let: y_out = t * v"],
    ).replace("tensors:\n", f"tensors:\n  w: {{dtype: {dtype}, shape: {list(row)}}}\n")
    yield Case(text, expect=lambda given: {"out": given["x"] * given["w"]}, schedules=1)


def partial(word: str, dtype: DType, shape: tuple[int, ...]) -> Iterator[Case]:
    """Windows of which a run-time part of the first dimension exists, and a fixed part of the last."""
    if shape[0] == 1 or shape[-1] == 1:
        return
    inner = list(shape[1:-1])
    cols = shape[-1] - 3
    valid = ", ".join(map(str, ['"min(T, N - i * T)"', *inner, cols]))
    full, zeros = ", ".join(map(str, [shape[0], *inner, shape[-1]])), ", 0" * (len(shape) - 1)
    extents = ", ".join(map(str, ["N", *inner]))
    text = f"""spec: v1
name: partial_{word}_{dtype}
constants: {{T: {shape[0]}}}
symbols: {{N: {{min: 1, max: 20}}}}
tensors:
  x: {{dtype: {dtype}, shape: [{extents}, {cols}]}}
  out: {{dtype: {dtype}, shape: [{extents}, {cols}], access: out}}
  high: {{dtype: {dtype}, shape: [{extents}, 1], access: out}}
program:
  - region: r
    body:
      - for: {{index: i, count: "ceil_div(N, T)"}}
        body:
          - load: {{into: t, from: x, at: [i * T{zeros}], shape: [{full}], valid: [{valid}]}}
          - let: y = t + t
          - let: h = row_max(t)
          - store: {{from: y, to: out, at: [i * T{zeros}]}}
          - store: {{from: h, to: high, at: [i * T{zeros}]}}
golden: {{sizes: [{{N: 1}}, {{N: {shape[0]}}}, {{N: {3 * shape[0] + 1}}}]}}
"""

    def expect(given: Mapping[str, Any]) -> dict[str, Any]:
        return {"out": given["x"] * 2, "high": given["x"].amax(dim=-1, keepdim=True)}

    yield Case(text, expect=expect, schedules=1)


FORMS: tuple[Callable[[str, DType, tuple[int, ...]], Iterator[Case]], ...] = (whole, reshaped, spread, partial)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_nd(form: Callable[[str, DType, tuple[int, ...]], Iterator[Case]]) -> None:
    cases = [case for word, shape in SHAPES.items() for dtype in DTYPES for case in form(word, dtype, shape)]
    assert len(cases) >= 15
    assert_good(cases)
