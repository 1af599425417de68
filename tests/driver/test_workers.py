"""Child processes: results in order, and a child that dies takes its own task with it only."""

from __future__ import annotations

import os
import time

import pytest

from pypto_spec.driver.workers import Died, run_all


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_results_come_in_order(jobs: int) -> None:
    def work(place: int) -> int:
        time.sleep(0.02 * (3 - place))
        return place * place

    assert list(run_all(work, 4, jobs)) == [0, 1, 4, 9]


@pytest.mark.parametrize("jobs", [1, 2])
def test_exception_is_a_result(jobs: int) -> None:
    def work(place: int) -> int:
        return 1 // place

    first, second = run_all(work, 2, jobs)
    assert isinstance(first, Died)
    assert "ZeroDivisionError" in first.traceback
    assert second == 1


def test_killed_child_takes_only_its_own_task() -> None:
    def work(place: int) -> int:
        if place == 1:
            os.kill(os.getpid(), 9)
        time.sleep(0.05)
        return place

    results = list(run_all(work, 4, 2))
    assert [r for r in results if not isinstance(r, Died)] == [0, 2, 3]
    assert isinstance(results[1], Died)


def test_nothing_to_do() -> None:
    assert list(run_all(lambda place: place, 0, 4)) == []
