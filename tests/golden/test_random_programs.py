"""Random programs agree with the torch meaning of what the author wrote, through the rendered C++ on the host model."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pypto_spec.golden.compare import Allowed
from tests.golden.harness import Case, Failure, check_all, report
from tests.golden.random_programs import programs

pytest.importorskip("torch")

ROUGH = Allowed(2e-2, 2e-2)


def _wrong(texts: list[str], base: str) -> list[Failure]:
    cases = [
        Case(text.replace("NAME", f"{base}_{number}"), exact=True, rough="_rough", allowed=ROUGH)
        for number, text in enumerate(texts)
    ]
    return check_all(cases)


def _check(texts: list[str]) -> None:
    failures = _wrong(texts, "random")
    assert not failures, report(failures, 2)


SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)


@settings(max_examples=4, suppress_health_check=SLOW)
@given(st.lists(programs(), min_size=12, max_size=16))
def test_programs_mean_what_they_say(texts: list[str]) -> None:
    _check(texts)


@pytest.mark.long
@settings(max_examples=420, suppress_health_check=SLOW)
@given(st.lists(programs(), min_size=12, max_size=16))
def test_thousands_of_programs_mean_what_they_say(texts: list[str]) -> None:
    _check(texts)
