"""What formulas become: one-op statements."""

from __future__ import annotations

import pytest

from pypto_spec.ir.types import ArrayType, TileType
from tests.convert.reading import findings, lets, read, region, statements

STORE = "store: {from: res.1, to: res, at: [0, 0]}"


def test_chain() -> None:
    assert lets("y = exp(a - r) * s", "res = y / eps") == [
        "row_expand_sub: {into: y.1, x: a, v: r}",
        "exp: {into: y.2, x: y.1}",
        "muls: {into: y, x: y.2, scalar: 0.5}",
        "divs: {into: res.1, x: y, scalar: eps}",
        STORE,
    ]


@pytest.mark.parametrize(
    ("formula", "first"),
    [
        ("a + a", "add: {into: y, lhs: a, rhs: a}"),
        ("a - r", "row_expand_sub: {into: y, x: a, v: r}"),
        ("r - a", "row_expand_rsub: {into: y, v: r, x: a}"),
        ("r + a", "row_expand_add: {into: y, x: a, v: r}"),
        ("a / r", "row_expand_div: {into: y, x: a, v: r}"),
        ("r / a", "row_expand_rdiv: {into: y, v: r, x: a}"),
        ("a * c", "col_expand_mul: {into: y, x: a, v: c}"),
        ("c - a", "col_expand_rsub: {into: y, v: c, x: a}"),
        ("c / a", "col_expand_rdiv: {into: y, v: c, x: a}"),
        ("a + o", "row_expand_add: {into: y, x: a, v: o}"),
        ("o - a", "row_expand_rsub: {into: y, v: o, x: a}"),
        ("r * o", "row_expand_mul: {into: y, x: r, v: o}"),
        ("o - c", "row_expand_rsub: {into: y, v: o, x: c}"),
        ("a + 1", "adds: {into: y, x: a, scalar: 1}"),
        ("1 + a", "adds: {into: y, x: a, scalar: 1}"),
        ("a - 1", "subs: {into: y, x: a, scalar: 1}"),
        ("1 - a", "rsubs: {into: y, scalar: 1, x: a}"),
        ("a / 2.0", "divs: {into: y, x: a, scalar: 2.0}"),
        ("2.0 / a", "rdivs: {into: y, scalar: 2.0, x: a}"),
        ("a * eps", "muls: {into: y, x: a, scalar: eps}"),
        ("eps / a", "rdivs: {into: y, scalar: eps, x: a}"),
        ("q + n", "adds: {into: y, x: q, scalar: n}"),
        ("maximum(a, 0)", "maximums: {into: y, x: a, scalar: 0}"),
        ("maximum(0, a)", "maximums: {into: y, x: a, scalar: 0}"),
        ("minimum(a, a)", "minimum: {into: y, lhs: a, rhs: a}"),
        ("maximum(r, a)", "row_expand_max: {into: y, x: a, v: r}"),
        ("minimum(a, c)", "col_expand_min: {into: y, x: a, v: c}"),
        ("-a", "neg: {into: y, x: a}"),
        ("+a * -2", "muls: {into: y, x: a, scalar: -2}"),
        ("row_max(a)", "row_max: {into: y, x: a}"),
        ("col_sum(a)", "col_sum: {into: y, x: a}"),
        ("a", "reshape: {into: y, x: a, shape: [64, 128]}"),
        ("reshape(a, [128, 64])", "reshape: {into: y, x: a, shape: [128, 64]}"),
        ("cast(a, fp16, mode=rint)", "cast: {into: y, x: a, dtype: fp16, mode: rint}"),
        ("cast(a, int32, mode=rounding)", "cast: {into: y, x: a, dtype: int32, mode: floor}"),
        ("a[0:32, :]", "slice: {into: y, x: a, at: [0, 0], shape: [32, 128]}"),
        ("a[8:8 + 16, N // 2:]", "slice: {into: y, x: a, at: [8, 64], shape: [16, 64]}"),
        ("full([64, N], -inf, dtype=fp16)", "full: {into: y, shape: [64, 128], value: -inf, dtype: fp16}"),
        ("full([64, 1], eps, fp32)", "full: {into: y, shape: [64, 1], value: eps, dtype: fp32}"),
        # Numbers among themselves are folded; `/` of numbers is a fraction.
        ("a * (1 / N)", "muls: {into: y, x: a, scalar: 0.0078125}"),
        ("a * (2 * s - 3)", "muls: {into: y, x: a, scalar: -2.0}"),
        ("exp(0.0) * a", "muls: {into: y, x: a, scalar: 1.0}"),
        ("maximum(1, 2) + a", "adds: {into: y, x: a, scalar: 2}"),
    ],
)
def test_one_op(formula: str, first: str) -> None:
    assert lets(f"y = {formula}") == [first]


def test_column_and_row() -> None:
    """[M, 1] beside [1, N]: the column is spread first."""
    assert lets("y = r * c") == [
        "row_expand: {into: y.1, x: r, cols: 128}",
        "col_expand_mul: {into: y, x: y.1, v: c}",
    ]
    assert lets("y = c - r") == [
        "row_expand: {into: y.1, x: r, cols: 128}",
        "col_expand_rsub: {into: y, v: c, x: y.1}",
    ]


def test_names_of_intermediates_skip_those_in_use() -> None:
    assert lets("y.1 = a + 1", "y = exp(y.1 * 2)", "y = exp(-y)") == [
        "adds: {into: y.1, x: a, scalar: 1}",
        "muls: {into: y.2, x: y.1, scalar: 2}",
        "exp: {into: y, x: y.2}",
        "neg: {into: y.3, x: y}",
        "exp: {into: y, x: y.3}",
    ]


def test_brain_floats_are_widened_once_and_rounded_where_bound() -> None:
    assert lets("y = b * b + 1", "brain = y") == [
        "cast: {into: y.1, x: b, dtype: fp32}",
        "mul: {into: y.2, lhs: y.1, rhs: y.1}",
        "adds: {into: y.3, x: y.2, scalar: 1}",
        "cast: {into: y, x: y.3, dtype: bf16, mode: rint}",
        "store: {from: y, to: brain, at: [0, 0]}",
    ]


def test_explicit_casts_of_brain_floats() -> None:
    """A cast to fp32 takes the unrounded product; one to fp16 goes straight there."""
    assert lets("y = cast(b * b, fp32)") == [
        "cast: {into: y.1, x: b, dtype: fp32}",
        "mul: {into: y, lhs: y.1, rhs: y.1}",
    ]
    assert lets("y = cast(exp(b), fp16)")[1:] == [
        "exp: {into: y.2, x: y.1}",
        "cast: {into: y, x: y.2, dtype: fp16}",
    ]
    assert lets("y = cast(b, bf16)") == ["reshape: {into: y, x: b, shape: [64, 128]}"]


def test_views_of_brain_floats_need_no_cast() -> None:
    assert lets("y = b[0:32, :]") == ["slice: {into: y, x: b, at: [0, 0], shape: [32, 128]}"]


def test_cast_to_the_same_dtype_is_nothing() -> None:
    assert lets("y = cast(a, fp32) + 1") == ["adds: {into: y, x: a, scalar: 1}"]
    assert lets("y = cast(a, fp32, mode=floor)") == ["cast: {into: y, x: a, dtype: fp32, mode: floor}"]


def test_storing_a_value_that_has_a_name() -> None:
    assert lets("y = a + 1", "res = y")[1:] == ["store: {from: y, to: res, at: [0, 0]}"]
    assert lets("res = a") == ["reshape: {into: res.1, x: a, shape: [64, 128]}", STORE]


def test_statements_store_to_outputs_too() -> None:
    assert statements(region("exp: {into: res, x: a}")) == ["- exp: {into: res.1, x: a}", f"- {STORE}"]


def test_full_is_an_array_beside_tensors_and_a_tile_beside_tiles() -> None:
    whole = read(region("let: y = full([64, 128], 0, dtype=fp32) + a")).body[0]
    tile = read(region("load: {into: t, from: a, at: [0, 0], shape: [64, 128]}", "let: y = full([64, 1], 0, fp32) + t"))
    kinds = [type(op.results[0].type) for op in whole.body]  # type: ignore[union-attr]
    assert kinds == [ArrayType, ArrayType]
    assert [type(op.results[0].type) for op in tile.body[0].body] == [TileType] * 3  # type: ignore[union-attr]


def test_slices_with_a_loop_index() -> None:
    text = region("for: {index: i, count: 8}\nbody:\n  - let: y = x[i*64:(i+1)*64, :] + a")
    assert statements(text)[1:] == [
        "  body:",
        "    - slice: {into: y.1, x: x, at: [i * 64, 0], shape: [64, 128]}",
        "    - add: {into: y, lhs: y.1, rhs: a}",
    ]


@pytest.mark.parametrize(
    ("formula", "code", "text"),
    [
        ("h * big", "PS3031", "in fp16 100000.0 overflows to inf; the largest fp16 is 65504"),
        ("h + 1e-9", "PS3031", "in fp16 1e-09 becomes 0; the smallest normal fp16 is 6.10352e-05"),
        ("h + 2049", "PS3009", "in fp16 the integer 2049 becomes 2048"),
        ("q + 0.5", "PS3009", "in int32 0.5 becomes 0"),
        ("full([8, 8], 1e6, dtype=fp16)", "PS3031", "in fp16 1000000.0 overflows to inf; the largest fp16 is 65504"),
    ],
)
def test_literals_that_change(formula: str, code: str, text: str) -> None:
    (found,) = findings(region(f"let: y = {formula}"))
    assert (found.rule.code, found.message) == (code, text)
    assert findings(region(f"let: y = {formula}\nallow: [{code}]")) == []


def test_literal_of_a_statement() -> None:
    (found,) = findings(region("adds: {into: y, x: h, scalar: 2049}"))
    assert (found.rule.code, found.primary.span.col) == ("PS3009", 39)


def test_infinity_is_no_overflow() -> None:
    assert findings(region("let: y = maximum(h, -inf)")) == []


CHAINS = {
    "y = softmax(b)": [
        "cast: {into: y.1, x: b, dtype: fp32}",
        "row_max: {into: y.2, x: y.1}",
        "row_expand_sub: {into: y.3, x: y.1, v: y.2}",
        "exp: {into: y.4, x: y.3}",
        "row_sum: {into: y.5, x: y.4}",
        "row_expand_div: {into: y.6, x: y.4, v: y.5}",
        "cast: {into: y, x: y.6, dtype: bf16, mode: rint}",
    ],
    "y = sigmoid(h)": [
        "cast: {into: y.1, x: h, dtype: fp32}",
        "neg: {into: y.2, x: y.1}",
        "exp: {into: y.3, x: y.2}",
        "adds: {into: y.4, x: y.3, scalar: 1}",
        "rdivs: {into: y.5, scalar: 1, x: y.4}",
        "cast: {into: y, x: y.5, dtype: fp16, mode: rint}",
    ],
    # A term of a condition is computed once; branches that are numbers are spread.
    "y = where(exp(a) > r and not (c < a), c, -1)": [
        "exp: {into: y.1, x: a}",
        "col_expand: {into: y.2, x: c, rows: 64}",
        "full: {into: y.3, shape: [64, 128], value: -1, dtype: fp32}",
        "col_expand: {into: y.4, x: c, rows: 64}",
        "select: {into: y.5, lhs: y.4, rhs: a, cmp_type: lt, a: y.3, b: y.2}",
        "row_expand: {into: y.6, x: r, cols: 128}",
        "select: {into: y, lhs: y.1, rhs: y.6, cmp_type: gt, a: y.5, b: y.3}",
    ],
    "y = where(0 < q, 1, n)": [
        "full: {into: y.1, shape: [64, 128], value: 1, dtype: int32}",
        "full: {into: y.2, shape: [64, 128], value: n, dtype: int32}",
        "selects: {into: y, lhs: q, scalar: 0, cmp_type: gt, a: y.1, b: y.2}",
    ],
    "y = 7 // q + bit_and(3, q) % 4": [
        "full: {into: y.1, shape: [64, 128], value: 7, dtype: int32}",
        "floordiv: {into: y.2, lhs: y.1, rhs: q}",
        "ands: {into: y.3, x: q, scalar: 3}",
        "rems: {into: y.4, x: y.3, scalar: 4}",
        "add: {into: y, lhs: y.2, rhs: y.4}",
    ],
}


@pytest.mark.parametrize("formula", CHAINS)
def test_functions_and_choices(formula: str) -> None:
    assert lets(formula) == CHAINS[formula]


def test_a_predicate_has_a_name() -> None:
    made = statements(region(
        "load: {into: t, from: a, at: [0, 0], shape: [64, 128]}", "let: m = t >= 0.5", "let: y = where(m, t, 0)",
    ))  # fmt: skip
    assert made[1:] == [
        "- cmps: {into: m, x: t, scalar: 0.5, cmp_type: ge}",
        "- full: {into: y.1, shape: [64, 128], value: 0, dtype: fp32}",
        "- sel: {into: y, mask: m, a: t, b: y.1}",
    ]
