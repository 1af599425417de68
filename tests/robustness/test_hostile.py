"""Hostile formulas and names, wherever a formula may stand: a clear error, quickly."""

from __future__ import annotations

from time import process_time

import pytest

from pypto_spec.diagnostics.render import render
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import Compilation, compile_source

SPEC = """\
spec: v1
name: kernel
constants: {C: @constant}
tensors:
  a: {dtype: fp32, shape: [@extent, 64]}
  out: {dtype: fp32, shape: [64, 64], access: out}
program:
  - region: k
    body:
      - load: {into: t, from: a, at: [@start, 0], shape: [@size, 64]}
      - for: {index: i, count: @count}
        body:
          - if: @condition
            then:
              - let: t = t + 1
      - let: 'y = @formula'
      - store: {from: y, to: out, at: [0, 0]}
golden: {expect: {out: @expect}}
"""

GOOD = {
    "constant": "1", "extent": "64", "start": "0", "size": "64", "count": "2", "condition": "i == 0",
    "formula": "exp(t)", "expect": "exp(a)",
}  # fmt: skip

FORMULAS = {
    "a_megabyte": "1" + " + 1" * 260_000,
    "a_name_of_a_megabyte": "x" * 1_000_000,
    "nested_parentheses": "(" * 10_000 + "1" + ")" * 10_000,
    "open_parentheses": "(" * 10_000,
    "power_tower": "10**10**10",
    "power_over_64_bits": "2**62 * 2**62",
    "negative_power": "2**-1",
    "digits": "9" * 5000,
    "hex_digits": "0x" + "f" * 5000,
    "exponent": "1e" + "9" * 5000,
    "names": " + ".join(f"n{i}" for i in range(3000)),
    "signs": "-" * 10_000 + "1",
    "nots": "not " * 10_000 + "true",
    "calls": "exp(" * 79 + "t" + ")" * 79,
    "nested_calls": "min(" * 10_000 + "1" + ",1)" * 10_000,
    "arguments": f"min({','.join(['1'] * 3900)})",
    "comparisons": "1 < " * 5000 + "1",
    "zero_division": "1 // 0",
    "zero_rest": "1 % 0",
    "least_integer": "-9223372036854775808",
    "least_integer_divided": "-9223372036854775808 // -1",
    "its_absolute_value": "abs(-9223372036854775808)",
    "nan": "nan",
    "overflow": "exp(1000.0)",
    "root": "sqrt(-1.0)",
    "slices": "t" + "[:, :]" * 60,
    "attribute": "t.__class__",
    "a_call_of_python": '__import__("os")',
    "stars": "*" * 1000,
    "zero_width": "1\u200b+\u200b1",
    "arabic_digit": "٣",
    "chain": "t" + " + t" * 199,
    "long_chain": "t" + " + t" * 2000,
    "version": "t." + "9" * 5000,
}


def spec(**parts: str) -> Compilation:
    text = SPEC
    for name, part in (GOOD | parts).items():
        quoted = part.replace("'", "''")
        text = text.replace(f"@{name}", quoted if name == "formula" else f"'{quoted}'")
    return compile_source(Source("kernel.yaml", text))


@pytest.mark.parametrize("place", GOOD)
@pytest.mark.parametrize("name", FORMULAS)
def test_formula(name: str, place: str) -> None:
    started = process_time()
    done = spec(**{place: FORMULAS[name]})
    text = render(done.diagnostics)
    assert process_time() - started < 3
    assert done.failure is None
    assert "error[PS9" not in text
    assert done.ok or "error[" in text
    assert len(text) < 30_000


def test_the_spec_itself_is_good() -> None:
    assert spec().ok


def test_a_chain_that_doubles_what_it_shares() -> None:
    """Each line uses the one before twice: the program grows with the lines, not with what they stand for."""
    lines = "".join(f"      - let: t = (t + t) * (t - {i})\n" for i in range(60))
    text = SPEC.replace("      - let: 'y = @formula'\n", lines + "      - let: 'y = @formula'\n")
    for name, part in GOOD.items():
        text = text.replace(f"@{name}", part)
    started = process_time()
    assert compile_source(Source("kernel.yaml", text)).ok
    assert process_time() - started < 3


ONE = """\
spec: v1
name: {name}
tensors:
  a: {{dtype: fp32, shape: [{rows}, {cols}]}}
  out: {{dtype: fp32, shape: [{rows}, {cols}], access: out}}
program:
  - region: k
    body:
      - let: out = exp(a) * 2
"""


@pytest.mark.parametrize("rows", [1, 7, 2**31, 2**40, 2**62])
@pytest.mark.parametrize("cols", [1, 64, 2**31, 2**62])
def test_huge_arrays_are_divided(rows: int, cols: int) -> None:
    started = process_time()
    done = compile_source(Source("kernel.yaml", ONE.format(name="kernel", rows=rows, cols=cols)))
    assert done.failure is None
    assert process_time() - started < 3
    if rows * cols < 2**60:
        assert done.ok, render(done.diagnostics)


def test_a_name_that_is_no_file_name_is_refused() -> None:
    done = compile_source(Source("kernel.yaml", ONE.format(name="n" * 101, rows=64, cols=64)))
    assert "PS2012" in render(done.diagnostics)
    assert compile_source(Source("kernel.yaml", ONE.format(name="n" * 100, rows=64, cols=64))).ok


def test_versions_in_texts_do_not_matter() -> None:
    """Names of new values look for versions in the whole text, comments included."""
    long = "# y." + "9" * 5000 + " " + "y" * 500_000 + "\n"
    started = process_time()
    assert compile_source(Source("kernel.yaml", long + ONE.format(name="kernel", rows=64, cols=64))).ok
    assert process_time() - started < 3


def test_aliases_do_not_explode() -> None:
    bomb = "x-a: &a0 [x, x, x, x, x, x, x, x, x]\n"
    bomb += "".join(f"x-{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
    done = compile_source(Source("kernel.yaml", bomb + ONE.format(name="kernel", rows=64, cols=64)))
    assert "PS1009" in render(done.diagnostics)
