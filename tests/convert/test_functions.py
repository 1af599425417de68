"""Functions: what a body sees, what a call may give it, and what is said of mistakes."""

from __future__ import annotations

from pathlib import Path
from time import process_time

import pytest

from pypto_spec.convert.calls import DEEPEST, MOST_INLINED
from pypto_spec.diagnostics.model import CompileError, Diagnostic, Sink
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.dumps import dump_text
from pypto_spec.driver.inputs import Spec
from pypto_spec.driver.session import Compiled, compile_spec
from pypto_spec.ir.nodes import Call
from pypto_spec.ir.rewrite import regions, statements
from pypto_spec.passes.base import Context
from pypto_spec.passes.pipeline import PASSES, run
from pypto_spec.render.program import render_kernels
from pypto_spec.targets import TARGETS
from tests.cli.run import run as run_command
from tests.convert.reading import marked, read

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
whole:
  args: {x: tensor}
  returns: [z]
  body:
    - load: {into: z, from: x, at: [0, 0], shape: [TR, 128]}
scaled:
  args: {x: tile, f: scalar}
  returns: [z]
  body:
    - let: z = x * f
shaped:
  args: {x: {dtype: fp32, shape: [TR, 128]}}
  returns: [z]
  body:
    - let: z = x + 1
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
        ("- call: {function: number, args: {n: 1.5}, into: m}", "PS2050", "is an index, found a constant"),
        ("- let: t = whole(t)", "PS2050", "`x` of `whole` is a tensor, found a tile"),
        ("- let: t = scaled(t, 2)", "PS2050", "`f` of `scaled` is a scalar, found an integer"),
        ("- let: t = shaped(half)", "PS2050", "`x` of `shaped` is fp32 [16, 128], found fp16[16, 128]"),
        (
            "- load: {into: s, from: a, at: [0, 0], shape: [8, 128]}\n- let: t = shaped(s)",
            "PS2050",
            "`x` of `shaped` is fp32 [16, 128], found fp32[8, 128]",
        ),
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


@pytest.mark.parametrize("word", ["args", "returns"])
def test_a_name_stands_once_in_a_list(word: str) -> None:
    lists = {"args": "[x]", "returns": "[z]"} | {word: "[x, x]" if word == "args" else "[z, z]"}
    found = error(
        "- let: t = t + 1",
        f"f:\n  args: {lists['args']}\n  returns: {lists['returns']}\n  body:\n    - let: z = x + 1",
    )
    line = found.primary.span.source.line(found.primary.span.line)
    assert found.rule.code == "PS2030"
    assert (found.primary.span.col - 1, marked(found.primary.span)) == (line.rindex(", ") + 2, lists[word][1])


# What calls may make together


def chain(levels: int, each: str, calls: int = 4) -> str:
    """Functions f0 ... of which each calls the one before it several times."""
    made = [f"f0:\n  args: [x]\n  returns: [z]\n  body:\n    - let: z = {each}"]
    for level in range(1, levels):
        formula = f"f{level - 1}(" * calls + "x" + ")" * calls
        made.append(f"f{level}:\n  args: [x]\n  returns: [z]\n  body:\n    - let: z = {formula}")
    return "\n".join(made)


@pytest.mark.parametrize("each", ["x + 1", "missing + 1"])
def test_exponential_calls_stop_early(each: str) -> None:
    begun = process_time()
    found = error("- let: t = f29(t)\n- let: t = f29(t) + f28(t)", chain(30, each))
    assert found.rule.code == ("PS2052" if each == "x + 1" else "PS2001")
    assert process_time() - begun < 1


def test_numbers_are_counted_too() -> None:
    made = ["f0:\n  args: [n]\n  returns: [m]\n  body:\n    - let: m = n + 1"]
    for level in range(1, 20):
        call = f"    - call: {{function: f{level - 1}, args: {{n: n}}, into: m}}\n"
        made.append(f"f{level}:\n  args: [n]\n  returns: [m]\n  body:\n{call * 4}".rstrip())
    found = error("- call: {function: f19, args: {n: 1}, into: m}", "\n".join(made))
    assert (found.rule.code, "more than 1,000 calls" in found.message) == ("PS2052", True)


def test_calls_inside_calls_are_limited() -> None:
    found = error(f"- let: t = f{DEEPEST}(t)", chain(DEEPEST + 1, "x + 1", calls=1))
    assert (found.rule.code, f"more than {DEEPEST} deep" in found.message) == ("PS2052", True)
    read(spec(f"- let: t = f{DEEPEST - 1}(t)", chain(DEEPEST, "x + 1", calls=1)))


def test_each_statement_is_counted_once() -> None:
    """Ten statements a call, beside a call inside a call that counts nothing itself."""
    many = "ten:\n  args: [x]\n  returns: [x]\n  body:\n" + "    - let: x = x + 1\n" * 10
    more = many + "outer:\n  args: [x]\n  returns: [x]\n  body:\n    - call: {function: ten, args: {x: x}, into: x}"
    fits = "- let: t = outer(t)\n" * (MOST_INLINED // 10)
    read(spec(fits, more))
    found = error(fits + "- let: t = twice(t)", more)
    assert (found.rule.code, "more than 1,000 statements" in found.message) == ("PS2052", True)


# Programs with calls are programs


CALLS = """\
spec: v1
name: k
scalars: {eps: fp32}
functions:
  row:
    args: {x: tensor, r: index}
    returns: [y]
    body:
      - load: {into: y, from: x, at: [r * 16, 0], shape: [16, 128]}
  damped:
    args: {x: {dtype: fp32, shape: [16, 128]}, e: scalar}
    returns: [y]
    body:
      - let: y = x * e
      - unroll: {index: k, count: 2}
        body:
          - let: y = twice(y)
  twice:
    args: [x]
    returns: [y]
    body:
      - let: y = x + x
tensors:
  a: {dtype: fp32, shape: [64, 128]}
  whole: {dtype: fp32, shape: [64, 128], access: out}
  out: {dtype: fp32, shape: [64, 128], access: out}
program:
  - region: direct
    body:
      - call: {function: twice, args: {x: a}, into: whole}
  - region: r
    body:
      - for: {index: i, count: 4}
        body:
          - let: n = 0
          - call: {function: row, args: {x: a, r: i}, into: t}
          - while: n < 3
            body:
              - let: t = twice(t)
              - let: n = n + 1
          - call: {function: damped, args: {x: t, e: eps}, into: y}
          - store: {from: y, to: out, at: [i * 16, 0]}
golden: {expect: {out: a * 32 * eps, whole: a + a}}
"""


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    done = compile_spec(Spec(Source("k.yaml", CALLS), "yaml", CALLS.encode()), keep_stages=True)
    assert done.ok, done.findings
    return done


def kernels(done: Compiled) -> list[str]:
    assert done.program is not None, done.findings
    return [kernel.text for kernel in render_kernels(done.program).kernels]


@pytest.mark.parametrize("step", [p.name for p in PASSES])
def test_every_dump_gives_the_same_kernels(compiled: Compiled, step: str) -> None:
    text = dump_text(dict(compiled.stages)[step], step, compiled.spec)
    assert "functions:" not in text
    again = compile_spec(Spec(Source("dump.yaml", text), "yaml", text.encode()))
    assert [code(k) for k in kernels(again)] == [code(k) for k in kernels(compiled)]


def code(text: str) -> list[str]:
    """The lines of a kernel without comments, which name lines of the spec."""
    return [line for line in text.splitlines() if not line.lstrip().startswith("//")]


def test_calls_compute_what_their_functions_say(tmp_path: Path) -> None:
    """Tensors, indices and scalars as arguments; calls inside `while` and `unroll`; a result stored by `into`."""
    (tmp_path / "k.yaml").write_text(CALLS)
    done = run_command("test", str(tmp_path / "k.yaml"))
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    ("body", "functions", "code", "words"),
    [
        (
            "- call: {function: f, args: {x: t}, into: [t, t]}",
            "f: {args: [x], returns: [y, z], body: [{let: y = x * 2}, {let: z = x * 3}]}",
            "PS2050",
            "names `t` twice",
        ),
        ("- let: t = min(t)", "min: {args: [x], returns: [y], body: [{let: y = x * 2}]}", "PS2030", "`min`"),
        ("- let: k = M\n- while: k\n  body:\n    - let: k = k - 1", "", "PS3032", "`k` is a number"),
        (
            "- let: t = f(t, 3)",
            "f: {args: [x, k], returns: [y], body: [{let: y = g(x)}]}\n"
            "g: {args: [x], returns: [y], body: [{let: y = x * k}]}",
            "PS2001",
            "`k` is not defined",
        ),
    ],
)
def test_names_are_told_apart(body: str, functions: str, code: str, words: str) -> None:
    found = error(body, functions)
    assert found.rule.code == code
    assert words in found.message


def test_an_integer_scalar_is_a_number_and_an_index() -> None:
    functions = (
        "f: {args: {x: tile, a: scalar, k: index}, returns: [y], body: [{let: y = x}, "
        "{for: {index: i, count: k}, body: [{let: y = y * a}]}]}"
    )
    text = spec("- let: t = f(t, n, n)\n- call: {function: f, args: {x: t, a: n, k: n}, into: t}", functions)
    read(text.replace("{eps: fp32}", "{n: int32}"))
