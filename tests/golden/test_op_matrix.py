"""Every operator with every legal dtype at shapes that matter, through the whole compiler on the host model.

The cases come from the registry (`op_cases`). By default each operator and dtype takes some of the shapes, another part
for each dtype, so that every operator sees every shape; the `long` run takes all of them, and every rounding mode.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pytest

from pypto_spec.ir.dtype import DTYPES
from pypto_spec.ir.opdef import OpDef
from tests.golden.harness import Case, assert_good
from tests.golden.op_cases import OPS, cases, shapes

pytest.importorskip("torch")

SHAPES = 2
"""Shapes for each operator and dtype in the normal run."""
MOST = 2
"""Cases of one operator, dtype and shape in the normal run."""


def part(defn: OpDef) -> Iterator[Case]:
    """The normal run's cases of one operator."""
    number = list(OPS).index(defn.name)
    for place, dtype in enumerate(defn.dtypes):
        known = list(shapes(dtype).items())
        for step in range(SHAPES):
            word, shape = known[(number + place * SHAPES + step * 5) % len(known)]
            yield from islice(cases(defn, dtype, shape, f"{defn.name}_{dtype}_{word}", False), MOST)


GROUPS = 6


@pytest.mark.parametrize("group", range(GROUPS))
def test_means_what_torch_means(group: int) -> None:
    assert_good([case for defn in list(OPS.values())[group::GROUPS] for case in part(defn)])


@pytest.mark.parametrize("name", OPS)
def test_every_op_and_dtype_has_cases(name: str) -> None:
    defn = OPS[name]
    for dtype in defn.dtypes:
        found = [c for word, shape in shapes(dtype).items() for c in cases(defn, dtype, shape, word, False)]
        assert found, f"no case for {name} of {dtype}"
        assert all(name in c.text or defn.function or defn.infix for c in found)


@pytest.mark.long
@pytest.mark.parametrize("word", list(shapes(DTYPES["fp32"])))
@pytest.mark.parametrize("group", range(GROUPS))
def test_all_shapes(group: int, word: str) -> None:
    assert_good([
        case
        for defn in list(OPS.values())[group::GROUPS]
        for dtype in defn.dtypes
        for case in cases(defn, dtype, shapes(dtype)[word], f"{defn.name}_{dtype}_{word}", True)
    ])  # fmt: skip
