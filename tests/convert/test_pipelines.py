"""What is said of pipelines, loops and buffers that are written so that they do nothing, or cannot be."""

from __future__ import annotations

import pytest

from pypto_spec.diagnostics.model import Diagnostic
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import compile_source
from tests.convert.reading import errors, findings, marked

HEAD = """spec: v1
name: k
constants: {few: -2}
tensors:
  x: {dtype: fp32, shape: [512, 128]}
  o: {dtype: fp32, shape: [512, 128], access: out}
BUFFERS
program:
"""
BODY = """
          - load: {into: t, from: x, at: [i * 64, 0], shape: [64, 128]WHERE}
          - store: {from: t, to: o, at: [i * 64, 0]}
"""


def region(loop: str, *beside: str, buffers: str = "", where: str = "") -> str:
    lines = ["  - region: r", "    body:", f"      - {loop}", *(f"        {b}" for b in beside), "        body:"]
    body = BODY.replace("WHERE", where)
    return (
        HEAD.replace("BUFFERS", f"buffers: {{b: {{memory: vec{buffers}}}}}" if buffers else "")
        + "\n".join(lines)
        + body
    )


def said(found: list[Diagnostic]) -> list[tuple[str, str, str]]:
    return [(d.rule.code, marked(d.primary.span), d.message) for d in found]


PIPELINE = "pipeline: {index: i, count: 8, stages: 2}"


@pytest.mark.parametrize("code", ["PH-MR-001", "pipeline-depth"])
def test_a_pipeline_may_insist_on_its_depth(code: str) -> None:
    assert not findings(region(PIPELINE, f"error: [{code}]"))
    assert not findings(region(PIPELINE, f"error: {code}"))


@pytest.mark.parametrize(
    ("code", "message", "way"),
    [
        ("PS5101", "`PS5101` is an error everywhere", "a loop insists with `PH-MR-001` only"),
        ("race", "`race` is an error everywhere", "take it out"),
        ("PH001", "a loop insists with `PH-MR-001` only, and `PH001`", "`diagnostics: {error: [PH001]}`"),
        ("PS5003", "a loop insists with `PH-MR-001` only, and `PS5003`", "`diagnostics: {error: [PS5003]}`"),
    ],
)
def test_a_code_that_no_loop_gives_is_said_to_do_nothing(code: str, message: str, way: str) -> None:
    (found,) = findings(region(PIPELINE, f"error: [PH-MR-001, {code}]"))
    assert (found.rule.code, marked(found.primary.span)) == ("PS1024", code)
    assert found.message.startswith(message)
    assert way in found.helps[0]


def test_loops_without_stages_insist_on_nothing() -> None:
    (found,) = findings(region("for: {index: i, count: 8}", "error: [PH-MR-001]"))
    assert said([found]) == [
        ("PS1024", "PH-MR-001", "`PH-MR-001` is about the stages of a pipeline, and this loop has none")
    ]
    host = region(PIPELINE).replace(
        "  - region", "  - for: {index: n, count: 2}\n    error: PH-MR-001\n    body:\n      - region"
    )
    lines = host.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("      - region"))
    host = "\n".join([*lines[: start + 1], *("    " + line for line in lines[start + 1 :])])
    assert [d.rule.code for d in findings(host)] == ["PS1024"]


@pytest.mark.parametrize(
    ("written", "place", "message"),
    [
        (", slots: 0", "0", "`slots` of the buffer `b` is 1 or more, found `0`"),
        (", slots: few", "few", "`slots` of the buffer `b` is 1 or more, found `few`, which is -2"),
        (", bytes: -4", "-4", "`bytes` of the buffer `b` is 1 or more, found `-4`"),
        (", bytes: 0", "0", "`bytes` of the buffer `b` is 1 or more, found `0`"),
        (", address: -32", "-32", "`address` of the buffer `b` is 0 or more, found `-32`"),
    ],
)
def test_numbers_of_buffers_are_looked_at_where_they_stand(written: str, place: str, message: str) -> None:
    loop = "for: {index: i, count: 8}"
    assert said(errors(region(loop, buffers=written))) == [("PS1019", place, message)]
    assert said(errors(region(loop, buffers=written, where=", buffer: b, slot: i % 2"))) == [("PS1019", place, message)]
    alloc = region(loop).replace("      - for", f"      - alloc: {{buffer: b, memory: vec{written}}}\n      - for")
    assert said(errors(alloc)) == [("PS1019", place, message)]


@pytest.mark.parametrize("value", ["", "null", "~", "Null"])
def test_a_missing_value_is_said_to_be_missing(value: str) -> None:
    loop = f"pipeline:\n          index: i\n          count: 8\n          stages: {value}".rstrip()
    (found,) = errors(region(loop))
    assert (found.rule.code, found.message) == ("PS1014", "an expression is needed here, and nothing is written")
    assert marked(found.primary.span) == value


TOML = """spec = "v1"
name = "k"
[constants]
N = 4
[symbols]
M = { min = 1, max = 64 }
[tensors]
x = { dtype = "fp32", shape = [512, 128] }
o = { dtype = "fp32", shape = [512, 128], access = "out" }
[buffers]
b = { memory = "vec", slots = 2 }
[[program]]
region = "r"
[[program.body]]
pipeline = { index = "i", count = 8, stages = 2 }
body = [
    { load = { into = "t", from = "x", at = ["i * 64", 0], shape = [64, 128] } },
    { store = { from = "t", to = "o", at = ["i * 64", 0] } },
]
"""


@pytest.mark.parametrize("date", ["1979-05-27", "1979-05-27T07:32:00Z", "07:32:00"])
@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ("stages = 2", "stages = DATE"),
        ("count = 8", "count = DATE"),
        ("slots = 2", "slots = DATE"),
        ("max = 64", "max = DATE"),
        ("N = 4", "N = DATE"),
        ("shape = [64, 128]", "shape = [64, DATE]"),
        ('at = ["i * 64", 0]', "at = [DATE, 0]"),
        ("shape = [512, 128]", "shape = [DATE, 128]"),
    ],
)
def test_a_date_is_no_expression(written: str, instead: str, date: str) -> None:
    text = TOML.replace(written, instead.replace("DATE", date), 1)
    done = compile_source(Source("k.toml", text), format="toml")
    assert said(done.diagnostics) == [("PS1017", date, f"`{date}` is a date or time in TOML, and no expression")]
