"""PS3036: a softmax without its maximum is reported, and nothing else."""

from __future__ import annotations

import pytest

from tests.report.findings import found


def spec(*body: str, dtype: str = "fp32", more: str = "") -> str:
    return "\n".join([
        "spec: v1",
        "name: k",
        "symbols: {N: {min: 1, max: 128}}",
        "tensors:",
        f"  x: {{dtype: {dtype}, shape: [64, 128]}}",
        f"  out: {{dtype: {dtype}, shape: [64, 128], access: out}}",
        more,
        "program:",
        "  - region: r",
        "    body:",
        *(f"      {line}" for line in body),
        "",
    ])  # fmt: skip


LOAD = "- load: {into: t, from: x, at: [0, 0], shape: [64, 128]}"
STORE = "- store: {from: y, to: out, at: [0, 0]}"

UNSAFE = {
    "plain": ["- let: e = exp(t)", "- let: y = e / row_sum(e)"],
    "inline": ["- let: y = exp(t) / row_sum(exp(t))"],
    "scaled": ["- let: e = exp(t * 0.125 + 1)", "- let: y = e / row_sum(e)"],
    "columns": ["- let: e = exp(t)", "- let: y = e / col_sum(e)"],
    "reciprocal": ["- let: e = exp(t)", "- let: y = e * recip(row_sum(e))"],
    "statements": ["- exp: {into: e, x: t}", "- row_sum: {into: s, x: e}", "- row_expand_div: {into: y, x: e, v: s}"],
}
SAFE = {
    "shifted": ["- let: e = exp(t - row_max(t))", "- let: y = e / row_sum(e)"],
    "clamped": ["- let: e = exp(minimum(t, 60))", "- let: y = e / row_sum(e)"],
    "negative": ["- let: e = exp(-abs(t))", "- let: y = e / row_sum(e)"],
    "expdif": [
        "- row_max: {into: m, x: t}", "- row_expand_expdif: {into: e, x: t, v: m}", "- let: y = e / row_sum(e)",
    ],
    "no_softmax": ["- let: y = exp(t)"],
    "other_sum": ["- let: e = exp(t)", "- let: y = e / row_sum(t)"],
    "differences": ["- let: e = exp(t - t * t)", "- let: y = e / row_sum(e)"],
    "formula": ["- let: y = softmax(t)"],
    "sigmoid": ["- let: y = 1 / (exp(-t) + 1)"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "dtype"),
    [(n, d) for n in UNSAFE for d in ("fp32", "fp16", "bf16") if (n, d) != ("statements", "bf16")],
)
def test_reported(name: str, dtype: str) -> None:
    body = UNSAFE[name]
    (only,) = found(spec(LOAD, *body, STORE, dtype=dtype), "PS3036")
    assert ("11.09" if dtype == "fp16" else "88.72") in only.message
    assert ("col_max(" if name == "columns" else "row_max(") in only.helps[0]


@pytest.mark.parametrize("name", SAFE)
def test_not_reported(name: str) -> None:
    assert found(spec(LOAD, *SAFE[name], STORE), "PS3036") == []


def test_of_whole_arrays() -> None:
    assert len(found(spec("- let: e = exp(x)", "- let: out = e / row_sum(e)"), "PS3036")) == 1
    assert found(spec("- let: e = exp(x - row_max(x))", "- let: out = e / row_sum(e)"), "PS3036") == []


def test_it_can_be_allowed() -> None:
    body = ["- let: e = exp(t)", "  allow: PS3036", "- let: y = e / row_sum(e)"]
    assert found(spec(LOAD, *body, STORE), "PS3036") == []
    text = spec(LOAD, *UNSAFE["plain"], STORE, more="diagnostics: {disable: [PS3036]}")
    assert found(text, "PS3036") == []
