"""Walking: repetitions are added up exactly, and what is not known before the run is assumed and said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pypto_spec.ir.expr import Sym, add, minimum, mod, mul, sub, sym
from pypto_spec.ir.nodes import Condition
from pypto_spec.ops.decoding import Amounts
from pypto_spec.report.timeline.events import ALL, BARRIER, SET, WAIT, Event
from pypto_spec.report.timeline.keys import Budget, TooMuchError
from pypto_spec.report.timeline.known import Guesses
from pypto_spec.report.timeline.launches import BlockTime, block_time
from pypto_spec.report.timeline.machine import Machine
from pypto_spec.report.timeline.shape import Choice, Cycle, Node, Number, Varying, finished
from pypto_spec.report.timeline.walk import Walker
from pypto_spec.targets import A2A3
from tests.report.timeline.shapes import MTE2, MTE3, V, price, raised, run, shapes

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)
I = Sym("i", "loop", 0)  # noqa: E741 - the name of the loop's index


def walk(
    *nodes: Node, jump: bool = True, events: int = 10**6, values: dict[Sym, int] | None = None
) -> tuple[BlockTime, Machine, tuple[str, ...]]:
    """The nodes walked: the time, the machine, and what was assumed."""
    machine, guesses = Machine(A2A3.costs), Guesses()
    Walker(finished(nodes, price), machine, dict(values or {}), Budget(events, 10**6), guesses, jump=jump).run()
    return block_time(machine), machine, tuple(guesses.made)


@settings(max_examples=200, suppress_health_check=SLOW)
@given(shapes(), st.sampled_from((1, 2, 3, 32)))
def test_repetitions_are_exact(shape: Any, depth: int) -> None:
    times = []
    for jump in (True, False):
        machine = Machine(replace(A2A3.costs, queue_depth=depth))
        Walker(shape, machine, {}, Budget(10**6, 10**6), Guesses(), jump=jump).run()
        times.append(block_time(machine))
    assert times[0] == times[1]


def pipelined(trips: int) -> tuple[Node, ...]:
    """Load, compute and store side by side, in two slots with a flag each."""
    slot = mod(sym(I), 2)

    def flag(kind: int, pipe: int, key: tuple[str, str]) -> Node:
        return Varying(Event(kind, pipe, 1, key), None, slot, (slot,))

    free, stored = ("v", "mte2"), ("mte3", "v")
    first = tuple(Event(SET, *where) for n in (0, 1) for where in ((V, 1, (*free, n)), (MTE3, 1, (*stored, n))))
    last = tuple(Event(WAIT, *where) for n in (0, 1) for where in ((MTE2, 1, (*free, n)), (V, 1, (*stored, n))))
    body: tuple[Node, ...] = (
        flag(WAIT, MTE2, free),
        (run(MTE2, 700), *raised(MTE2, V, 0)),
        flag(WAIT, V, stored),
        (run(V, 300),),
        flag(SET, V, free),
        (*raised(V, MTE3, 0), run(MTE3, 200)),
        flag(SET, MTE3, stored),
    )
    return (first, Cycle(I, trips, body, 1), last)


def test_a_million_iterations_take_few_events() -> None:
    time, machine, _ = walk(*pipelined(1_000_000))
    assert machine.fed < 2_000
    assert 700_000_000 <= time.cycles < 703_000_000
    assert time.busy[V] == 300_000_000
    assert time.instructions == 3_000_000
    assert walk(*pipelined(3_000))[0] == walk(*pipelined(3_000), jump=False)[0]


def test_a_tail_is_not_taken_for_a_repetition() -> None:
    size = minimum(64, sub(1000, mul(sym(I), 64)))
    nodes = (Cycle(I, 16, (Varying(run(V, 0), Amounts(size, size, 1), None, (size,)),), 1),)
    time, _, _ = walk(*nodes)
    assert time.busy[V] == 15 * price("v", "Add", 64, 1, None) + price("v", "Add", 40, 1, None)


def alone(*nodes: Node) -> tuple[Node, ...]:
    """Nodes that end in one state, however they start."""
    return (*nodes, (Event(BARRIER, ALL, 1),))


def same(*nodes: Node) -> bool:
    """Whether looking for repetitions changes nothing, where every iteration starts in the same state."""
    return walk(*nodes)[0] == walk(*nodes, jump=False)[0]


def test_iterations_are_told_apart_by_what_they_do() -> None:
    often = Choice(Condition("<", mod(sym(I), 3), 2), ((run(V, 5),),), ((run(V, 90),),), 1)
    assert same(Cycle(I, 50, alone(often), 1))
    tail = minimum(64, sub(2500, mul(sym(I), 64)))
    last = Varying(run(V, 0), Amounts(tail, tail, 1), None, (tail,))
    assert same(Cycle(I, 50, alone(often, last), 1))


def test_loops_inside_are_told_apart_by_what_they_do() -> None:
    inner = Sym("j", "loop", 0)
    tail = minimum(64, sub(900, add(mul(sym(I), 64), mul(sym(inner), 16))))
    last = Varying(run(V, 0), Amounts(tail, tail, 1), None, (tail,))
    assert same(Cycle(I, 14, alone(Cycle(inner, 3, (last,), 1)), 1))


def test_a_number_of_an_earlier_round_decides_nothing() -> None:
    number, result, inner = Sym("n", "local"), Sym("m", "local"), Sym("j", "loop", 0)
    size = mul(mod(add(mul(sym(I), sym(result)), 1), 7), 16)
    counted = Cycle(
        inner, 2, ((run(V, 1),),), 1, None,
        (Number(number, mod(sym(I), 5)),), (Number(number, mul(sym(number), 3)),), (Number(result, sym(number)),),
    )  # fmt: skip
    varying = Varying(run(V, 0), Amounts(size, size, 1), None, (size,))
    outer = Sym("k", "loop", 0)
    assert same(Cycle(outer, 3, alone(Cycle(I, 41, alone(counted, varying), 1)), 1))


def test_numbers_that_are_carried_are_followed() -> None:
    number, result, after = Sym("n", "local"), Sym("m", "local"), Sym("j", "loop", 0)
    size = mul(sym(number), 16)
    loop = Cycle(
        I, 5, (Varying(run(V, 0), Amounts(size, size, 1), None, (size,)),), 1, None,
        (Number(number, 1),), (Number(number, mul(sym(number), 2)),), (Number(result, sym(number)),),
    )  # fmt: skip
    time, _, assumed = walk(loop, Cycle(after, sym(result), ((run(MTE3, 1),),), 1))
    assert time.busy[V] == sum(7 + 2**n + 1 for n in range(5))
    assert time.busy[MTE3] == 32
    assert assumed == ()


def test_an_unknown_condition_takes_the_longer_arm() -> None:
    unknown = Condition("<", sym(Sym("n", "local")), 3)
    time, _, assumed = walk(Choice(unknown, ((run(V, 5),),), ((run(V, 50),),), 12))
    assert time.busy[V] == 50
    assert assumed == ("the condition of line 12 is not known before the run: it is not taken, the longer arm",)


def test_unknown_trips_are_the_upper_bound_and_a_while_runs_once() -> None:
    time, _, assumed = walk(Cycle(I, sym(Sym("n", "scalar", 0, 9)), ((run(V, 5),),), 3))
    assert (time.busy[V], assumed) == (45, ("`n` is not known before the run: 9 is assumed",))
    endless = Cycle(I, None, ((run(V, 5),),), 3, Condition(">", sym(Sym("n", "local")), 0))
    time, _, assumed = walk(endless)
    assert (time.busy[V], assumed) == (5, ("how often the loop of line 3 runs is not known: once is assumed",))


def test_too_much_is_given_up() -> None:
    inner = Sym("j", "loop", 0)
    size = mul(sym(I), 16)
    grows = Varying(run(V, 0), Amounts(size, size, 1), None, (size,))
    with pytest.raises(TooMuchError):
        walk(Cycle(I, 10_000, (Cycle(inner, 3, (grows,), 1),), 1), events=1_000)
