"""Index expressions: whatever they simplify to has the value of what was written."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.convert.exprs import Expressions
from pypto_spec.convert.scope import Name, Scope
from pypto_spec.diagnostics.span import Source, Span
from pypto_spec.ir.expr import (
    Expr,
    Index,
    Sym,
    add,
    bounds,
    ceil_div,
    coefficient,
    evaluate,
    floordiv,
    maximum,
    minimum,
    mod,
    mul,
    neg,
    sub,
    substitute,
    sym,
    symbols,
    to_text,
)
from pypto_spec.spec.formula import parse_expression

IDX, J, N, D = Sym("i", "loop", 0, 7), Sym("j", "loop", -3, 4), Sym("N", "dim", 16, 256, 16), Sym("d", "dim", 1)
SYMBOLS = (IDX, J, N, D)

Values = Mapping[Sym, int]

numbers = st.integers(-12, 12)
divisors = st.sampled_from([1, 2, 3, 4, 8, 16, 64])
values = st.fixed_dictionaries(
    {IDX: st.integers(0, 7), J: st.integers(-3, 4), N: st.integers(1, 16).map(lambda k: 16 * k), D: st.integers(1, 50)}
)


def trees(affine: bool = False) -> st.SearchStrategy[Index]:
    leaves: st.SearchStrategy[Index] = numbers | st.sampled_from(SYMBOLS).map(sym)

    def grow(inner: st.SearchStrategy[Index]) -> st.SearchStrategy[Index]:
        made = (
            st.builds(add, inner, inner)
            | st.builds(sub, inner, inner)
            | st.builds(mul, inner, numbers)
            | st.builds(floordiv, inner, divisors)
            | st.builds(mod, inner, divisors)
            | st.builds(minimum, inner, inner)
            | st.builds(maximum, inner, inner, inner)
        )
        return made if affine else made | st.builds(mul, inner, inner)

    return st.recursive(leaves, grow, max_leaves=8)


indices = trees()


@given(indices, indices, numbers, divisors, values)
def test_operations_have_their_value(a: Index, b: Index, k: int, by: int, at: Values) -> None:
    x, y = evaluate(a, at), evaluate(b, at)
    assert evaluate(add(a, b), at) == x + y
    assert evaluate(sub(a, b), at) == x - y
    assert evaluate(neg(a), at) == -x
    assert evaluate(mul(a, k), at) == x * k
    assert evaluate(mul(a, b), at) == x * y
    assert evaluate(floordiv(a, by), at) == x // by
    assert evaluate(mod(a, by), at) == x % by
    assert evaluate(ceil_div(a, by), at) == -(-x // by)
    assert evaluate(minimum(a, b, k), at) == min(x, y, k)
    assert evaluate(maximum(a, b, k), at) == max(x, y, k)


@given(indices, indices, indices, numbers)
def test_one_form_for_equal_sums(a: Index, b: Index, c: Index, k: int) -> None:
    assert add(a, b) == add(b, a)
    assert add(add(a, b), c) == add(a, add(b, c))
    assert sub(add(a, b), b) == a
    assert sub(a, a) == 0
    assert mul(add(a, b), k) == add(mul(a, k), mul(b, k))
    assert mul(a, b) == mul(b, a)
    assert minimum(a, b) == minimum(b, a)
    assert maximum(a, maximum(b, c)) == maximum(maximum(a, b), c)
    assert minimum(a, a) == a == maximum(a, a)


@given(indices, divisors, numbers)
def test_whole_parts_leave_a_quotient(a: Index, by: int, k: int) -> None:
    assert floordiv(mul(a, by), by) == a
    assert mod(mul(a, by), by) == 0
    assert floordiv(add(a, by * k), by) == add(floordiv(a, by), k)
    assert mod(add(a, by * k), by) == mod(a, by)


@given(indices, values)
def test_bounds_hold(a: Index, at: Values) -> None:
    low, high = bounds(a)
    value = evaluate(a, at)
    assert low is None or low <= value
    assert high is None or value <= high


@given(indices, indices, indices, values)
def test_substitution_is_evaluation_in_two_steps(a: Index, b: Index, c: Index, at: Values) -> None:
    inner = {**at, IDX: evaluate(b, at), D: evaluate(c, at)}
    replaced = substitute(a, {IDX: b, D: c})
    if _inside(inner):
        assert evaluate(replaced, at) == evaluate(a, inner)


def _inside(at: Values) -> bool:
    """Whether the values keep to what their symbols say: only then did simplifying have a right to lean on it."""
    return all((s.low is None or s.low <= v) and (s.high is None or v <= s.high) for s, v in at.items())


@given(indices, values)
def test_symbols_and_coefficients(a: Index, at: Values) -> None:
    found = symbols(a)
    assert found <= set(SYMBOLS)
    assert evaluate(a, {s: v for s, v in at.items() if s in found}) == evaluate(a, at)
    factor = coefficient(a, IDX)
    if IDX not in found:
        assert factor == 0
    if factor is not None:
        assert evaluate(substitute(a, {IDX: add(sym(J), 1)}), at) - evaluate(substitute(a, {IDX: sym(J)}), at) == factor


@given(indices)
def test_text_reads_back(a: Index) -> None:
    reader = Expressions(scope())
    reader.affine = False
    assert reader.index(parse_expression(to_text(a))) == a


@given(trees(affine=True))
def test_text_of_what_may_stand_in_a_spec_reads_back(a: Index) -> None:
    assert Expressions(scope()).index(parse_expression(to_text(a))) == a


def scope() -> Scope:
    made = Scope()
    span = Span(Source("k.yaml", ""), 1, 1, 1, 2)
    for symbol in SYMBOLS:
        made.set(Name(symbol.name, "index", span, index=sym(symbol)))
    return made


@pytest.mark.parametrize(
    ("index", "text"),
    [
        (0, "0"),
        (sub(mul(add(sym(J), 1), 64), mul(sym(J), 64)), "64"),
        (add(mul(sym(IDX), -4), 3), "-i * 4 + 3"),
        (sub(sym(IDX), sym(J)), "i - j"),
        (mod(sym(IDX), 2), "(i % 2)"),
        (mod(sym(IDX), 8), "i"),
        (floordiv(sym(IDX), 8), "0"),
        (floordiv(add(mul(sym(IDX), 8), 3), 8), "i"),
        (floordiv(add(mul(sym(N), 2), 1), 4), "((N * 2 + 1) // 4)"),
        (mod(sym(N), 16), "0"),
        (mod(add(sym(N), 3), 8), "3"),
        (minimum(sym(IDX), 7), "i"),
        (minimum(sub(sym(D), sym(IDX)), 64), "min(d - i, 64)"),
        (maximum(sym(IDX), -1, sym(J)), "max(i, j)"),
        (mul(sym(IDX), sym(N)), "N * i"),
    ],
)
def test_forms(index: Index, text: str) -> None:
    assert to_text(index) == text


def test_a_value_that_is_missing_is_named() -> None:
    with pytest.raises(KeyError, match="d, j"):
        evaluate(add(add(sym(IDX), sym(J)), sym(D)), {IDX: 1})


def test_symbols_are_told_apart_by_identity() -> None:
    again = Sym("i", "loop", 0, 7)
    assert isinstance(sub(sym(again), sym(IDX)), Expr)
    assert sym(again) != sym(IDX)
