"""Waiting for specs to change."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence

from pypto_spec.driver.inputs import search

INTERVAL = 0.25
"""Seconds between two looks."""

Prints = dict[str, tuple[int, int, int]]


def fingerprints(paths: Sequence[str]) -> Prints:
    """Time, size and number of every file behind the arguments; folders are searched anew each time."""
    found: Prints = {}
    for path in paths:
        for file in search(path) if os.path.isdir(path) else [path]:
            try:
                stat = os.stat(file)
            except OSError:
                continue
            found[file] = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
    return found


def changes(paths: Sequence[str], sleep: Callable[[float], None] = time.sleep) -> Iterator[None]:
    """Yields at once, and again after each change; ends never."""
    known: Prints | None = None
    while True:
        now = fingerprints(paths)
        if now != known:
            known = now
            yield
        else:
            sleep(INTERVAL)
