"""Random products of whole arrays agree with torch, through the rendered C++ on the host model."""

from __future__ import annotations

from random import Random

import pytest

pytest.importorskip("torch")

from tests.golden.harness import Case, assert_good
from tests.golden.product_specs import draw


def _check(seed: int, count: int) -> None:
    rng = Random(seed)
    assert_good([Case(draw(rng).text(f"product_{number}")) for number in range(count)])


def test_products_agree_with_torch() -> None:
    _check(0, 30)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 21))
def test_a_thousand_products_agree_with_torch(seed: int) -> None:
    _check(seed, 50)
