"""Which bytes strided accesses share, against sets of bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.check.ranges import Distance, Shape, distances, may_touch, shape, touch
from pypto_spec.ir.expr import Sym, add, evaluate, floordiv, minimum, mod, mul, sub, sym

STEPS = st.lists(st.tuples(st.integers(0, 4), st.sampled_from([0, 3, 8, 16, 40, 64])), max_size=3).map(tuple)


def bytes_of(width: int, steps: tuple[tuple[int, int], ...]) -> set[int]:
    starts = {0}
    for count, stride in steps:
        starts = {s + k * stride for s in starts for k in range(count)}
    return {s + b for s in starts for b in range(width)}


def made(found: Shape | None) -> set[int]:
    return set() if found is None else bytes_of(found.width, found.steps)


@given(st.integers(0, 20), STEPS)
def test_a_shape_is_the_same_bytes(width: int, steps: tuple[tuple[int, int], ...]) -> None:
    found = shape(width, steps)
    expected = bytes_of(width, steps)
    assert made(found) == expected
    if found is not None:
        assert found.extent == max(expected) + 1


@given(st.integers(1, 20), STEPS, st.integers(1, 20), STEPS, st.integers(-200, 200))
def test_touch_is_exact(
    width: int, steps: tuple[tuple[int, int], ...], other: int, others: tuple[tuple[int, int], ...], apart: int
) -> None:
    a, b = shape(width, steps), shape(other, others)
    if a is not None and b is not None:
        assert touch(a, b, apart) == bool(bytes_of(width, steps) & {x + apart for x in bytes_of(other, others)})


@given(
    st.integers(1, 9), STEPS, st.integers(1, 9), st.sampled_from([1, 4, 16]), st.integers(-40, 40), st.integers(0, 9)
)
def test_progressions(
    width: int, steps: tuple[tuple[int, int], ...], other: int, unit: int, low: int, count: int
) -> None:
    a, b = shape(width, steps), shape(other, ())
    if a is not None and b is not None:
        values = [low + k * unit for k in range(count + 1)]
        assert may_touch(a, b, Distance(low, unit, low, values[-1]), 3) == any(touch(a, b, v + 3) for v in values)


@given(st.integers(-3, 3), st.integers(-3, 3), st.integers(-3, 3), st.integers(2, 4), st.integers(0, 12))
def test_distances_hold_every_value(factor: int, turn: int, whole: int, period: int, last: int) -> None:
    i = Sym("i", "loop", 0, last)
    index = add(add(mul(sym(i), factor), mul(mod(sym(i), period), turn)), mul(floordiv(sym(i), period), whole))
    index = add(index, minimum(sym(i), 5))
    one = shape(1, ())
    assert one is not None
    for value in range(last + 1):
        at = evaluate(index, {i: value})
        assert any(may_touch(one, one, d, -at) for d in distances(index))


def test_remainders_are_exact() -> None:
    i = Sym("i", "loop", 0, 99)
    later = add(sym(i), 1)
    one = distances(sub(mul(mod(sym(i), 2), 64), mul(mod(later, 2), 64)))
    assert {d.base for d in one} == {64, -64}
    assert all(d.unit == 0 for d in one)


def test_rows_far_beyond_the_limit_are_decided_by_their_gaps() -> None:
    rows = shape(32, ((100_000, 128),))
    assert rows is not None
    assert not touch(rows, rows, 64)
    assert touch(rows, rows, 128 * 500)
    assert not may_touch(rows, rows, Distance(32, 1, 32, 96), 0)
    assert may_touch(rows, rows, Distance(0, 1, None, None), 0)
