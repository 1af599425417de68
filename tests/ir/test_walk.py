"""Walks through programs with numbers: what is certain, what is possible, and where they stop."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pypto_spec.ir.expr import evaluate
from pypto_spec.ir.walk import Walk
from pypto_spec.ir.window import window_of
from tests.convert.reading import read

HEAD = """\
spec: v1
name: k
symbols: {M: {min: 8, max: 64, multiple_of: 8}}
tensors:
  x: {dtype: fp32, shape: [64, 64], access: inout}
program:
"""
UNKNOWN = None
"""A first row that is not known."""


class Certain(Walk):
    certain = True

    def pick(self, numbers: range) -> range:
        return numbers[:3]


class Possible(Walk):
    certain = False

    def pick(self, numbers: range) -> range | None:
        return numbers if len(numbers) <= 3 else None


def rows(walk: Walk, *program: str, **known: int) -> list[int | None]:
    """The first rows of all loads, in order."""
    made = read(HEAD + "".join(f"  {line}\n" for line in program))
    found: list[int | None] = []
    for region, around in walk.regions(made.body, {d: known[d.name] for d in made.dims if d.name in known}):
        for op, values in walk.ops(region.body, around):
            try:
                found.append(evaluate(window_of(op).at[0], values))
            except KeyError:
                found.append(UNKNOWN)
    return found


def load(row: str) -> str:
    return f"- load: {{into: t, from: x, at: [{row}, 0], shape: [1, 64]}}"


def region(*body: str, name: str = "r") -> tuple[str, ...]:
    return (f"- region: {name}", "  body:", *(f"    {line}" for line in body))


def around(head: str, body: Sequence[str], key: str = "body") -> tuple[str, ...]:
    return (f"- {head}", f"  {key}:", *(f"    {line}" for line in body))


def test_loops_go_round_by_round() -> None:
    body = around("for: {index: i, count: 2}", around("for: {index: j, range: [i, 4, 2]}", [load("10 * i + j")]))
    for walk in (Certain(), Possible()):
        assert rows(walk, *region(*body)) == [0, 2, 11, 13]


def test_a_walk_picks_rounds() -> None:
    body = region(*around("for: {index: i, count: 9}", [load("i")]))
    assert rows(Certain(), *body) == [0, 1, 2]
    assert rows(Possible(), *body) == [UNKNOWN]


@pytest.mark.parametrize("launch", ["for: {index: i, count: %s}", "parallel: {index: i, count: %s}"])
def test_loops_and_launches_around_regions(launch: str) -> None:
    assert rows(Certain(), *around(launch % "2", region(load("i")))) == [0, 1]
    assert rows(Certain(), *around(launch % "M", region(load("i")))) == []
    assert rows(Possible(), *around(launch % "M", region(load("i")))) == [UNKNOWN]
    assert rows(Certain(), *around(launch % "M", region(load("i"))), M=2) == [0, 1]


def test_the_number_of_blocks_is_that_of_an_spmd() -> None:
    assert rows(Possible(), *around("spmd: {index: b, blocks: 2}", region(load("num_blocks() + b")))) == [2, 3]
    assert rows(Possible(), *around("spmd: {index: b, blocks: auto}", region(load("b")))) == [UNKNOWN]
    assert rows(Certain(), *around("spmd: {index: b, blocks: auto}", region(load("b")))) == []


@pytest.mark.parametrize("inside", [True, False])
def test_arms(inside: bool) -> None:
    first, second = ([load("1")], [load("2")]) if inside else (region(load("1")), region(load("2"), name="s"))
    arms = (*around("if: M > 8", first, "then"), "  else:", *(f"    {line}" for line in second))
    program = region(*arms) if inside else arms
    assert rows(Certain(), *program) == []
    assert rows(Possible(), *program) == [1, 2]
    assert rows(Certain(), *program, M=16) == rows(Possible(), *program, M=16) == [1]
    assert rows(Certain(), *program, M=8) == rows(Possible(), *program, M=8) == [2]


def test_a_loop_with_a_condition_may_end_before_any_round() -> None:
    body = region("- let: k = 0", *around("for: {index: i, count: 2, while: k < 1}", [load("i"), "- let: k = k + 1"]))
    assert rows(Certain(), *body) == []
    assert rows(Possible(), *body) == [0, 1]


def test_a_walk_stops_after_its_statements() -> None:
    body = region(*around("for: {index: i, count: 3}", [load("i"), load("i + 8")]))
    assert rows(Certain(4), *body) == [0, 8, 1]
    assert rows(Certain(7), *body) == [0, 8, 1, 9, 2, 10]
