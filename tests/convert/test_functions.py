"""Functions: what a body sees, what a call may give it, and what is said of mistakes."""

from __future__ import annotations

import pytest

from pypto_spec.diagnostics.model import CompileError, Diagnostic, Sink
from pypto_spec.ir.nodes import Call
from pypto_spec.ir.rewrite import regions, statements
from pypto_spec.passes.base import Context
from pypto_spec.passes.pipeline import run
from pypto_spec.targets import TARGETS
from tests.convert.reading import read

SPEC = """\
spec: v1
name: k
constants: {{TR: 16}}
scalars: {{eps: fp32}}
symbols: {{M: {{min: 1, max: 8}}}}
functions:
  twice:
    args: [x]
    returns: [y]
    body:
      - let: y = x + x
{functions}
tensors:
  a: {{dtype: fp32, shape: [64, 128]}}
  h: {{dtype: fp16, shape: [64, 128]}}
  out: {{dtype: fp32, shape: [64, 128], access: inout}}
program:
  - region: r
    body:
      - load: {{into: t, from: a, at: [0, 0], shape: [16, 128]}}
      - load: {{into: half, from: h, at: [0, 0], shape: [16, 128]}}
{body}
      - store: {{from: t, to: out, at: [0, 0]}}
"""


def spec(body: str, functions: str = "") -> str:
    lines = [f"      {line}" for line in body.strip("\n").split("\n")]
    more = [f"  {line}" for line in functions.strip("\n").split("\n")]
    return SPEC.format(body="\n".join(lines), functions="\n".join(more))


def error(body: str, functions: str = "") -> Diagnostic:
    with pytest.raises(CompileError) as caught:
        read(spec(body, functions))
    (found,) = caught.value.diagnostics
    return found


def test_a_body_is_read_for_each_call() -> None:
    program = read(spec("- let: u = twice(half)\n- let: t = twice(t)"))
    (region,) = regions(program.body)
    calls = [s for s in statements(region.body) if isinstance(s, Call)]
    assert [str(c.results[0].type) for c in calls] == ["fp16[16, 128]", "fp32[16, 128]"]


def test_no_call_is_left_and_names_are_new() -> None:
    program = read(spec("- let: y = twice(t)\n- let: t = twice(twice(y))"))
    made = run(program, Context(TARGETS["a2a3"], Sink()), after="InlineFunctions")
    (region,) = regions(made.body)
    assert not any(isinstance(s, Call) for s in statements(region.body))
    names = [v.name for s in statements(region.body) for v in getattr(s, "results", ())]
    assert "y" in names
    versions = [n for n in names if n.startswith("y")]
    assert len(set(versions)) == len(versions)


BODY = """
inner:
  args: [x]
  returns: [z]
  body:
    - let: z = x + missing
outer:
  args: [x]
  returns: [z]
  body:
    - let: z = inner(x)
number:
  args: {n: index}
  returns: [m]
  body:
    - let: m = n * 2
nothing:
  args: [x]
  returns: [z]
  body:
    - let: y = x + 1
jumps:
  args: [x]
  body:
    - break:
loop:
  args: [x]
  returns: [z]
  body:
    - let: z = back(x)
back:
  args: [x]
  returns: [z]
  body:
    - let: z = loop(x)
"""


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        ("- let: t = outer(t)", "PS2001", "`missing` is not defined here"),
        ("- call: {function: twicee, args: {x: t}, into: t}", "PS2032", "there is no function `twicee`"),
        ("- let: t = twicee(t)", "PS2032", "there is no function `twicee`"),
        ("- call: {function: twice, args: {}, into: t}", "PS2050", "`x` of `twice` is not given"),
        ("- call: {function: twice, args: {x: t, y: t}, into: t}", "PS2050", "`twice` has no argument `y`"),
        ("- call: {function: twice, args: {x: t}, into: [t, u]}", "PS2050", "returns 1 value, `into` names 2"),
        ("- call: {function: number, args: {n: t}, into: t}", "PS2050", "`n` of `number` is an index, found a tile"),
        ("- let: t = number(3)", "PS3033", "returns a number here"),
        ("- let: t = nothing(t)", "PS2050", "which its body does not bind"),
        ("- for: {index: i, count: 2}\n  body:\n    - call: {function: jumps, args: {x: t}}", "PS2060", "in no loop"),
        ("- let: t = loop(t)", "PS2051", "`loop` calls `back` calls `loop`"),
    ],
)
def test_mistakes(body: str, code: str, words: str) -> None:
    found = error(body, BODY)
    assert (found.rule.code, words in found.message) == (code, True), found.message


def test_a_mistake_in_a_body_names_the_call() -> None:
    found = error("- let: t = outer(t)", BODY)
    said = [label.text for label in found.secondary]
    assert "in this call of `inner`" in said
    assert found.primary.span.source.line(found.primary.span.line).strip() == "- let: z = x + missing"


def test_the_caller_is_not_visible() -> None:
    found = error("- let: t = sees(t)", "sees:\n  args: [x]\n  returns: [z]\n  body:\n    - let: z = x + half")
    assert found.rule.code == "PS2001"


def test_a_name_of_the_language_is_taken() -> None:
    found = error("- let: t = t + 1", "exp:\n  args: [x]\n  returns: [y]\n  body:\n    - let: y = x + 1")
    assert (found.rule.code, found.message) == (
        "PS2030",
        "`exp` cannot name a function: the language has one of that name",
    )
