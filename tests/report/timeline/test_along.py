"""Periods and stretches of one value, against the values themselves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.ir.expr import Index, Sym, add, floordiv, maximum, minimum, mod, mul, sub, sym
from pypto_spec.ir.nodes import Condition, Relation
from pypto_spec.report.timeline.along import Stretch, period_of
from pypto_spec.report.timeline.known import Read, value_of

I = Sym("i", "loop", 0)  # noqa: E741
N = Sym("n", "dim", 0)
RELATIONS: tuple[Relation, ...] = ("==", "!=", "<", "<=", ">", ">=")
CONSTANTS = st.integers(-9, 9)
INDICES: st.SearchStrategy[Index] = st.recursive(
    st.one_of(CONSTANTS, st.just(sym(I)), st.just(sym(N))),
    lambda inner: st.one_of(
        st.builds(add, inner, inner),
        st.builds(sub, inner, inner),
        st.builds(mul, inner, st.integers(-4, 4)),
        st.builds(mod, inner, st.integers(1, 6)),
        st.builds(floordiv, inner, st.integers(1, 6)),
        st.builds(minimum, inner, inner),
        st.builds(maximum, inner, inner),
    ),
    max_leaves=6,
)
READS: st.SearchStrategy[Read] = st.one_of(
    INDICES, st.builds(Condition, st.sampled_from(RELATIONS), INDICES, INDICES)
)  # fmt: skip


@given(READS, st.integers(0, 20))
def test_a_period_is_one(read: Read, n: int) -> None:
    period = period_of(read, I)
    if period is not None:
        values = [value_of(read, {I: i, N: n}) for i in range(3 * period + 10)]
        assert values[period:] == values[:-period]


@given(READS, st.integers(0, 20), st.integers(0, 15), st.integers(0, 30))
def test_what_is_constant_is_so_all_along(read: Read, n: int, first: int, more: int) -> None:
    constant = Stretch(I, first, first + more, {N: n}).constant(read)
    if constant is not None:
        assert {value_of(read, {I: i, N: n}) for i in range(first, first + more + 1)} == {constant}


@pytest.mark.parametrize(
    ("read", "period"),
    [
        (mod(sym(I), 4), 4),
        (mod(mul(sym(I), 2), 4), 2),
        (add(mod(sym(I), 2), mod(sym(I), 3)), 6),
        (sym(N), 1),
        (sym(I), None),
    ],
)
def test_periods(read: Index, period: int | None) -> None:
    assert period_of(read, I) == period


def test_equal_ends_are_not_enough() -> None:
    there_and_back = minimum(sym(I), sub(10, sym(I)))
    assert Stretch(I, 0, 10, {}).constant(there_and_back) is None
    assert Stretch(I, 0, 4, {}).constant(mod(sym(I), 4)) is None
    assert Stretch(I, 0, 4, {}).constant(mod(mul(sym(I), 2), 8)) is None
    assert Stretch(I, 0, 10, {}).constant(Condition("==", sym(I), 5)) is None
    assert Stretch(I, 0, 10, {}).constant(Condition("!=", sym(I), 11)) == 1


def test_tails_show() -> None:
    tail = minimum(64, sub(1000, mul(sym(I), 64)))
    assert Stretch(I, 0, 14, {}).constant(tail) == 64
    assert Stretch(I, 0, 15, {}).constant(tail) is None
    assert Stretch(I, 0, 14, {}).constant(Condition("<", sym(I), 15)) == 1
    assert Stretch(I, 0, 15, {}).constant(Condition("<", sym(I), 15)) is None
