"""Running the same function for many numbers in child processes, results in order.

The children are forked, so that they have compiled kernels and torch loaded already. One that dies takes its own task
with it and no other.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from pypto_spec.records import dataclass

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Died:
    """A task without a result: it raised, or its process was killed."""

    why: str
    traceback: str = ""


_work: Callable[[int], Any] | None = None
"""What the children run; set before they are forked."""


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it as well, and ends its children


def _one(place: int) -> Any:
    assert _work is not None
    return _guarded(_work, place)


def _guarded(work: Callable[[int], T], place: int) -> T | Died:
    try:
        return work(place)
    except Exception as error:
        return Died(f"{type(error).__name__}: {error}", "".join(traceback.format_exception(error)))


def cores() -> int:
    """How many processes can run side by side."""
    return len(os.sched_getaffinity(0))


def run_all(work: Callable[[int], T], count: int, jobs: int) -> Iterator[T | Died]:
    """`work(0)`, `work(1)`, ... as they come to be ready, in that order."""
    global _work
    jobs = min(jobs, count)
    if jobs <= 1:
        for place in range(count):
            yield _guarded(work, place)
        return
    _work = work
    first = 0
    try:
        while first < count:
            # A pool breaks as a whole when a child dies: what was not the child's fault is run again in a new pool.
            for result in _pool(first, count, jobs):
                if isinstance(result, _Broken):
                    result = next(_pool(first, first + 1, 1))
                    first += 1
                    yield Died("the process that ran it was killed") if isinstance(result, _Broken) else result
                    break
                first += 1
                yield result
    finally:
        _work = None


class _Broken:
    """A child died while this task or another one was running."""


def _pool(first: int, last: int, jobs: int) -> Iterator[Any]:
    context = multiprocessing.get_context("fork")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_ignore_interrupts)
    before = set(multiprocessing.active_children())
    try:
        waiting: list[Future[Any]] = [pool.submit(_one, place) for place in range(first, last)]
        for future in waiting:
            try:
                yield future.result()
            except BrokenProcessPool:
                yield _Broken()
    except BaseException:
        for child in set(multiprocessing.active_children()) - before:
            child.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
