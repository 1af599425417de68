"""What the range of a loop says: how often it runs, and which values its index takes."""

from __future__ import annotations

from math import gcd

from pypto_spec.ir.expr import Index, Sym, bounds, ceil_div, maximum, sub
from pypto_spec.ir.nodes import For


def loop_symbol(name: str, start: Index, stop: Index, step: Index) -> Sym:
    """The index of a loop, with the bounds and the common factor that its range gives it."""
    low, _ = bounds(start)
    _, high = bounds(stop)
    if high is not None:
        high -= 1
        if isinstance(start, int) and isinstance(step, int) and high >= start:
            high = start + (high - start) // step * step
        if low is not None:
            high = max(high, low)
    multiple = gcd(start, step) if isinstance(start, int) and isinstance(step, int) else 1
    return Sym(name, "loop", low, high, max(multiple, 1))


def trip_count(start: Index, stop: Index, step: int) -> Index:
    """Iterations over `start <= index < stop` by a positive `step`; none where `stop` is not above `start`."""
    return maximum(ceil_div(sub(stop, start), step), 0)


def trips(loop: For) -> int | None:
    """How often a loop runs, where that is known."""
    if loop.condition is not None or not isinstance(loop.step, int) or loop.step <= 0:
        return None
    count = trip_count(loop.start, loop.stop, loop.step)
    return count if isinstance(count, int) else None
