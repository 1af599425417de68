"""Byte regions: overlap agrees with the sets of bytes they stand for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.ir.access import Access, next_iteration, overlap
from pypto_spec.ir.expr import Index, Sym, add, evaluate, mod, mul, sym

IDX, J = Sym("i", "loop", 0, 3), Sym("j", "loop", 0, 2)

steps = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 40)), max_size=2).map(tuple)
constants = st.builds(Access, st.just("vec"), st.integers(0, 150), st.integers(1, 40), steps, st.booleans())
bases: st.SearchStrategy[Index] = st.builds(
    lambda c, a, b, m: add(add(c, mul(sym(IDX), a)), add(mul(sym(J), b), mul(mod(sym(IDX), 2), m))),
    st.integers(0, 100), st.sampled_from([-32, 0, 16, 64]), st.sampled_from([0, 8, 32]), st.sampled_from([0, 0, 32]),
)  # fmt: skip
moving = st.builds(Access, st.just("vec"), bases, st.integers(1, 40), steps, st.booleans())


def touched(access: Access, at: dict[Sym, int]) -> set[int]:
    starts = [evaluate(access.base, at)]
    for count, stride in access.steps:
        starts = [s + k * stride for s in starts for k in range(count)]
    return {byte for start in starts for byte in range(start, start + access.width)}


@given(constants, constants)
def test_constant_places_are_exact(a: Access, b: Access) -> None:
    assert overlap(a, b) == bool(touched(a, {}) & touched(b, {}))
    assert overlap(a, b) == overlap(b, a)


@given(constants)
def test_extent(a: Access) -> None:
    bytes_of = touched(a, {})
    assert a.extent == max(bytes_of) + 1 - min(bytes_of)


@given(moving, moving)
def test_nothing_that_can_meet_is_missed(a: Access, b: Access) -> None:
    meets = any(touched(a, {IDX: i, J: j}) & touched(b, {IDX: i, J: j}) for i in range(4) for j in range(3))
    assert overlap(a, b) or not meets


@given(moving, moving, st.sampled_from([1, 2]))
def test_nothing_of_a_later_round_is_missed(a: Access, b: Access, step: int) -> None:
    """`a` in one round of the loop over i, `b` in a later one; j is free in both."""
    later = b.moved(next_iteration(IDX, step, None, [J]))
    meets = any(
        touched(a, {IDX: i, J: j}) & touched(b, {IDX: i + k * step, J: m})
        for i in range(4) for k in range(1, 4) if i + k * step < 4 for j in range(3) for m in range(3)
    )  # fmt: skip
    assert overlap(a, later) or not meets


def rows(row: Index, width: int = 64, pitch: int = 256) -> Access:
    return Access("x", mul(row, pitch), width, ((4, pitch),), True)


def test_rows_that_follow_each_other_never_meet() -> None:
    """A chunk of rows and that of the next round, or of one further on."""
    here = rows(mul(sym(IDX), 4))
    assert not overlap(here, here.moved(next_iteration(IDX, 1, 4, [])))
    assert overlap(here, here.moved(next_iteration(J, 1, 3, [])))
    assert overlap(here, rows(add(mul(sym(IDX), 4), 3)))


def test_columns_between_each_other_are_told_apart() -> None:
    left, right = Access("x", 0, 64, ((8, 128),), True), Access("x", 64, 64, ((8, 128),), False)
    assert not overlap(left, right)
    assert overlap(left, Access("x", 63, 2, ((8, 128),), False))


def test_too_many_pieces_count_as_one() -> None:
    left, right = Access("x", 0, 1, ((8192, 2),), True), Access("x", 1, 1, ((8192, 2),), True)
    assert overlap(left, right)


@pytest.mark.parametrize("other", ["mat", "y"])
def test_spaces_are_apart(other: str) -> None:
    assert not overlap(Access("vec", 0, 32, (), True), Access(other, 0, 32, (), True))
