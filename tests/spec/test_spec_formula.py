"""Formulas: grammar, printing, and bounds."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.spec.formula import (
    Binary,
    Boolean,
    Call,
    Compare,
    Expr,
    FormulaError,
    Keyword,
    Let,
    ListExpr,
    Logical,
    Name,
    Number,
    Slice,
    Subscript,
    Unary,
    names,
    number,
    parse_expression,
    parse_let,
    to_text,
    walk,
)
from pypto_spec.spec.formula.walk import height

WORDS = st.sampled_from(["a", "b1", "m_new", "t.1", "x.20", "_"])
NUMBERS = st.one_of(
    st.integers(0, 2**63 - 1),
    st.floats(0, allow_nan=False, allow_infinity=False),
    st.sampled_from([math.inf, math.nan]),
).map(Number)
ATOMS: st.SearchStrategy[Expr] = st.one_of(NUMBERS, st.booleans().map(Boolean), WORDS.map(Name))


def _compound(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    optional = st.one_of(st.none(), inner)
    index = st.one_of(inner, st.builds(Slice, optional, optional, optional))
    keywords = st.dictionaries(st.sampled_from(["dtype", "mode"]), inner, max_size=2).map(
        lambda found: tuple(Keyword(name, value) for name, value in found.items())
    )
    return st.one_of(
        st.builds(Unary, st.sampled_from(["-", "+", "not"]), inner),
        st.builds(Binary, st.sampled_from(["+", "-", "*", "/", "//", "%", "**"]), inner, inner),
        st.builds(Compare, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), inner, inner),
        st.builds(Logical, st.sampled_from(["and", "or"]), inner, inner),
        st.builds(Call, st.sampled_from(["exp", "min"]), st.lists(inner, max_size=3).map(tuple), keywords),
        st.builds(Subscript, inner, st.lists(index, min_size=1, max_size=3).map(tuple)),
        st.builds(ListExpr, st.lists(inner, max_size=3).map(tuple)),
    )


EXPRS = st.recursive(ATOMS, _compound, max_leaves=12)


@given(EXPRS)
def test_printing_and_parsing_are_inverse(expr: Expr) -> None:
    text = to_text(expr)
    assert parse_expression(text) == expr, text
    assert to_text(parse_expression(text)) == text


@given(EXPRS)
def test_printed_formulas_stay_one_scalar_in_a_block(expr: Expr) -> None:
    assert ": " not in to_text(expr)
    assert " #" not in to_text(expr)


@given(EXPRS, st.sampled_from(["", " ", "  ", "\n\t"]))
def test_every_part_knows_its_text(expr: Expr, blanks: str) -> None:
    text = blanks + to_text(Let("y", expr)).replace(" ", blanks + " ")
    for part in walk(parse_let(text)):
        piece = text[part.start : part.end]
        assert piece == piece.strip() != "" or isinstance(part, Slice)
        if isinstance(part, Name):
            assert piece == part.id
        elif isinstance(part, (Let, Keyword)):
            assert piece == (part.target if isinstance(part, Let) else part.name)
        elif isinstance(part, (Number, Boolean, Unary, Subscript, ListExpr, Call, Binary, Compare, Logical)):
            assert parse_expression(piece) == part


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("-2 ** 2", Unary("-", Binary("**", Number(2), Number(2)))),
        ("2 ** -1", Binary("**", Number(2), Unary("-", Number(1)))),
        ("a - b - c", Binary("-", Binary("-", Name("a"), Name("b")), Name("c"))),
        ("a // b * c", Binary("*", Binary("//", Name("a"), Name("b")), Name("c"))),
        ("not a == b and c", Logical("and", Unary("not", Compare("==", Name("a"), Name("b"))), Name("c"))),
        ("a or b and c", Logical("or", Name("a"), Logical("and", Name("b"), Name("c")))),
        ("-inf", Unary("-", Number(math.inf))),
        ("010", Number(10)),
        ("0x10", Number(16)),
        (
            "k[j*BK:(j+1)*BK, :]",
            Subscript(
                Name("k"),
                (
                    Slice(
                        Binary("*", Name("j"), Name("BK")), Binary("*", Binary("+", Name("j"), Number(1)), Name("BK"))
                    ),
                    Slice(None, None),
                ),
            ),
        ),
        ("x[::2]", Subscript(Name("x"), (Slice(None, None, Number(2)),))),
        ("f([a, 1], dtype=fp32)", Call("f", (ListExpr((Name("a"), Number(1))),), (Keyword("dtype", Name("fp32")),))),
    ],
)
def test_trees(text: str, tree: Expr) -> None:
    assert parse_expression(text) == tree


def test_let() -> None:
    found = parse_let("  m.2 = maximum(m, row_max(s))")
    assert (found.target, found.start, found.end) == ("m.2", 2, 5)
    assert to_text(found) == "m.2 = maximum(m, row_max(s))"
    assert [name.id for name in names(found)] == ["m", "s"]


@pytest.mark.parametrize(
    ("value", "text"), [(3, "3"), (-3, "-3"), (-0.0, "-0.0"), (-math.inf, "-inf"), (math.nan, "nan"), (1e20, "1e+20")]
)
def test_numbers_of_any_sign(value: float, text: str) -> None:
    assert to_text(number(value)) == text
    assert parse_expression(text) == number(value)


# text, the text under the error, a piece of its message or help
WRONG = [
    ("", "", "empty"),
    ("   ", "", "empty"),
    ("(", "", "too early"),
    ("(a", "(", "never closed"),
    ("a)", ")", "closes nothing"),
    ("f(a, b", "(", "never closed"),
    ("[a, b", "[", "never closed"),
    ("k[a", "[", "never closed"),
    ("(a]", "]", "`)` expected"),
    ("a b", "b", "operator is missing"),
    ("2x", "2x", "neither"),
    ("1.2.3", ".3", "operator"),
    ("a.b", ".", "no attributes"),
    ("a.__class__", ".", "no attributes"),
    ("x = 1", "=", "`==`"),
    ("a, b", ",", "brackets"),
    ("(a, b)", ",", "tuples"),
    ("a : b", ":", "slice"),
    ("a < b < c", "<", "chain"),
    ("a + not b", "not", "parentheses"),
    ("a if b else c", "if", "`if`"),
    ("f(a=1, 2)", "2", "come first"),
    ("f(a=1, a=2)", "a", "once"),
    ("f(1)(2)", "(", "only a name"),
    ("2(3)", "(", "only a name"),
    ("t.1(3)", "(", "only a name"),
    ("k[]", "[", "no index"),
    ("k[:::]", ":", "at most"),
    ("k[,]", ",", "index is missing"),
    ("'fp32'", "'", "without quotes"),
    ("$mode", "$", "without `$`"),
    ("a & b", "&", "and"),
    ("!a", "!", "not"),
    ("x（1）", "（", "write `(`"),
    ("a\u3000+ b", "\u3000", "write"),
    ("名 + 1", "名", "ASCII"),
    ("a名", "a名", "ASCII"),
    ("True", "True", "`true`"),
    ("lambda: 1", "lambda", "no Python"),
    ("eval(x)", "eval", "no Python"),
    ("a @ b", "@", "matmul"),
    ("+", "", "too early"),
    ("and", "and", "missing"),
    ("99999999999999999999", "99999999999999999999", "64 bits"),
    ("1e999", "1e999", "too large"),
]


@pytest.mark.parametrize(("text", "under", "words"), WRONG)
def test_wrong_formulas(text: str, under: str, words: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse_expression(text)
    error = caught.value
    assert text[error.start : error.end] == under
    assert words in f"{error.message} {error.help}"


@pytest.mark.parametrize("text", ["y == 1", "1 = y", "a, b = f(x)", "y", "y =", "inf = 1", "y = 1; z = 2", "y := 1"])
def test_wrong_lets(text: str) -> None:
    with pytest.raises(FormulaError):
        parse_let(text)


@pytest.mark.parametrize(
    "text",
    [
        "x" * 1_000_000,
        "(" * 10_000 + "x" + ")" * 10_000,
        "(" * 8_000,
        "-" * 10_000 + "x",
        "not " * 4_000 + "x",
        "f(" * 5_000,
        "k[" * 5_000,
        "[" * 10_000,
        "2**" * 5_000 + "2",
        "+".join(["x"] * 8_000),
        "a" + "[0]" * 5_000,
        "9" * 16_000,
        "1e" + "9" * 16_000,
        ".".join(["1"] * 8_000),
        "x," * 8_000,
        "0x" + "f" * 16_000,
    ],
)
def test_hostile_formulas_end_soon(text: str) -> None:
    start = time.process_time()
    with pytest.raises(FormulaError):
        parse_expression(text)
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    "text", ["+".join(["x"] * 200), "f(" * 79 + ")" * 79, "x" + "[0]" * 190, "(" * 79 + "x" + ")" * 79]
)
def test_formulas_at_the_bounds_are_printed(text: str) -> None:
    expr = parse_expression(text)
    assert height(expr) <= 200
    assert parse_expression(to_text(expr)) == expr


@given(st.text(alphabet="ab1.()[]:,=+-*/%<>!&'\"$ \n（中", max_size=40))
def test_no_text_brings_a_traceback(text: str) -> None:
    for error in (_refusal(parse_expression, text), _refusal(parse_let, text)):
        if error is not None:
            assert 0 <= error.start <= error.end <= len(text)
            assert error.help


def _refusal(parse: Callable[[str], object], text: str) -> FormulaError | None:
    try:
        parse(text)
    except FormulaError as error:
        return error
    return None
