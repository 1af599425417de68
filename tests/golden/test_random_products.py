"""Random products of whole arrays agree with torch, through the rendered C++ on the host model."""

from __future__ import annotations

from random import Random

import pytest

pytest.importorskip("torch")

from tests.golden.harness import Case, assert_good
from tests.golden.product_specs import Product, draw

FOUND = (
    # accumulators of int8 have more columns than are stored: no unit flag goes down there
    Product(142, 105, 32, "int8", "int32", a_trans=True, batch=(2, 2), shared=True, target="{unit_flag: true}"),
    Product(11, 6, 400, "int8", "int32", blocks="auto", order="{swizzle: 3}", target="{unit_flag: true}"),
    Product(367, 208, 384, "fp16", "bf16", a_trans=True, b_trans=True, relu=True, target="{unit_flag: true}"),
    # one column, which is no column vector
    Product(139, 1, 175, "fp16", "fp16", b_trans=True, relu=True, batch=(2, 2)),
    Product(304, 1, 597, "fp16", "fp32", a_trans=True, b_trans=True, bias=True, blocks="2"),
    # an odd number of blocks in an odd number of chunks
    Product(240, 97, 448, "fp32", "fp16", a_trans=True, b_trans=True),
    Product(480, 29, 304, "fp32", "fp32", b_trans=True),
    Product(510, 241, 576, "fp32", "bf16", target="{unit_flag: true}"),
    # the first rows of a matrix in L1 are overwritten before its last columns are read
    Product(512, 128, 432, "fp32", "fp32", relu=True),
)
"""Products that did not compile, or were called wrong, once."""


def _check(seed: int, count: int) -> None:
    rng = Random(seed)
    assert_good([Case(draw(rng).text(f"product_{number}")) for number in range(count)])


def test_products_agree_with_torch() -> None:
    _check(0, 30)


def test_products_that_went_wrong_once() -> None:
    assert_good([Case(product.text(f"found_{number}")) for number, product in enumerate(FOUND)])


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 21))
def test_a_thousand_products_agree_with_torch(seed: int) -> None:
    _check(seed, 50)
