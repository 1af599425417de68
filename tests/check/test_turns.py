"""Flags whose id changes with the index of a loop: decided as if the loop were written out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from pypto_spec.ir.nodes import Pipe
from tests.check.making import At, Bar, Cond, Do, Down, Item, Loop, Up, check, codes, edited, unrolled
from tests.check.test_exp_loop import load, store, vector
from tests.check.test_loops_random import PAIRS, PIPES

TILE = 32768


def slot(base: int, slots: int) -> At:
    return At(base, TILE, (("i", TILE),), slots=slots)


def turn(make: type[Up] | type[Down], source: Pipe, target: Pipe, turns: int, id: int = 0) -> Item:
    return make(source, target, id, "i", turns)


def slots(count: int, trips: int | None, least: int = 0) -> list[Item]:
    """A load into `count` slots in turn, work on them in place, a store of them: one event a slot."""
    place = slot(0, count)
    body = (
        turn(Down, "mte3", "mte2", count), load(place, TILE), turn(Up, "mte2", "v", count),
        turn(Down, "mte2", "v", count), vector([place], place), turn(Up, "v", "mte3", count),
        turn(Down, "v", "mte3", count), store(place, TILE), turn(Up, "mte3", "mte2", count),
    )  # fmt: skip
    ids = range(count)
    return [
        *(Up("mte3", "mte2", n) for n in ids),
        Loop("i", trips, body, least),
        *(Down("mte3", "mte2", n) for n in ids),
    ]


COUNTS = [2, 3, 4, 6]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("trips", [None, 1, 2, 3, 4, 5, 6, 7, 8, 9, 13])
def test_one_event_a_slot_is_accepted(count: int, trips: int | None) -> None:
    assert [d.message for d in check(slots(count, trips))] == []
    assert [d.message for d in check(slots(count, trips, 1))] == []


@pytest.mark.parametrize("trips", [None, 7, 8])
@pytest.mark.parametrize("count", COUNTS)
def test_each_flag_of_them_is_missed(count: int, trips: int | None) -> None:
    items = slots(count, trips)
    for line in flag_lines(items):
        assert codes(without(items, {line})), line


def flag_lines(items: Sequence[Item]) -> list[int]:
    found: list[int] = []

    def note(line: int, item: Item) -> list[Item]:
        if isinstance(item, Up | Down):
            found.append(line)
        return [item]

    edited(items, note)
    return found


def without(items: Sequence[Item], lines: set[int]) -> list[Item]:
    return edited(items, lambda n, item: [] if n in lines else [item])


@pytest.mark.parametrize("trips", [None, 7, 8])
@pytest.mark.parametrize("count", COUNTS)
def test_wrong_ids_are_refused(count: int, trips: int | None) -> None:
    items = slots(count, trips)
    for line in flag_lines(items):
        for change in ({"shift": 1}, {"turns": count - 1}, {"by": "", "turns": 1}):
            wrong = changed(items, line, change)
            if wrong != items:
                assert codes(wrong), (line, change)


def changed(items: Sequence[Item], line: int, change: dict[str, Any]) -> list[Item]:
    """The program with another id on one line, if that is a flag in turns."""

    def edit(number: int, item: Item) -> list[Item]:
        return [replace(item, **change) if number == line and isinstance(item, Up | Down) and item.by else item]

    return edited(items, edit)


def test_a_dependency_less_is_a_race_around_the_loop() -> None:
    found = check(edited(slots(2, 8), _drop))
    races = [d.message for d in found if d.rule.code == "PS5101"]
    assert races
    assert all("in an earlier iteration" in message for message in races)


def _drop(_: int, item: Item) -> list[Item]:
    return [] if isinstance(item, Up | Down) and (item.source, item.target) == ("mte3", "mte2") else [item]


def test_too_few_events_for_the_slots_are_accepted_too() -> None:
    """Four slots and two events: the load of a round waits for the store two rounds ago."""
    wide, narrow = slot(0, 4), slots(2, None)
    loop = narrow[2]
    assert isinstance(loop, Loop)
    body = tuple(
        replace(i, reads=_at(i.reads, wide), writes=_at(i.writes, wide)) if isinstance(i, Do) else i for i in loop.body
    )
    assert codes([*narrow[:2], replace(loop, body=body), *narrow[3:]]) == set()
    assert codes([*narrow[:2], replace(loop, body=tuple(b for b in body if not isinstance(b, Down))), *narrow[3:]])


def _at(places: tuple[At, ...], to: At) -> tuple[At, ...]:
    return tuple(to if p.space == "vec" else p for p in places)


def test_an_index_as_the_id_itself_is_written_out() -> None:
    body = (Do("mte2"), Up("mte2", "v", 0, "i", 60), Down("mte2", "v", 0, "i", 60), Do("v"))
    assert codes([Loop("i", 6, body)]) == set()
    assert codes([Loop("i", 7, body)]) == {"PS5106"}
    (found,) = {d.message for d in check([Loop("i", 8, body)])}
    assert found == "flag id i is outside 0..5; it takes the values 6, 7"


def test_what_one_remainder_only_leaves_over_is_found() -> None:
    """Sets in turns, waited for behind the loop as if it had run twice."""
    loop = Loop("i", 2, (turn(Up, "mte2", "v", 2),))
    waits = [Down("mte2", "v", 0), Down("mte2", "v", 1)]
    assert codes([loop, *waits]) == set()
    assert codes([replace(loop, trips=1), *waits]) == {"PS5102"}
    assert codes([replace(loop, trips=3), *waits]) == {"PS5103"}
    assert codes([replace(loop, trips=None, least=1), *waits]) == {"PS5103"}


def test_an_arm_may_leave_a_flag_down() -> None:
    back: tuple[Item, ...] = (Up("v", "mte2"), Down("v", "mte2"))
    both: tuple[Item, ...] = (turn(Up, "mte2", "v", 2), turn(Down, "mte2", "v", 2))
    assert codes([Loop("i", None, (*both, *back))]) == set()
    assert codes([Loop("i", None, (Cond(both[:1]), both[1], *back))]) == {"PS5102"}


@st.composite
def work(draw: st.DrawFn) -> Item:
    """An instruction on a fixed place or on a slot that turns with the loop."""
    places: list[tuple[At, ...]] = []
    for _ in range(2):
        base = draw(st.sampled_from([0, 32, 64]))
        turning = At(base, 32, (("i", 32),), slots=draw(st.sampled_from([2, 3])))
        places.append(draw(st.sampled_from([(), (At(base, 32),), (turning,), (turning,)])))
    return Do(draw(st.sampled_from(PIPES)), places[0], places[1])


@st.composite
def programs(draw: st.DrawFn, trips: int | None) -> list[Item]:
    """A loop with flags in turns, within its rounds and carried around it, some of them wrong."""
    body: list[Item] = list(draw(st.lists(work(), min_size=1, max_size=3)))
    before: list[Item] = []
    after: list[Item] = []
    for _ in range(draw(st.integers(0, 2))):
        source, target = draw(st.sampled_from(PAIRS))
        turns, id = draw(st.integers(1, 3)), draw(st.integers(0, 3))
        first = draw(st.integers(0, len(body)))
        body.insert(first, Up(source, target, id, "i", turns))
        body.insert(draw(st.integers(first + 1, len(body))), Down(source, target, id, "i", turns))
    for _ in range(draw(st.integers(0, 2))):
        source, target = draw(st.sampled_from(PAIRS))
        turns, id = draw(st.integers(1, 3)), draw(st.integers(0, 3))
        first = draw(st.integers(0, len(body)))
        body.insert(first, Down(source, target, id, "i", turns))
        body.insert(
            draw(st.integers(first + 1, len(body))),
            Up(source, target, id, "i", turns, draw(st.sampled_from([0] * 9 + [1]))),
        )
        before += [Up(source, target, id + n) for n in range(turns)]
        after += [Down(source, target, id + n) for n in range(turns)]
    if draw(st.integers(0, 3)) == 0:
        body.insert(draw(st.integers(0, len(body))), Bar(draw(st.sampled_from(["v", "mte2", "mte3"]))))
    if draw(st.integers(0, 5)) == 0:
        del body[draw(st.integers(0, len(body) - 1))]
    if draw(st.integers(0, 3)) == 0:
        arm = draw(st.integers(0, len(body)))
        body[arm:] = [Cond(tuple(body[arm:]))]
    return [*before, Loop("i", trips, tuple(body), draw(st.integers(0, 2))), *after]


def _paths(items: list[Item], trips: range) -> Iterator[list[Item]]:
    for count in trips:
        for seed in (1, 0, 2):
            yield list(unrolled(items, {"i": count}, iter([bool((seed >> (n % 2)) & 1) for n in range(99)])))


@given(programs(None))
def test_what_is_accepted_is_right_for_every_count(items: list[Item]) -> None:
    loop = next(i for i in items if isinstance(i, Loop))
    if check(items):
        event("refused")
        return
    event("accepted")
    for path in _paths(items, range(loop.least, loop.least + 8)):
        assert not check(path)


@given(st.integers(1, 9).flatmap(programs))
def test_what_is_accepted_is_right_for_its_count(items: list[Item]) -> None:
    loop = next(i for i in items if isinstance(i, Loop))
    assert loop.trips is not None
    if check(items):
        event("refused")
        return
    event("accepted")
    for path in _paths(items, range(loop.trips, loop.trips + 1)):
        assert not check(path)


@given(st.sampled_from([12, 13]).flatmap(programs))
def test_long_loops_are_refused_only_for_a_reason(items: list[Item]) -> None:
    if any(isinstance(i, Cond) for loop in items if isinstance(loop, Loop) for i in loop.body):
        return
    refused = bool(check(list(unrolled(items, {}, iter(())))))
    event("refused" if refused else "accepted")
    assert bool(check(items)) == refused
