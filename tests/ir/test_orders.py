"""Every order is a permutation of the cells, and the one that it says."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pypto_spec.ir.condition import holds
from pypto_spec.ir.expr import Index, Sym, bounds, evaluate, sym
from pypto_spec.ir.orders import Cell, RunTimeCountError, cell, cells

ORDERS = st.one_of(st.just(None), st.sampled_from(["row", "col"]), st.integers(1, 12).map("swizzle:{}".format))
COUNTS = st.lists(st.integers(1, 11), min_size=1, max_size=4)


def walked(order: str | None, counts: list[Index], values: dict[Sym, int]) -> list[tuple[int, ...]]:
    """The cells in their order."""
    total = evaluate(cells(counts), values)
    place = Sym("t", "loop", 0, None)
    found = cell(order, counts, sym(place))
    return [at(found, {**values, place: number}) for number in range(total)]


def at(found: Cell, values: dict[Sym, int]) -> tuple[int, ...]:
    first = found.condition is None or holds(found.condition, values)
    return tuple(evaluate(index, values) for index in (found.first if first else found.rest))


@given(ORDERS, COUNTS)
def test_every_cell_once(order: str | None, counts: list[int]) -> None:
    found = walked(order, list(counts), {})
    assert sorted(found) == list(product(*map(range, counts)))


@given(ORDERS, COUNTS)
def test_every_cell_once_where_the_first_count_is_known_at_run_time(order: str | None, counts: list[int]) -> None:
    assume((order, len(counts)) != ("col", 2))  # divides by it
    size = Sym("M", "dim", 1, None)
    found = walked(order, [sym(size), *counts[1:]], {size: counts[0]})
    assert sorted(found) == list(product(*map(range, counts)))


@given(ORDERS, st.tuples(st.integers(1, 11), st.integers(1, 11)))
def test_indices_keep_to_their_counts_at_compile_time(order: str | None, counts: tuple[int, int]) -> None:
    """Without a group that is left behind, bounds alone prove a window within its tensor."""
    found = cell(order, counts, sym(Sym("t", "loop", 0, prod(counts) - 1)))
    if found.condition is None:
        assert [bounds(index) for index in found.first] == [(0, count - 1) for count in counts]


def test_row_and_column() -> None:
    assert walked("row", [2, 3], {}) == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    assert walked("col", [2, 3], {}) == [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)]
    assert walked("col", [2, 2, 2], {})[:4] == [(0, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 1)]


def test_groups_of_rows() -> None:
    assert walked("swizzle:2", [5, 3], {}) == [
        (0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2),
        (2, 0), (3, 0), (2, 1), (3, 1), (2, 2), (3, 2),
        (4, 0), (4, 1), (4, 2),
    ]  # fmt: skip
    assert walked("swizzle:4", [3, 2], {}) == walked("col", [3, 2], {})
    assert walked("swizzle:1", [3, 2], {}) == walked("row", [3, 2], {})


@pytest.mark.parametrize("order", ["row", "col", "swizzle:3"])
def test_one_row_or_column_has_one_order(order: str) -> None:
    for counts in ([7, 1], [1, 7], [2, 7, 1]):
        place = sym(Sym("t", "loop", 0, prod(counts) - 1))
        assert cell(order, counts, place) == cell("row", counts, place)


def test_what_is_left_of_a_run_time_count_is_walked_row_by_row() -> None:
    size = Sym("M", "dim", 1, None)
    assert walked("swizzle:4", [sym(size), 2], {size: 6})[8:] == [(4, 0), (4, 1), (5, 0), (5, 1)]
    assert walked("swizzle:4", [6, 2], {})[8:] == [(4, 0), (5, 0), (4, 1), (5, 1)]


def test_a_multiple_of_the_group_leaves_nothing() -> None:
    size = Sym("M", "dim", 4, None, 4)
    assert cell("swizzle:4", [sym(size), 2], sym(Sym("t", "loop", 0))).condition is None


def test_neighbours_share_what_they_read() -> None:
    """24 blocks side by side read 4 rows and 6 columns of tiles, in place of 1 and 24."""
    for first in range(0, 40 * 24, 24):
        seen = walked("swizzle:4", [40, 24], {})[first : first + 24]
        assert (len({m for m, _ in seen}), len({n for _, n in seen})) == (4, 6)


@pytest.mark.parametrize(
    ("order", "axes", "axis"), [("row", "3N", 1), ("swizzle:2", "3N", 1), ("col", "N3", 0), ("swizzle:2", "3N3", 1)]
)
def test_a_divisor_is_known_at_compile_time(order: str, axes: str, axis: int) -> None:
    counts: list[Index] = [3 if count == "3" else sym(Sym("N", "dim", 1)) for count in axes]
    with pytest.raises(RunTimeCountError) as found:
        cell(order, counts, sym(Sym("t", "loop", 0)))
    assert found.value.axis == axis
