"""The line and column that a message shows are those of the word it means, however the text is written."""

from __future__ import annotations

import re

import pytest

from pypto_spec.diagnostics.render import render
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import compile_source

HEAD = """\
spec: v1
name: kernel
tensors:
  a:   {dtype: fp32, shape: [64, 64]}
  out: {dtype: fp32, shape: [64, 64], access: out}
program:
  - region: k
    body:
"""

YAML = {
    "plain": "      - let: out = a + wrong\n",
    "double_quoted": '      - let: "out = a + wrong"\n',
    "single_quoted": "      - let: 'out = a + wrong'\n",
    "escapes": '      - let: "out = a \\x2b \\u0061 + wrong"\n',
    "folded": "      - let: >\n          out = a +\n          wrong\n",
    "literal": "      - let: |-\n          out = a +\n            wrong\n",
    "continued": "      - let: out = a +\n          a *\n          wrong\n",
    "continued_in_quotes": '      - let: "out = a + \\\n          wrong"\n',
    "behind_cjk": "      - {x-注: 变量, let: out = a + wrong}\n",
    "behind_an_emoji": '      - {x-n: "\U0001f600\U0001f600", let: out = a + wrong}\n',
    "nested_flow": "      - {if: 1 == 1, then: [{let: out = a + wrong}], else: [{let: out = a}]}\n",
    "anchored": "      - let: &f out = a + wrong\n      - x-again: *f\n        let: out = a\n",
}

TOML = {
    "basic": 'body = [{ let = "out = a + wrong" }]\n',
    "literal": "body = [{ let = 'out = a + wrong' }]\n",
    "several_lines": 'body = [{ let = """\nout = a +\n  wrong""" }]\n',
    "escapes": 'body = [{ let = "out = \\u0061 + wrong" }]\n',
    "behind_cjk": 'body = [{ x-n = "变量", let = "out = a + wrong" }]\n',
    "tables": '[[program.body]]\nlet = "out = a + wrong"\n',
}

TOML_HEAD = """\
spec = "v1"
name = "kernel"
[tensors]
a = { dtype = "fp32", shape = [64, 64] }
out = { dtype = "fp32", shape = [64, 64], access = "out" }
[[program]]
region = "k"
"""


def check(text: str, name: str) -> None:
    line = next(n for n, row in enumerate(re.split("\r\n|\n", text), 1) if "wrong" in row)
    row = re.split("\r\n|\n", text)[line - 1]
    found = [d for d in compile_source(Source(name, text)).diagnostics if "`wrong`" in d.message]
    assert len(found) == 1
    span = found[0].primary.span
    assert (span.line, span.col, span.end_line, span.end_col) == (
        line, row.index("wrong") + 1, line, row.index("wrong") + 6,
    )  # fmt: skip
    assert f"{name}:{line}:{row.index('wrong') + 1}\n" in render(found)


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["", "bom"])
@pytest.mark.parametrize("form", YAML)
def test_yaml(form: str, mark: str, end: str) -> None:
    check((mark + HEAD + YAML[form]).replace("\n", end), "kernel.yaml")


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("form", TOML)
def test_toml(form: str, end: str) -> None:
    check((TOML_HEAD + TOML[form]).replace("\n", end), "kernel.toml")


def test_an_alias_shows_the_anchor_and_itself() -> None:
    text = (
        "spec: v1\nname: kernel\nx-base: &base {dtype: fp33, shape: [64, 64]}\ntensors:\n  a: *base\n"
        "  out: {<<: *base, dtype: fp32, access: out}\nprogram:\n  - region: k\n    body:\n      - let: out = a\n"
    )
    (found,) = compile_source(Source("kernel.yaml", text)).diagnostics
    assert found.primary.span.start == (3, 23)
    assert (5, 6) in [label.span.start for label in found.secondary]
