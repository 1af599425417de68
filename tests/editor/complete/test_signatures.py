"""The call around the cursor, and which of its arguments is being written."""

from __future__ import annotations

import pytest

from tests.editor.complete.asking import BODY, HEAD, TOML, call

S = HEAD + BODY
MATMUL = "matmul(lhs, rhs, a_trans=false, b_trans=false, dtype=..., phase=unspecified, final=...)"

CALLS = {
    S + "- let: y = exp(|": ("exp(x)", "x"),
    S + "- let: y = exp(|t)": ("exp(x)", "x"),
    S + "- let: y = exp(t)|": None,
    S + "- let: y = exp|": None,
    S + "- let: y = maximum(t, |": ("maximum(lhs, rhs)", "rhs"),
    S + "- let: y = maximum(exp(t), |": ("maximum(lhs, rhs)", "rhs"),
    S + "- let: y = maximum(exp(|": ("exp(x)", "x"),
    S + "- let: y = maximum((t + |": ("maximum(lhs, rhs)", "lhs"),
    S + "- let: y = maximum(t[0:4, |": ("maximum(lhs, rhs)", "lhs"),
    S + "- let: y = full([1, |": ("full(shape, value, dtype)", "shape"),
    S + "- let: y = full([1, 2], 3|": ("full(shape, value, dtype)", "value"),
    S + "- let: y = matmul(t, t, |": (MATMUL, "a_trans=false"),
    S + "- let: y = matmul(t, t, dtype=|": (MATMUL, "dtype=..."),
    S + "- let: y = matmul(t, t, dtype=bf16, |": (MATMUL, None),
    S + "- let: y = exp(t, |": ("exp(x)", None),
    S + "- let: y = gelu(t, |": ("gelu(x, approximate)", "approximate"),
    S + "- let: y = where(t > 0, |": ("where(condition, a, b)", "a"),
    S + "- let: y = norm(t, |": ("norm(t, k)", "k"),
    S + "- let: y = foo(|": None,
    S + "- let: y = foo(exp(t), exp(|": ("exp(x)", "x"),
    S + "- let: r = ceil_div(i, |": ("ceil_div(a, b)", "b"),
    S + "- load: {at: [min(i, |": ("min(a, b, ...)", "b"),
    S + "- load: {at: [\"min(i, 3, |": ("min(a, b, ...)", "..."),
    S + "- load: {at: [i * (max(|": ("max(a, b, ...)", "a"),
    S + "- if: abs(|": ("abs(a)", "a"),
    S + "- let: y = t  # exp(|": None,
    S + "- load: {into: exp(|": None,
    "constants: {a: sqrt(|": ("sqrt(a)", "a"),
    HEAD + "golden: {expect: {out: softmax(x, |": ("softmax(x, axis=-1)", "axis=-1"),
    HEAD + "golden:\n  expect:\n    out: layer_norm(|": ("layer_norm(x, eps=1e-05)", "x"),
    "": None,
}  # fmt: skip


@pytest.mark.parametrize("text", CALLS, ids=lambda text: text.removeprefix(HEAD).strip()[-40:] or "empty")
def test_the_call_around_the_cursor(text: str) -> None:
    found = call(text if "|" in text else text + "|")
    wanted = CALLS[text]
    assert (found is None) == (wanted is None)
    if found is None or wanted is None:
        return
    parts = [found.text[start:end] for start, end in found.parameters]
    shown = parts[found.active] if found.active is not None and found.active < len(parts) else None
    assert (found.text, shown) == wanted
    assert found.text == f"{found.text.partition('(')[0]}({', '.join(parts)})"


def test_the_signature_says_what_the_function_does() -> None:
    found = call(S + "- let: y = cast(t, |")
    assert found is not None
    assert "another dtype" in found.doc


def test_toml() -> None:
    found = call(TOML + '  { let = "y = matmul(t, |', "a.toml")
    assert found is not None
    assert (found.text, found.active) == (MATMUL, 1)
