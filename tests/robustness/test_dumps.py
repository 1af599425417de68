"""Dumps edited by hand: a program or an error, never a failure of the compiler."""

from __future__ import annotations

import functools
import random
import re
from dataclasses import replace

import pytest

from pypto_spec.convert.to_spec import to_spec
from pypto_spec.diagnostics.render import render
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import compile_source
from pypto_spec.ir.nodes import Dump, Program
from pypto_spec.passes.base import Pass
from tests.robustness.mutants import Mutant, damaged, gallery
from tests.robustness.test_mutants import problem

KEPT = ("softmax.yaml", "exp_pipelined.yaml", "columns.yaml", "tail_rows.yaml", "cast_chain.yaml", "big_add.yaml")


@functools.cache
def dumps() -> dict[str, str]:
    """The dumps of some of the gallery, after each pass."""
    made: dict[str, str] = {}

    def keep(step: Pass | None, program: Program) -> None:
        if step is not None:
            header = Dump(step.name, origin, "0" * 64)
            made[f"{origin} after {step.name}"] = to_spec(replace(program, dump=header))

    for origin, text, _ in gallery():
        if origin.endswith(KEPT):
            compile_source(Source("kernel.yaml", text), on_pass=keep)
    return made


def edited(seed: int) -> Mutant:
    """A dump with damage; a quarter of them without the header, which makes them ordinary specs."""
    rng = random.Random(seed)
    name, text = rng.choice(sorted(dumps().items()))
    if rng.random() < 0.25:
        text = "\n".join(line for line in text.split("\n") if not line.startswith("dump:"))
    return damaged(rng, seed, name, text, "yaml")


def report(first: int, count: int) -> str:
    found = [(m, text) for m in map(edited, range(first, first + count)) if (text := problem(m)) is not None]
    return "\n".join(f"edited({m.seed}) of {m.origin} ({m.what}): {text}" for m, text in found)


def test_some() -> None:
    assert report(0, 300) == ""


@pytest.mark.long
@pytest.mark.parametrize("block", range(20))
def test_many(block: int) -> None:
    assert report(300 + 500 * block, 500) == ""


def codes(text: str) -> set[str]:
    return {d.rule.code for d in compile_source(Source("kernel.yaml", text)).diagnostics}


LAST = "vector/exp_pipelined.yaml after InsertSync"


def test_a_barrier_or_flag_that_is_gone_is_a_finding() -> None:
    text = dumps()[LAST]
    lines = text.split("\n")
    flags = [n for n, line in enumerate(lines) if "- set_flag:" in line or "- wait_flag:" in line]
    assert flags
    for number in flags:
        left = "\n".join(line for n, line in enumerate(lines) if n != number)
        found = codes(left)
        assert any(code.startswith("PS51") for code in found), (lines[number], found)


def test_an_address_moved_onto_another_is_a_finding() -> None:
    text = dumps()["vector/softmax.yaml after InsertSync"]
    moved = re.sub(r"address: \d+", "address: 0", text)
    assert moved != text
    assert any(code.startswith(("PS51", "PS4")) for code in codes(moved))


def test_a_pass_that_does_not_exist() -> None:
    text = dumps()[LAST].replace("after: InsertSync", "after: InsertSinc")
    done = compile_source(Source("kernel.yaml", text))
    assert "did you mean `InsertSync`?" in render(done.diagnostics)
    assert codes(text) == {"PS1029"}


def test_a_type_that_is_not_what_the_statement_gives() -> None:
    text = dumps()[LAST]
    wrong = text.replace("type: {dtype: fp32", "type: {dtype: fp16", 1)
    assert wrong != text
    assert codes(wrong) & {"PS3002", "PS3001"}
