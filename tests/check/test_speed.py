"""The checker's share of a build, and that it grows with the program and not with its square."""

from __future__ import annotations

import gc
from time import process_time

import pytest

from pypto_spec.check import check_program
from pypto_spec.diagnostics.model import Sink
from pypto_spec.targets import A2A3
from tests.check.making import At, Bar, Do, Down, Item, Loop, Maker, Up

TILE = 16384


def chain(length: int, buffers: int = 4) -> list[Item]:
    """Vector statements that depend on each other, each with its barrier, between loads and stores of row tiles."""
    items: list[Item] = []
    for n in range(length):
        here, there = At(n % buffers * TILE, TILE), At((n + 1) % buffers * TILE, TILE)
        if n % 16 == 0:
            items += [Up("v", "mte2"), Down("v", "mte2"), Up("mte3", "mte2"), Down("mte3", "mte2")]
            items += [Do("mte2", (At(n * TILE, TILE, (), "a"),), (here,)), Up("mte2", "v"), Down("mte2", "v")]
        elif n % 16 == 15:
            items += [Up("v", "mte3"), Down("v", "mte3"), Do("mte3", (here,), (At(n * TILE, TILE, (), "out"),))]
            items += [Up("mte3", "v"), Down("mte3", "v")]
        else:
            items += [Do("v", (here,), (there,)), Bar("v")]
    return [*items, Bar("all")]


def seconds(items: list[Item]) -> float:
    """The best of three runs, findings not wanted."""
    maker, times = Maker(), []
    program = maker.program(items)
    gc.disable()  # as the driver does
    try:
        for _ in range(3):
            sink = Sink()
            started = process_time()
            check_program(program, A2A3, sink, maker.effect)
            times.append(process_time() - started)
            assert [d.message for d in sink.found][:3] == []
    finally:
        gc.enable()
    return min(times)


@pytest.mark.parametrize("inside", [False, True])
def test_four_thousand_statements(inside: bool) -> None:
    items = chain(4000)
    if inside:
        items = [Loop("i", 1 << 20, tuple(items))]
    assert seconds(items) < (1.0 if inside else 0.25)


def test_near_linear() -> None:
    assert seconds(chain(10_000)) < 8 * seconds(chain(2_500))


def test_a_program_without_any_order_is_refused_quickly() -> None:
    program = (maker := Maker()).program([Do("v", (At(0, TILE),), (At(0, TILE),)) for _ in range(4000)])
    started = process_time()
    check_program(program, A2A3, sink := Sink(), maker.effect)
    assert process_time() - started < 1.0
    assert sink.has_errors
