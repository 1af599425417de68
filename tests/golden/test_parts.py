"""A part of a formula's value is the same part of its whole value."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from pypto_spec.golden.formula import evaluate  # noqa: E402
from pypto_spec.golden.parts import Parts  # noqa: E402

NAMES = {
    "a": torch.randn(12, 20, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).to(torch.float16),
    "b": torch.randn(20, 16, generator=torch.Generator().manual_seed(1)),
    "sq": torch.randn(16, 16, generator=torch.Generator().manual_seed(2)),
    "row": torch.randn(1, 16, generator=torch.Generator().manual_seed(3)),
    "col": torch.rand(12, 1, generator=torch.Generator().manual_seed(4)) + 0.5,
    "batch": torch.randn(3, 12, 16, generator=torch.Generator().manual_seed(5)),
    "n": torch.randint(-9, 9, (12, 16), generator=torch.Generator().manual_seed(6)).to(torch.int8),
    "alpha": 0.5,
    "K": 20,
}

FORMULAS = (
    "matmul(a, b)",
    "relu(matmul(a, b) + row) * alpha / K",
    "cast(gelu(matmul(a, b), approximate=tanh), fp16)",
    "matmul(transpose(b), transpose(a))",
    "matmul(a, b, a_trans=false)",
    "matmul(sq, sq)",
    "matmul(sq, sq) * sq - transpose(sq)",
    "matmul(batch, sq)",
    "matmul(batch, transpose(batch))",
    "col * row",
    "where(matmul(a, b) > row, col, -row)",
    "softmax(matmul(a, b))",
    "softmax(matmul(a, b), axis=0)",
    "rms_norm(matmul(a, b), eps=0.001) * row",
    "layer_norm(batch)",
    "row_sum(matmul(a, b)) + row",
    "col_max(matmul(a, b)) * col",
    "row_sum(sq)",
    "col_sum(sq)",
    "n * n + 3",
    "concat(col, matmul(a, b)[:, 0:15])",
    "reshape(matmul(a, b), [16, 12])",
    "maximum(matmul(a, b), 0)",
    "not (matmul(a, b) > 0) or col > 1",
    "full([12, 16], 2) + col",
)


@pytest.mark.parametrize("text", FORMULAS)
def test_a_part_is_part_of_the_whole(text: str) -> None:
    wide = {
        name: v.to(torch.float64 if v.is_floating_point() else torch.int64) if isinstance(v, torch.Tensor) else v
        for name, v in NAMES.items()
    }
    whole = evaluate(text, wide)
    parts = Parts(NAMES)
    assert parts.shape(text) == tuple(whole.shape)
    rng = Random(text)
    for _ in range(6):
        window = []
        for extent in whole.shape:
            start = rng.randrange(extent)
            window.append(slice(start, rng.randint(start + 1, extent)))
        found = parts.evaluate(text, tuple(window))
        torch.testing.assert_close(found, whole[tuple(window)], rtol=1e-12, atol=1e-12)


def test_a_product_computes_the_rows_and_columns_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    matmul = torch.matmul

    def watched(a: Any, b: Any) -> Any:
        seen.append((tuple(a.shape), tuple(b.shape)))
        return matmul(a, b)

    monkeypatch.setattr(torch, "matmul", watched)
    Parts(NAMES).evaluate("relu(matmul(a, b) + row)", (slice(2, 5), slice(0, 4)))
    assert seen == [((3, 20), (20, 4))]
