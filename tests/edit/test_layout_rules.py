"""The rules of the style, one by one."""

from __future__ import annotations

import pytest

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.diagnostics.span import Source
from pypto_spec.edit.layout import formatted, lay_out
from pypto_spec.edit.words import is_plain, spaced
from tests.edit.test_layout_law import laid_out


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("a*b+c", "a * b + c"),
        ("y=exp( x )", "y = exp(x)"),
        ("matmul(a,b,a_trans = true)", "matmul(a, b, a_trans=true)"),
        ("k[ a : b , : ]", "k[a:b, :]"),
        ("k[i * TR : (i + 1) * TR]", "k[i*TR:(i+1)*TR]"),
        ("k[i*TR, j+1]", "k[i * TR, j + 1]"),
        ("not a and -b<-3", "not a and -b < -3"),
        ("x**-2", "x ** -2"),
        ("((a))+1.50e-3", "((a)) + 1.50e-3"),
        ("0x10//2", "0x10 // 2"),
        ("a  b", "a  b"),
        ("x =", "x ="),
        ("fp32", "fp32"),
    ],
)
def test_spaces_of_formulas(text: str, made: str) -> None:
    assert spaced(text) == made
    assert spaced(made) == made


@pytest.mark.parametrize(
    ("text", "block", "flow"),
    [
        ("exp(x)", True, True),
        ("min(a, b)", True, False),
        ("k[a:b]", True, False),
        ("a: b", False, False),
        ("a:b", True, True),
        ("a #b", False, False),
        ("a#b", True, True),
        ("8", False, False),
        ("yes", False, False),
        ("1:30", False, False),
        ("2026-01-01", False, False),
        ("-x", True, True),
        ("- x", False, False),
        ("[a]", False, False),
        ("$mode", True, True),
        ("*a", False, False),
        ("", False, False),
        ("null", False, False),
        ("99999999999999999999", False, False),
    ],
)
def test_quotes_that_are_not_needed(text: str, block: bool, flow: bool) -> None:
    assert (is_plain(text, False), is_plain(text, True)) == (block, flow)


UNTIDY = """\
# yaml-language-server: $schema=x.json


spec:   v1   # version
name: 'noise'
about:  "a*b: c"
x-note:   {a:  1,b*c: "x*y"}
x-base: &base {dtype: fp32, shape: [ 64,128 ]}


constants: { A : 1,
   B: A*2 , # two
   C: "3" }
tensors:
    x: *base
    longer: {dtype: fp32, shape: [64, 128] }
    # after longer

program:
# before region
- region: r
  body:   # statements
  - load: {into: t,from: x,at: [0,0], shape: [64,128]}
  - let: "z = exp( t )+1"

  -   let: 'w = a[ i*2 : 3 , : ]'
  - store:
      {from: z, to: y, at: [0, 0]}
    allow: PH001
  - exp: {into: e, x: z}
  # between
  - store:   {from: e, to: y, at: [0, 0]}
  # end of body
# end of program
golden:
   expect: {y: "min(x,1)",}
   python: a-b.py:f
   text: |
      one
        two

   folded: hello
     world
# the end
"""

TIDY = """\
# yaml-language-server: $schema=x.json

spec: v1 # version
name: noise
about: "a*b: c"
x-note: {a: 1, b*c: x*y}
x-base: &base {dtype: fp32, shape: [64, 128]}

constants:
  A: 1
  B: A * 2 # two
  C: "3"
tensors:
  x: *base
  longer: {dtype: fp32, shape: [64, 128]}
  # after longer

program:
  # before region
  - region: r
    body: # statements
      - load: {into: t, from: x, at: [0, 0], shape: [64, 128]}
      - let: z = exp(t) + 1

      - let: w = a[i*2:3, :]
      - store: {from: z, to: y, at: [0, 0]}
        allow: PH001
      - exp:   {into: e, x: z}
      # between
      - store: {from: e, to: y, at: [0, 0]}
    # end of body
# end of program
golden:
  expect: {y: "min(x, 1)"}
  python: a-b.py:f
  text: |
    one
      two

  folded: hello
    world
# the end
"""


def test_all_at_once() -> None:
    assert laid_out(UNTIDY) == TIDY


def test_line_ends_are_those_of_the_first_line() -> None:
    assert laid_out(UNTIDY.replace("\n", "\r\n")) == TIDY.replace("\n", "\r\n")
    assert laid_out("spec: v1\nname: a\r\n") == "spec: v1\nname: a\n"
    assert laid_out("\ufeffspec:  v1") == "\ufeffspec: v1\n"


LONG = "i * TR + j * TC + k * 1024"


def test_a_long_mapping_becomes_a_block_and_a_long_list_fills_lines() -> None:
    items = ", ".join(map(str, range(1000, 1030)))
    text = f'a:\n  - load: {{into: t, at: ["{LONG}", "{LONG}"], shape: ["{LONG}", "{LONG}"]}}\n'
    assert laid_out(text) == (
        f"a:\n  - load:\n      into: t\n      at: [{LONG}, {LONG}]\n      shape: [{LONG}, {LONG}]\n"
    )
    assert laid_out(f"a: {{b: [{items}]}}\n") == (
        f"a:\n  b: [\n    {', '.join(map(str, range(1000, 1019)))},\n    {', '.join(map(str, range(1019, 1030)))}]\n"
    )


def test_statements_are_aligned_where_their_words_are_alike() -> None:
    near = "a:\n  - mul: {x: a}\n  - let: b = c\n  - reshape: {x: b}\n"
    assert laid_out(near) == "a:\n  - mul:     {x: a}\n  - let: b = c\n  - reshape: {x: b}\n"
    far = "a:\n  - mul:    {x: a}\n  - batch_matmul:   {x: b}\n"
    assert laid_out(far) == "a:\n  - mul: {x: a}\n  - batch_matmul: {x: b}\n"
    apart = "a:\n  - mul:   {x: a}\n\n  - store: {x: b}\n"
    assert laid_out(apart) == "a:\n  - mul: {x: a}\n\n  - store: {x: b}\n"


def test_names_are_aligned_and_fields_are_not() -> None:
    assert laid_out("symbols:\n  M: {min: 1}\n  rows: {min: 1}\n") == "symbols:\n  M:    {min: 1}\n  rows: {min: 1}\n"
    golden = "golden:\n  expect: {y: x}\n  tolerance: {atol: 1}\n"
    assert laid_out(golden) == golden


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("? a\n:  1\n", "a key stands behind `?`"),
        ("a: &b # one\n    1\n", "a comment stands between an anchor and a single value"),
        ("a:   x\x85   y\n", "it has line ends of YAML 1.1"),
    ],
)
def test_rare_forms_stay_as_they_are(text: str, reason: str) -> None:
    made = lay_out(Source("k", text), "yaml")
    assert (made.text, made.reason) == (text, reason)


def test_a_text_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(CompileError):
        formatted(Source("k", "a: ["), "yaml")
    with pytest.raises(CompileError):
        formatted(Source("k", "a = ["), "toml")


def test_toml() -> None:
    text = (
        "#:schema x\n\n\nspec='v1' # version\n'x-a'='k*l'\n\n[tensors]   # t\n\nx={dtype=\"fp32\",shape=[64,128]}\n"
        "a . b = 1\n[[program]]\nbody=[ # open\n{load = {into='t'}}, # first\n\n# between\n{ let='y=x*2' } ]\n"
        "n = [1,2,\n3]\ns = '''\n  a'''\nq = 'say \"a\"'\n"
    )
    assert laid_out(text, "toml") == (
        '#:schema x\n\nspec = "v1" # version\nx-a = "k*l"\n\n[tensors] # t\nx = { dtype = "fp32", shape = [64, 128] }\n'
        'a.b = 1\n[[program]]\nbody = [\n  # open\n  { load = { into = "t" } }, # first\n\n  # between\n'
        "  { let = \"y = x * 2\" },\n]\nn = [1, 2, 3]\ns = '''\n  a'''\nq = 'say \"a\"'\n"
    )
