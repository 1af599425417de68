"""What the range of a loop says: how often it runs, and which values its index takes.

Steps are positive: the reader refuses others. A loop with a condition may end earlier than its range says. The checker
counts for itself: its proof does not lean on what decided the places of flags.
"""

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
    """Iterations over `start <= index < stop`, as an expression; none where `stop` is not above `start`."""
    return maximum(ceil_div(sub(stop, start), step), 0)


def trip_bounds(start: Index, stop: Index, step: Index) -> tuple[int, int | None]:
    """The fewest and the most iterations over a range whose ends or step are not known; None where there is no most."""
    low, high = bounds(sub(stop, start))
    short, long = bounds(step)
    least = 0 if low is None or low <= 0 else 1 if long is None else -(-low // long)
    most = None if high is None else max(-(-high // max(short or 1, 1)), 0)
    return least, most


def known_trips(start: Index, stop: Index, step: Index) -> int | None:
    """Iterations over a range, where bounds leave one number."""
    least, most = trip_bounds(start, stop, step)
    return least if least == most else None


def trips(loop: For) -> int | None:
    """How often a loop runs, where that is known; of one with a condition it is not."""
    return None if loop.condition is not None else known_trips(loop.start, loop.stop, loop.step)


def least_trips(loop: For) -> int:
    """How often a loop runs at least; one with a condition may not run at all."""
    return 0 if loop.condition is not None else trip_bounds(loop.start, loop.stop, loop.step)[0]
