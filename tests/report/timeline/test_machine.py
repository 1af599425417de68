"""One core on streams written by hand: what overlaps, what waits, and for how long."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pypto_spec.report.timeline.events import ALL, BARRIER, PIPES, RUN, SET, WAIT, Event, tile
from pypto_spec.report.timeline.machine import Again, Machine, Span, StuckError
from pypto_spec.targets import A2A3

COSTS = replace(A2A3.costs, dispatch=1, set_flag=0, wait_flag=0, barrier=0)
S, V, MTE2, MTE3, M, FIX = (PIPES.index(name) for name in ("s", "v", "mte2", "mte3", "m", "fix"))


def run(pipe: int, cycles: int, name: str = "") -> Event:
    return Event(RUN, pipe, cycles, None, name)


def up(source: int, flag: str | int) -> Event:
    return Event(SET, source, 0, flag)


def wait(target: int, flag: str | int) -> Event:
    return Event(WAIT, target, 0, flag)


def end(*events: Event) -> int:
    machine = Machine(COSTS)
    machine.feed(events)
    return machine.end


def test_pipes_overlap_and_one_pipe_does_not() -> None:
    assert end(run(MTE2, 100), run(V, 100)) == 102
    assert end(run(V, 100), run(V, 100)) == 201


def test_a_flag_orders_two_pipes() -> None:
    assert end(run(MTE2, 100), up(MTE2, 0), wait(V, 0), run(V, 50)) == 151
    assert end(run(MTE2, 100), up(MTE2, 0), run(V, 50), wait(V, 0)) == 101


def test_a_set_waits_for_earlier_work_only() -> None:
    assert end(up(MTE2, 0), run(MTE2, 100), wait(V, 0), run(V, 50)) == 102


def test_a_wait_may_stand_before_its_set() -> None:
    assert end(wait(V, 0), run(V, 50), run(MTE2, 100), up(MTE2, 0)) == 153
    with pytest.raises(StuckError, match="waits for a flag that nothing sets"):
        end(wait(V, 0), run(V, 50))


def test_the_scalar_stream_waits_at_dispatch() -> None:
    assert end(run(V, 100), up(V, "s"), wait(S, "s"), run(MTE2, 10)) == 112
    with pytest.raises(StuckError, match="scalar stream"):
        end(wait(S, "s"))


def test_barriers_cost_and_that_of_all_pipes_stops_dispatch() -> None:
    costly = Event(BARRIER, V, 7)
    assert end(run(V, 100), costly, run(V, 100)) == 208
    assert end(run(V, 100), Event(BARRIER, ALL, 3), run(MTE2, 10)) == 101 + 3 + 1 + 10


def test_dispatch_is_in_order_and_takes_its_time() -> None:
    machine = Machine(replace(COSTS, dispatch=20))
    machine.feed([run(MTE2, 5), run(V, 5), run(S, 4), run(MTE3, 5)])
    assert machine.end == 20 + 20 + 20 + 4 + 20 + 5
    assert [machine.busy[p] for p in (S, V, MTE2, MTE3)] == [84, 5, 5, 5]


def test_a_full_queue_holds_up_dispatch() -> None:
    events = [*(run(V, 100) for _ in range(6)), run(MTE2, 10)]
    free, short = Machine(COSTS, keep_spans=True), Machine(replace(COSTS, queue_depth=2), keep_spans=True)
    for machine in (free, short):
        machine.feed(events)
    assert free.spans is not None
    assert short.spans is not None
    assert (free.spans[-1].start, short.spans[-1].start) == (7, 303)
    with pytest.raises(StuckError, match="the queue of v is full"):
        short.feed([wait(V, 0), run(V, 1), run(V, 1)])


def loop(rounds: int, slots: int) -> int:
    """Load 100, compute 100, with that many buffers."""
    made = [up(V, n) for n in range(slots)]
    for n in range(rounds):
        slot = n % slots
        made += [wait(MTE2, slot), run(MTE2, 100), up(MTE2, "in"), wait(V, "in"), run(V, 100), up(V, slot)]
    return end(*made, *(wait(MTE2, n) for n in range(slots)))


def test_two_buffers_halve_the_time() -> None:
    assert 2000 <= loop(10, 1) < 2020
    assert 1100 <= loop(10, 2) < 1120


def test_spans_say_what_ran_when() -> None:
    machine = Machine(COSTS, keep_spans=True)
    machine.feed([run(MTE2, 100, "DataCopy"), up(MTE2, 0), wait(V, 0), run(V, 50, "Exp")])
    assert machine.spans == [Span("mte2", "DataCopy", 0, 1, 101), Span("v", "Exp", 0, 101, 151)]


def test_a_repetition_moves_everything() -> None:
    machine, long = Machine(COSTS, keep_spans=True), Machine(COSTS)
    body = [run(MTE2, 100), up(MTE2, 0), wait(V, 0), run(V, 30)]
    machine.feed(body)
    mark, state = machine.mark(), machine.state()
    machine.feed(body * 40)
    while machine.state() != state:
        mark, state = machine.mark(), machine.state()
        machine.feed(body)
        assert machine.now < 10**5
    machine.repeat(mark, 50)
    long.feed(body * (machine.instructions // 2))
    assert (machine.end, machine.busy, machine.instructions) == (long.end, long.busy, long.instructions)
    assert machine.again == [Again(mark.spans, mark.spans + 2, 100, 50)]


def test_a_state_knows_what_stands_in_the_queues() -> None:
    one, two = Machine(COSTS), Machine(COSTS)
    one.feed([run(V, 100), run(V, 100)])
    two.feed([run(V, 199), run(V, 1)])
    assert (one.now, one.free) == (two.now, two.free)
    assert one.state() != two.state()


def test_no_state_while_a_pipe_waits_for_a_later_set() -> None:
    machine = Machine(COSTS)
    machine.feed([wait(V, 0)])
    assert machine.state() is None


def units(pipe: int, cycles: int, address: int = 0) -> Event:
    return Event(RUN, pipe, cycles, tile(address))


def test_unit_flags_let_a_drain_begin_with_its_mmad() -> None:
    assert end(units(M, 500), units(FIX, 300)) == 501  # as long as the Mmad
    assert end(units(M, 300), units(FIX, 500)) == 502
    assert end(units(M, 300), units(FIX, 500), units(M, 100), run(M, 1)) == 503  # the next Mmad ends with the drain
    assert end(units(M, 300), units(FIX, 500, 1024)) == 502  # of another accumulator
    assert end(run(M, 200), units(M, 300), units(FIX, 100)) == 501


def test_a_state_knows_which_accumulators_are_at_work() -> None:
    one, two = Machine(COSTS), Machine(COSTS)
    one.feed([units(M, 500)])
    two.feed([units(M, 500, 1024)])
    assert one.free == two.free
    assert one.state() != two.state()
