"""Ways out of lost pipeline depth: each that is printed is followed, and the finding on that loop has to be gone."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pypto_spec.diagnostics.model import Diagnostic, Severity
from pypto_spec.driver import trials
from pypto_spec.driver.advice import HINT_STATEMENTS, LEAST_PLANS, MOST_PLANS
from pypto_spec.driver.check import check_text
from pypto_spec.driver.compile import Compilation, compile_source

CODE = "PH-MR-001"

CONSTANTS = """\
spec: v1
name: constants
constants: {TR: 64, F: 4}
tensors:
  a: {dtype: fp32, shape: [1024, 256]}
  out: {dtype: fp32, shape: [1024, 256], access: out}
program:
  - region: constants
    body:
      - pipeline: {index: i, count: 1024 // TR, stages: F}
        body:
          - load: {into: t, from: a, at: [i * TR, 0], shape: [TR, 256]}
          - exp: {into: y, x: t}
          - store: {from: y, to: out, at: [i * TR, 0]}
"""

LITERALS = """\
spec: v1
name: literals
tensors:
  a: {dtype: fp32, shape: [1024, 128]}
  b: {dtype: fp32, shape: [1024, 128]}
  out: {dtype: fp32, shape: [1024, 128], access: out}
program:
  - region: literals
    body:
      - pipeline: {index: i, count: 16, stages: 4}
        body:
          - load: {into: t, from: a, at: [i * 64, 0], shape: [64, 128]}
          - load: {into: u, from: b, at: [i * 64, 0], shape: [64, 128]}
          - add: {into: y, lhs: t, rhs: u}
          - store: {from: y, to: out, at: [i * 64, 0]}
"""

BESIDE = """\
spec: v1
name: beside
constants: {TR: 32, W: 192}
tensors:
  a: {dtype: fp32, shape: [1024, 128]}
  out: {dtype: fp32, shape: [1024, 128], access: out}
program:
  - region: beside
    body:
      - load: {into: w, from: a, at: [0, 0], shape: [W, 128]}
      - load: {into: v, from: a, at: [0, 0], shape: [64, 128]}
      - pipeline: {index: i, count: 1024 // TR, stages: 5}
        body:
          - load: {into: t, from: a, at: [i * TR, 0], shape: [TR, 128]}
          - exp: {into: y, x: t}
          - store: {from: y, to: out, at: [i * TR, 0]}
      - store: {from: w, to: out, at: [0, 0]}
      - store: {from: v, to: out, at: [0, 0]}
"""

NESTED = """\
spec: v1
name: nested
constants: {TR: 64, OUTER: 2, INNER: 4}
tensors:
  a: {dtype: fp32, shape: [512, 512]}
  b: {dtype: fp32, shape: [512, 128]}
  out: {dtype: fp32, shape: [512, 512], access: out}
program:
  - region: nested
    body:
      - pipeline: {index: i, count: 512 // TR, stages: OUTER}
        body:
          - load: {into: u, from: b, at: [i * TR, 0], shape: [TR, 128]}
          - pipeline: {index: j, count: 4, stages: INNER}
            body:
              - load: {into: t, from: a, at: [i * TR, j * 128], shape: [TR, 128]}
              - let: y = t * u + t
              - store: {from: y, to: out, at: [i * TR, j * 128]}
"""

SEVERAL = """\
spec: v1
name: several
constants: {TR: 64, SR: 96, F: 8}
tensors:
  a: {dtype: fp16, shape: [1536, 256]}
  out: {dtype: fp16, shape: [1536, 256], access: out}
  more: {dtype: fp16, shape: [1536, 256], access: out}
program:
  - region: several
    body:
      - pipeline: {index: i, count: 1536 // TR, stages: F}
        body:
          - load: {into: t, from: a, at: [i * TR, 0], shape: [TR, 256]}
          - exp: {into: y, x: t}
          - store: {from: y, to: out, at: [i * TR, 0]}
      - pipeline: {index: j, count: 1536 // SR, stages: 6}
        body:
          - load: {into: s, from: a, at: [j * SR, 0], shape: [SR, 256]}
          - abs: {into: z, x: s}
          - store: {from: z, to: more, at: [j * SR, 0]}
"""

HALVED = CONSTANTS.replace("stages: F", "stages: 2 * F").replace("TR: 64", "TR: 32")

SPECS = {
    "constants": CONSTANTS,
    "literals": LITERALS,
    "beside": BESIDE,
    "nested": NESTED,
    "several": SEVERAL,
}


@dataclass
class Change:
    """What a help says to change."""

    text: str
    defines: dict[str, str] = field(default_factory=dict)


def depth(text: str, defines: dict[str, str] | None = None) -> list[Diagnostic]:
    return [d for d in check_text(text, "k.yaml", defines) if d.rule.code == CODE]


def changes(found: Diagnostic, text: str, defines: dict[str, str]) -> list[Change]:
    """The spec after each of the ways out of a finding; every help with an arrow is one."""
    made: list[Change] = []
    for help in (h for h in found.helps if "->" in h):
        arrow = re.search(r": (\d+) -> (\d+)", help)
        assert arrow is not None, help
        old, new = arrow.groups()
        lines = text.splitlines()
        if name := re.match(r"`(\w+)`: ", help):
            made.append(Change(text, {**defines, name[1]: new}))
            continue
        if place := re.match(r"`stages` in line (\d+)", help):
            pattern, numbers, value = rf"stages: {old}\b", [place[1]], f"stages: {new}"
        else:
            place = re.match(r"`shape` (?:of `\w+` )?in lines? ([\d, and]+), dimension (\d)", help)
            assert place is not None, help
            pattern, numbers = rf"(shape: \[(?:\w+, ){{{place[2]}}}){old}\b", re.findall(r"\d+", place[1])
            value = rf"\g<1>{new}"
        for number in map(int, numbers):
            lines[number - 1], count = re.subn(pattern, value, lines[number - 1])
            assert count == 1, (help, number)
        made.append(Change("\n".join(lines) + "\n", defines))
    return made


def follow(text: str, defines: dict[str, str] | None = None) -> int:
    """Follow every way out, and check that the loop keeps its depth. The number of ways."""
    count = 0
    for found in depth(text, defines):
        for made in changes(found, text, defines or {}):
            count += 1
            again = check_text(made.text, "k.yaml", made.defines)
            assert not any(d.rule.code == "PS4001" for d in again)
            line = found.primary.span.line
            assert not any(d.rule.code == CODE and d.primary.span.line == line for d in again), (found.helps, made)
    return count


@pytest.mark.parametrize(
    ("name", "planner"), [*((n, "pypto") for n in SPECS), *((n, "ptoas") for n in ("constants", "literals", "several"))]
)
def test_following_any_advice_makes_the_hint_vanish(name: str, planner: str) -> None:
    text = SPECS[name].replace("tensors:", f"target: {{planner: {planner}}}\ntensors:", 1)
    found = depth(text)
    assert found
    assert follow(text) >= 2 * len(found)


def test_stages_and_the_largest_tile_are_named() -> None:
    (found,) = depth(CONSTANTS)
    assert found.helps[1:] == (
        "`F`: 4 -> 2 fits (needs 131072 B)",
        "`TR`: 64 -> 32: all 4 stages fit (needs 131072 B)",
    )
    assert found.level is Severity.HINT


def test_what_is_one_step_larger_does_not_fit() -> None:
    assert depth(CONSTANTS, {"F": "3"})
    assert depth(CONSTANTS, {"TR": "64"})


def test_overrides_count() -> None:
    (found,) = depth(CONSTANTS, {"TR": "128", "F": "8"})
    assert found.helps[1:] == (
        "`F`: 8 -> 1 fits (needs 131072 B)",
        "`TR`: 128 -> 16: all 8 stages fit (needs 131072 B)",
    )
    assert follow(CONSTANTS, {"TR": "128", "F": "8"}) == 2


def test_literals_that_meet_change_together() -> None:
    (found,) = depth(LITERALS)
    assert found.helps[1:] == (
        "`stages` in line 10: 4 -> 2 fits (needs 131072 B)",
        "`shape` in lines 12 and 13, dimension 0: 64 -> 32: all 4 stages fit (needs 131072 B; the loop around it has "
        "to follow)",
    )


def test_tiles_beside_the_stages_are_a_way_out() -> None:
    text = BESIDE.replace("TR: 32", "X: 1").replace("// TR", "// 32").replace("TR", "32")
    (found,) = depth(text)
    assert dict(found.figures)["advice"] == "pressure"
    assert found.helps[2].startswith("`W`: 192 -> 1")
    assert found.helps[2].endswith("a loop has to cover the rest)")
    assert follow(text) == 2


def test_the_smallest_says_what_it_misses_by() -> None:
    text = CONSTANTS.replace("256]", "C]").replace("TR: 64", "TR: 2, C: 16384").replace("1024", "64")
    (found,) = depth(text)
    (missed,) = [h for h in found.helps if h.startswith("even ")]
    wanted = re.fullmatch(r"even `TR`: 1 is (\d+) B too much", missed)
    assert wanted is not None
    (again,) = depth(text, {"TR": "1"})
    assert dict(again.figures)["excess_bytes"] == int(wanted[1]) == 4 * 16384 * 4 - 188416


@pytest.mark.parametrize("how", ["    allow: [PH-MR-001]\n", "diagnostics"])
def test_nothing_is_planned_for_a_finding_that_nobody_hears(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if how == "diagnostics":
        text = CONSTANTS.replace("tensors:", "diagnostics: {disable: [PH-MR-001]}\ntensors:", 1)
    else:
        text = CONSTANTS.replace("stages: F}\n", "stages: F}\n        allow: [PH-MR-001]\n")
    assert planned(text, monkeypatch) == 0
    assert depth(text) == []


def planned(text: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """The programs that are planned for the advice on a spec."""
    calls: list[bool] = []

    def counted(*args: Any, **kwargs: Any) -> Compilation:
        calls.append(kwargs.get("after") == trials.UNTIL)
        return compile_source(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(trials, "compile_source", counted)
        check_text(text, "k.yaml")
    return sum(calls)


def test_hints_take_few_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    assert planned(CONSTANTS, monkeypatch) == 3
    body = "          - exp: {into: y, x: t}\n" + "          - let: y = y * 2.0 + 1.0\n" * 40
    long = CONSTANTS.replace("          - exp: {into: y, x: t}\n", body)
    assert 4 * 40 * 2 * MOST_PLANS > HINT_STATEMENTS
    assert LEAST_PLANS <= planned(long, monkeypatch) < MOST_PLANS / 2
    assert planned(SEVERAL, monkeypatch) <= MOST_PLANS


def test_advice_is_the_same_each_time() -> None:
    for text in SPECS.values():
        assert [d.helps for d in depth(text)] == [d.helps for d in depth(text)]


@pytest.mark.parametrize("where", ["spec", "loop"])
@pytest.mark.parametrize("name", SPECS)
def test_an_error_has_the_same_ways_out(name: str, where: str) -> None:
    text = SPECS[name]
    if where == "spec":
        made = text.replace("tensors:", "diagnostics: {error: [PH-MR-001]}\ntensors:", 1)
    else:
        made = re.sub(r"( +)- (pipeline: .*\n)", r"\1- \2\1  error: [pipeline-depth]\n", text)
    found, hints = depth(made), depth(text)
    assert [d.level for d in found] == [Severity.ERROR] * len(hints)
    shift = re.compile(r"\b(lines? )[\d, and]+\d")
    for one, other in zip(found, hints, strict=True):
        assert [shift.sub("", h) for h in one.helps] == [shift.sub("", h) for h in other.helps]
    assert follow(made) >= 2 * len(found)


def test_stages_may_be_an_expression() -> None:
    (found,) = depth(HALVED)
    assert found.helps[1] == "`F`: 4 -> 2 fits (needs 131072 B)"
    assert follow(HALVED) == 2


TOML = """\
spec = "v1"
name = "toml"
[tensors]
a = {dtype = "fp32", shape = [1024, 128]}
out = {dtype = "fp32", shape = [1024, 128], access = "out"}
[[program]]
region = "toml"
[[program.body]]
pipeline = {index = "i", count = 16, stages = 12}
body = [
  {load = {into = "t", from = "a", at = ["i * 64", 0], shape = [64, 128]}},
  {exp = {into = "y", x = "t"}},
  {store = {from = "y", to = "out", at = ["i * 64", 0]}},
]
"""


def test_statements_in_braces_are_found() -> None:
    (found,) = (d for d in check_text(TOML, "k.toml") if d.rule.code == CODE)
    assert [h for h in found.helps if "->" in h] == [
        "`stages` in line 9: 12 -> 5 fits (needs 163840 B)",
        "`shape` of `load` in line 11, dimension 0: 64 -> 16: all 12 stages fit (needs 98304 B; the loop around it has "
        "to follow)",
    ]


FUNCTION = """\
spec: v1
name: function
constants: {TR: 64}
tensors:
  a: {dtype: fp32, shape: [1024, 256]}
  out: {dtype: fp32, shape: [1024, 256], access: out}
functions:
  work:
    args: {p: tensor, q: tensor}
    body:
      - pipeline: {index: i, count: 1024 // TR, stages: 4}
        body:
          - load: {into: t, from: p, at: [i * TR, 0], shape: [TR, 256]}
          - exp: {into: y, x: t}
          - store: {from: y, to: q, at: [i * TR, 0]}
program:
  - region: function
    body:
      - call: {function: work, args: {p: a, q: out}}
"""


def test_pipelines_in_functions_have_ways_out() -> None:
    (found,) = depth(FUNCTION)
    assert found.helps[1:] == (
        "`stages` in line 11: 4 -> 2 fits (needs 131072 B)",
        "`TR`: 64 -> 32: all 4 stages fit (needs 131072 B)",
    )
    assert follow(FUNCTION) == 2


def test_a_variant_decides_its_own_constants() -> None:
    text = CONSTANTS.replace("tensors:", "variants: {matrix: {TR: [64, 32]}}\ntensors:", 1)
    (found,) = depth(text)
    assert not any("`TR`" in h for h in found.helps)
    assert follow(text.replace("[64, 32]", "[64]")) == 2


@settings(max_examples=25, deadline=None)
@given(
    rows=st.sampled_from([8, 16, 24, 40, 48, 64, 96]),
    cols=st.sampled_from([64, 100, 128, 256]),
    dtype=st.sampled_from(["fp32", "fp16"]),
    stages=st.integers(2, 9),
    count=st.integers(1, 20),
    beside=st.sampled_from([0, 8, 48, 96]),
    planner=st.sampled_from(["pypto", "ptoas"]),
    literal=st.booleans(),
    statement=st.sampled_from(["exp: {into: y, x: t}", "let: y = t * t + t", "let: y = exp(t) + t * 2.0"]),
)
def test_followed_for_many_shapes(
    rows: int, cols: int, dtype: str, stages: int, count: int, beside: int, planner: str, literal: bool, statement: str
) -> None:
    large = f"{{dtype: {dtype}, shape: [{max(rows * count, beside, 8)}, {cols}]"
    around = [
        f"      - load: {{into: w, from: a, at: [0, 0], shape: [{beside}, {cols}]}}\n",
        "      - store: {from: w, to: out, at: [0, 0]}\n",
    ]
    tr, f = (str(rows), str(stages)) if literal else ("TR", "F")
    text = (
        f"spec: v1\nname: shapes\ntarget: {{planner: {planner}}}\nconstants: {{TR: {rows}, F: {stages}}}\n"
        f"tensors:\n  a: {large}}}\n  out: {large}, access: out}}\nprogram:\n  - region: shapes\n    body:\n"
        + (around[0] if beside else "")
        + f"      - pipeline: {{index: i, count: {count}, stages: {f}}}\n        body:\n"
        f"          - load: {{into: t, from: a, at: [i * {tr}, 0], shape: [{tr}, {cols}]}}\n"
        f"          - {statement}\n          - store: {{from: y, to: out, at: [i * {tr}, 0]}}\n"
        + (around[1] if beside else "")
    )
    follow(text)
