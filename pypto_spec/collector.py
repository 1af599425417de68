"""Pausing Python's cyclic garbage collector while trees and programs are built.

A long spec is some hundred thousand objects that all stay alive and hold no cycles; the collector would walk over them
again and again, which more than doubles the time, and more so the longer the spec.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """No cyclic collection inside the block; nested blocks are fine."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
