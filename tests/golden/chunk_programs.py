"""Programs on whole arrays, for any number of rows and columns."""

from __future__ import annotations

from dataclasses import dataclass

from pypto_spec.golden.compare import Allowed
from tests.golden.harness import Case

LOOSE = Allowed(1e-4, 1e-4)
"""For sums of many elements, which round in another order than the reference."""
HALF = Allowed(1e-2, 1e-2)

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Whole:
    """Tensors by name as `dtype shape access`, with M, N and the leading extents as letters; then `let`s."""

    tensors: dict[str, str]
    lets: tuple[str, ...]
    exact: bool = False
    allowed: Allowed | None = None
    columns: bool = False
    """Whether columns are reduced, which is work for one block."""
    rows_whole: bool = False
    """Whether both rows and columns are reduced, so that rows must fit."""
    inputs: str = ""


PROGRAMS: dict[str, Whole] = {
    "chain": Whole(
        {"a": "fp32 [M, N] in", "b": "fp32 [M, N] in", "out": "fp32 [M, N] out"},
        ("t = a * b + 1", "out = relu(t) - maximum(a, t) / 4"), exact=True,
    ),
    "softmax": Whole(
        {"x": "fp32 [M, N] in", "out": "fp32 [M, N] out"},
        ("e = exp(x - row_max(x))", "out = e / row_sum(e)"), allowed=LOOSE,
    ),
    "rmsnorm": Whole(
        {"x": "fp32 [M, N] in", "gamma": "fp32 [1, N] in", "out": "fp32 [M, N] out"},
        ("out = x * rsqrt(row_sum(x * x) * (1 / N) + 0.00001) * gamma",), allowed=LOOSE,
    ),
    "layernorm": Whole(
        {"x": "fp32 [M, N] in", "gamma": "fp32 [1, N] in", "beta": "fp32 [1, N] in", "out": "fp32 [M, N] out"},
        ("d = x - row_sum(x) * (1 / N)", "v = row_sum(d * d) * (1 / N)", "out = d * rsqrt(v + 0.1) * gamma + beta"),
        allowed=Allowed(1e-3, 1e-3),
    ),
    "columns": Whole(
        {"x": "fp32 [M, N] in", "total": "fp32 [1, N] out", "high": "fp32 [1, N] out", "low": "fp32 [1, N] out"},
        ("total = col_sum(x)", "high = col_max(x)", "low = col_min(x)"), allowed=Allowed(1e-4, 1e-3), columns=True,
    ),
    "column_softmax": Whole(
        {"x": "fp32 [M, N] in", "out": "fp32 [M, N] out"},
        ("e = exp(x - col_max(x))", "out = e / col_sum(e)"), allowed=LOOSE, columns=True,
    ),
    "centred": Whole(
        {"x": "fp32 [M, N] in", "out": "fp32 [M, N] out", "top": "fp32 [M, 1] out"},
        ("c = x - col_max(x)", "top = row_max(c)", "out = c - top"), exact=True, columns=True, rows_whole=True,
    ),
    "casts": Whole(
        {"x": "fp32 [M, N] in", "half": "fp16 [M, N] out", "whole": "int32 [M, N] out", "brain": "bf16 [M, N] out"},
        ("half = cast(x, fp16)", "whole = cast(half, int32)", "brain = cast(x * 3, bf16)"), exact=True,
    ),
    "narrow": Whole(
        {"x": "bf16 [M, N] in", "y": "int32 [M, N] in", "out": "fp16 [M, N] out", "low": "int8 [M, N] out"},
        ("out = cast(x, fp16) + cast(y, fp16)", "low = cast(out, int8)"), exact=True,
    ),
    "bf16": Whole(
        {"x": "bf16 [M, N] in", "y": "bf16 [M, 1] in", "out": "bf16 [M, N] out"},
        ("out = x * y + abs(x) / 3",), exact=True,
    ),
    "bf16_norm": Whole(
        {"x": "bf16 [M, N] in", "g": "bf16 [1, N] in", "out": "bf16 [M, N] out"},
        ("out = x * rsqrt(row_sum(x * x) * (1 / N) + 0.00001) * g",), allowed=Allowed(2e-2, 1e-2),
    ),
    "fp16_rows": Whole(
        {"x": "fp16 [M, N] in", "out": "fp16 [M, 1] out", "most": "fp16 [M, 1] out"},
        ("out = row_sum(x * 0.125)", "most = row_max(x)"), allowed=Allowed(2e-3, 2e-3),
    ),
    "fp16_columns": Whole(
        {"x": "fp16 [M, N] in", "out": "fp16 [1, N] out"},
        ("out = col_sum(x * 0.125)",), allowed=Allowed(2e-3, 2e-3), columns=True,
    ),
    "inout": Whole(
        {"x": "fp32 [M, N] in", "y": "fp32 [M, N] inout"},
        ("y = y * 2 + x", "y = y - row_max(y)"), exact=True,
    ),
    "inout_rows": Whole(
        {"y": "fp32 [M, N] inout", "r": "fp32 [M, 1] inout"},
        ("r = maximum(r, row_max(y))", "y = y - r"), exact=True,
    ),
    "several": Whole(
        {"x": "fp32 [M, N] in", "a": "fp32 [M, N] out", "b": "fp32 [M, 1] out", "c": "fp32 [M, N] out"},
        ("a = abs(x)", "b = row_min(a)", "c = a / (b + 1)"), exact=True,
    ),
    "vectors": Whole(
        {"r": "fp32 [M, 1] in", "c": "fp32 [1, N] in", "out": "fp32 [M, N] out", "rr": "fp32 [M, 1] out"},
        ("rr = r * 2 - 1", "out = rr * c"), exact=True,
    ),
    "column_only": Whole(
        {"r": "fp32 [M, 1] in", "s": "fp32 [M, 1] in", "out": "fp32 [M, 1] out"},
        ("out = maximum(r * s, 0.5)",), exact=True,
    ),
    "row_only": Whole(
        {"r": "fp32 [1, N] in", "s": "fp32 [1, N] in", "out": "fp32 [1, N] out"},
        ("out = r * s - 0.5",), exact=True,
    ),
    "int32": Whole(
        {"x": "int32 [M, N] in", "y": "int32 [1, N] in", "out": "int32 [M, N] out", "s": "int32 [M, 1] out"},
        ("t = x * 3 + y", "s = row_sum(t)", "out = maximum(t - s, -t)"), exact=True,
    ),
    "int32_columns": Whole(
        {"x": "int32 [M, N] in", "s": "int32 [1, N] out", "m": "int32 [1, N] out"},
        ("s = col_sum(x)", "m = col_min(x * 2)"), exact=True, columns=True,
    ),
    "deep": Whole(
        {"x": "fp32 [B, M, N] in", "y": "fp32 [B, M, N] in", "out": "fp32 [B, M, N] out"},
        ("e = exp(x - row_max(x))", "out = e / row_sum(e) + y"), allowed=LOOSE,
    ),
    "deeper": Whole(
        {"x": "fp16 [2, B, M, N] in", "out": "fp16 [2, B, M, N] out", "high": "fp16 [2, B, M, 1] out"},
        ("high = row_max(x)", "out = x - high"), exact=True,
    ),
    "window": Whole(
        {"x": "fp32 [M + 3, N + 5] in", "out": "fp32 [M, N] out"},
        ("out = x[2:M + 2, 3:N + 3] * 2 - x[0:M, 0:N]",), exact=True,
    ),
    "filled": Whole(
        {"x": "fp32 [M, N] in", "out": "fp32 [M, N] out"},
        ("f = full([M, N], 2.5, fp32)", "out = x * f - full([1, N], 1, fp32)"), exact=True,
    ),
    "spread": Whole(
        {"r": "fp32 [M, 1] in", "c": "fp32 [1, N] in", "out": "fp32 [M, N] out", "too": "fp32 [M, N] out"},
        ("row_expand: {into: e, x: r, cols: N}", "col_expand: {into: f, x: c, rows: M}", "out = e", "too = f - e"),
        exact=True,
    ),
    "late": Whole(
        {"x": "fp32 [M, N] in", "r": "fp32 [1, N] in", "s": "fp32 [1, N] inout", "out": "fp32 [M, N] out"},
        ("out = x + s", "s = r * 2"), exact=True,
    ),
    "late_rows": Whole(
        {"x": "fp32 [M, N] in", "r": "fp32 [M, 1] in", "s": "fp32 [M, 1] inout", "out": "fp32 [M, N] out"},
        ("e = x - row_max(x)", "out = e + s", "s = r * 2"), exact=True,
    ),
    "kept": Whole(
        {"x": "fp32 [M, N] inout", "r": "fp32 [M, 1] in", "out": "fp32 [M, N] out"},
        ("old = x", "row_expand: {into: e, x: r, cols: N}", "x = e", "out = old * 2"), exact=True,
    ),
    "apart": Whole(
        {"x": "fp32 [M, N] in", "c": "fp32 [1, N] in", "d": "fp32 [1, N] out", "out": "fp32 [M, N] out"},
        ("d = c * 2", "out = x + d"), exact=True,
    ),
    "unlike": Whole(
        {"x": "fp32 [M, N] in", "y": "fp32 [N, M] in", "a": "fp32 [M, N] out", "b": "fp32 [N, M] out"},
        ("a = x * 2", "b = y * 3"), exact=True,
    ),
    "deep_apart": Whole(
        {"x": "fp32 [B, M, N] in", "y": "fp32 [M, N] in", "a": "fp32 [B, M, N] out", "b": "fp32 [M, N] out"},
        ("a = x * 2", "b = y * 3"), exact=True,
    ),
    "overwritten": Whole(
        {"x": "fp32 [M, N] in", "y": "fp32 [M, N] inout", "out": "fp32 [M, N] out"},
        ("y = x + y", "out = y * 2", "y = out + 1"), exact=True,
    ),
    "passed_on": Whole(
        {"x": "fp32 [M, N] in", "out": "fp32 [M, N] out", "too": "fp32 [M, N] out"},
        ("out = x", "too = out + x"), exact=True,
    ),
}  # fmt: skip


def case(program: str, name: str, rows: int, cols: int, blocks: int | str = 1, vec: int | None = None) -> Case:
    """One program at one size; `B` is 3."""
    whole = PROGRAMS[program]
    lines = ["spec: v1", f"name: {name}", f"constants: {{M: {rows}, N: {cols}, B: 3}}", "tensors:"]
    for tensor, words in whole.tensors.items():
        dtype, shape = words.split(" ", 1)
        shape, access = shape.rsplit(" ", 1)
        lines.append(f"  {tensor}: {{dtype: {dtype}, shape: {shape}, access: {access}}}")
    lines += ["program:", "  - region: r"]
    if blocks != 1:
        lines.append(f"    blocks: {blocks}")
    lines += ["    body:", *(f"      - {let}" if ": {" in let else f'      - let: "{let}"' for let in whole.lets), ""]
    schedules = 3 if blocks == "auto" else 2
    return Case("\n".join(lines), whole.exact, vec, allowed=whole.allowed, schedules=schedules)
