"""How often a loop runs, against ranges counted one by one."""

from __future__ import annotations

from itertools import product
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.diagnostics.span import Loc, Source, Span
from pypto_spec.ir.expr import Index, Sym, add, evaluate, sym
from pypto_spec.ir.loops import known_trips, least_trips, trip_bounds, trip_count, trips
from pypto_spec.ir.nodes import Condition, For

LOC = Loc(Span(Source("k.yaml", ""), 1, 1, 1, 2))
SIZE = Sym("N", "dim", 1, 100)

Given: TypeAlias = tuple[Index, dict[Sym, range]]


@pytest.mark.parametrize(
    ("start", "stop", "step", "count"),
    [
        (0, 8, 3, 3), (5, 5, 1, 0), (9, 2, 1, 0), (0, -4, 1, 0), (0, sym(SIZE), 1, None), (0, sym(SIZE), 100, 1),
        (sym(SIZE), 1, 1, 0), (sym(SIZE), add(sym(SIZE), 7), 2, 4), (0, add(sym(SIZE), 100), 101, None),
    ],
)  # fmt: skip
def test_known_trips(start: Index, stop: Index, step: Index, count: int | None) -> None:
    assert known_trips(start, stop, step) == count


def loop(stop: Index, condition: Condition | None = None) -> For:
    return For(index=Sym("i", "loop"), start=0, stop=stop, step=2, body=(), loc=LOC, condition=condition)


def test_a_condition_may_end_a_loop_early() -> None:
    assert (least_trips(loop(8)), trips(loop(8))) == (4, 4)
    assert (least_trips(loop(add(sym(SIZE), 8))), trips(loop(add(sym(SIZE), 8)))) == (5, None)
    ends = Condition("<", sym(SIZE), 5)
    assert (least_trips(loop(8, ends)), trips(loop(8, ends))) == (0, None)


def bounded(name: str, low: int, high: int) -> st.SearchStrategy[Given]:
    """A number, or a symbol with the values it may have."""

    def make(ends: tuple[int, int]) -> Given:
        first, last = sorted(ends)
        symbol = Sym(name, "dim", first, last)
        return (first, {}) if first == last else (sym(symbol), {symbol: range(first, last + 1)})

    return st.tuples(st.integers(low, high), st.integers(low, high)).map(make)


@given(bounded("a", -4, 9), bounded("b", -4, 9), bounded("c", 1, 6))
def test_bounds_hold_for_every_value_and_are_met(start: Given, stop: Given, step: Given) -> None:
    free = start[1] | stop[1] | step[1]
    counted = set()
    for values in (dict(zip(free, chosen, strict=True)) for chosen in product(*free.values())):
        ends = evaluate(start[0], values), evaluate(stop[0], values), evaluate(step[0], values)
        counted.add(len(range(*ends)))
        if isinstance(step[0], int):
            assert evaluate(trip_count(start[0], stop[0], step[0]), values) == len(range(*ends))
    assert trip_bounds(start[0], stop[0], step[0]) == (min(counted), max(counted))
