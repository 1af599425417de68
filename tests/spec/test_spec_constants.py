"""Constants: their values, their overrides, and what can be wrong with them."""

from __future__ import annotations

import time

import pytest

from pypto_spec.diagnostics.span import Source
from pypto_spec.spec.formula import FormulaError, parse_expression
from pypto_spec.spec.formula.constants import resolve_constants
from pypto_spec.spec.formula.integer import Value, evaluate, evaluate_int
from pypto_spec.spec.yaml_loader import load_yaml
from tests.spec.places import cut

NAMES: dict[str, Value] = {"K": 512, "n": -7, "f": 0.5, "mode": "up_down", "on": True}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("K // 4 + 1", 129),
        ("n // 2", -4),
        ("n % 4", 1),
        ("ceil_div(K + 1, 4)", 129),
        ("ceil_div(n, 2)", -3),
        ("-2 ** 2", -4),
        ("min(3, K, n)", -7),
        ("max(K, f)", 512),
        ("abs(n)", 7),
        ("1.0 / K", 1 / 512),
        ("f * 2", 1.0),
        ("sqrt(16)", 4.0),
        ("2 ** 10", 1024),
        ("(-1) ** 1000000000001", -1),
        ("0 ** 0", 1),
        ("2.0 ** -1", 0.5),
        ("K > 3 and not on", False),
        ("on or 1 // 0 == 1", True),
        ("mode == up_down", True),
        ("mode != left_right", True),
        ("K == 512.0", True),
        ("-9223372036854775808", -(2**63)),
        ("7.5 // 2", 3.0),
    ],
)
def test_values(text: str, value: object) -> None:
    found = evaluate(parse_expression(text), NAMES)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "under", "words"),
    [
        ("K / 4", "K / 4", "`//`"),
        ("K // (n + 7)", "n + 7", "by zero"),
        ("f % 0", "0", "by zero"),
        ("ceil_div(1, 0)", "0", "by zero"),
        ("10 ** 10 ** 10", "10 ** 10 ** 10", "64 bits"),
        ("9223372036854775807 + 1", "9223372036854775807 + 1", "64 bits"),
        ("1e300 * 1e300 * 0 + 2.0 ** 5000", "2.0 ** 5000", "64 bits"),
        ("2 ** -1", "-1", "float"),
        ("q + 1", "q", "not a constant"),
        ("mde", "mde", "did you mean `mode`?"),
        ("mode + 1", "mode", "number is needed"),
        ("on + 1", "on", "number is needed"),
        ("K and on", "K", "condition"),
        ("mode < 1", "mode", "no order"),
        ("mode == 1", "mode == 1", "cannot be equal"),
        ("x[0]", "x[0]", "slice"),
        ("[1]", "[1]", "list"),
        ("foo(1)", "foo", "known are"),
        ("sqrt(n)", "sqrt(n)", "no value"),
        ("sqrt(1, 2)", "sqrt(1, 2)", "1 argument,"),
        ("min(a=1)", "min(a=1)", "named"),
        ("ceil_div(1.5, 2)", "ceil_div(1.5, 2)", "integers"),
        ("exp(1000)", "exp(1000)", "no value"),
        ("(-2) ** 0.5", "(-2) ** 0.5", "fractional"),
        ("9223372036854775808", "9223372036854775808", "64"),
    ],
)
def test_no_values(text: str, under: str, words: str) -> None:
    start = time.process_time()
    with pytest.raises(FormulaError) as caught:
        evaluate(parse_expression(text), NAMES)
    assert time.process_time() - start < 1
    error = caught.value
    assert text[error.start : error.end] == under
    assert words in f"{error.message} {error.help}"


@pytest.mark.parametrize("text", ["f", "mode", "on", "1.0"])
def test_sizes_are_integers(text: str) -> None:
    with pytest.raises(FormulaError, match="an integer is needed"):
        evaluate_int(parse_expression(text), NAMES)
    assert evaluate_int(parse_expression("K"), NAMES) == 512


def resolve(text: str, **defines: str) -> tuple[dict[str, Value], list[tuple[str, str, str]]]:
    root = load_yaml(Source("s", text))
    found, errors = resolve_constants(root.get("constants"), defines)
    return (
        {name: constant.value for name, constant in found.items()},
        [(d.rule.code, cut(d.primary.span), d.message) for d in errors],
    )


def test_any_order_and_kind() -> None:
    values, errors = resolve("constants: {A: B // 2, B: 4 * C, C: 8, mode: up_down, s: 1 / sqrt(A), on: yes, t: true}")
    assert errors == []
    assert values == {"A": 16, "B": 32, "C": 8, "mode": "up_down", "s": 0.25, "on": "yes", "t": True}
    assert list(values) == ["A", "B", "C", "mode", "s", "on", "t"]
    assert resolve("name: x") == ({}, [])


def test_one_error_per_cause() -> None:
    values, errors = resolve(
        "constants: {A: B, B: A + 1, C: C, D: A, E: 1 // 0, F: E, G: q + 1, H: [1], 1x: 2, I: , J: 5, K: (}"
    )
    assert values == {"J": 5}
    assert [(code, under) for code, under, _ in errors] == [
        ("PS1014", "[1]"),
        ("PS2012", "1x"),
        ("PS1014", "I"),
        ("PS1017", ""),
        ("PS2010", "B"),
        ("PS2010", "C"),
        ("PS1020", "0"),
        ("PS2001", "q"),
    ]


SECTION = "constants: {A: 4, B: A * 2, m: up, f: 0.5}"


def test_overrides() -> None:
    assert resolve(SECTION, A="8", m="down", f="2") == ({"A": 8, "B": 16, "m": "down", "f": 2.0}, [])
    assert resolve(SECTION, B="A + 1")[0]["B"] == 5


@pytest.mark.parametrize(
    ("name", "value", "code", "words"),
    [
        ("A", "8.5", "PS2011", "`A` is an integer"),
        ("m", "3", "PS2011", "`m` is a word"),
        ("f", "x", "PS2011", "`f` is a float"),
        ("Z", "1", "PS2011", "no constant of the spec"),
        ("A", "", "PS2011", "`A` is an integer"),
        ("A", "B*", "PS1017", "too early"),
        ("A", "1 // 0", "PS1020", "zero"),
        ("A", "9" * 30, "PS1018", "64 bits"),
        ("A", "true", "PS2011", "`A` is an integer"),
    ],
)
def test_wrong_overrides(name: str, value: str, code: str, words: str) -> None:
    _, errors = resolve(SECTION, **{name: value})
    ((found, _, message),) = errors
    assert found == code
    assert words in message


def test_long_chains_end_soon() -> None:
    lines = [f"  C{i}: C{i + 1} + 1\n" for i in range(20_000)]
    start = time.process_time()
    values, errors = resolve("constants:\n" + "".join(lines) + "  C20000: 0\n")
    assert (values["C0"], errors) == (20_000, [])
    assert time.process_time() - start < 5
