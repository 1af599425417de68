"""Random products of every form leave what they left before any pass, and no hint about depth."""

from __future__ import annotations

from random import Random

import pytest

from tests.passes.random_tilings import random_spec
from tests.passes.tiling_programs import Run, differing

ALLOWED = {"PH-AT-005", "PH-AT-006", "PH-AT-007", "PH-AT-008", "PH-AT-011", "PS5005", "PS7002"}


def check(seed: int) -> None:
    run = Run(random_spec(Random(seed)))
    assert differing(run) == [], seed
    assert set(run.codes) <= ALLOWED, seed


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_some(first: int) -> None:
    for seed in range(first, first + 10):
        check(seed)


@pytest.mark.long
@pytest.mark.parametrize("first", range(100, 1000, 100))
def test_many(first: int) -> None:
    for seed in range(first, first + 100):
        check(seed)
