"""The checker against brute force, on random straight-line programs."""

from __future__ import annotations

from typing import get_args

from hypothesis import given, note
from hypothesis import strategies as st

from pypto_spec.ir.nodes import Pipe
from pypto_spec.targets.events import FLAG_KINDS
from tests.check.making import At, Bar, Do, Down, Item, Up, all_races, check
from tests.check.oracle import Machine, waits_first

PIPES: list[Pipe] = [p for p in get_args(Pipe) if p in ("v", "mte2", "mte3", "s")]
KINDS = sorted(FLAG_KINDS["aiv"])
HALF = [At(0, 32), At(32, 32), At(0, 64), At(8, 4, steps=((2, 32),)), At(16, 16, steps=((2, 32),))]


def works() -> st.SearchStrategy[Item]:
    places = st.lists(st.sampled_from(HALF), max_size=1).map(tuple)
    return st.builds(Do, st.sampled_from(PIPES), places, places, st.booleans())


def flags() -> st.SearchStrategy[Item]:
    usual = [("mte2", "v"), ("v", "mte2"), ("v", "mte3"), ("mte3", "mte2"), ("v", "s"), ("s", "v")]
    kinds = st.one_of(st.sampled_from(usual), st.sampled_from(KINDS))
    return st.builds(lambda make, kind: make(kind[0], kind[1], 0), st.sampled_from([Up, Down]), kinds)


@st.composite
def programs(draw: st.DrawFn) -> list[Item]:
    """Instructions with pairs of set and wait thrown in, some of them torn out again."""
    items: list[Item] = draw(st.lists(works(), min_size=2, max_size=5))
    for _ in range(draw(st.integers(0, 3))):
        source, target = draw(st.sampled_from(KINDS))
        first = draw(st.integers(0, len(items)))
        items.insert(first, Up(source, target))  # type: ignore[arg-type]
        second = draw(st.integers(first + 1, len(items)))
        items.insert(second, Down(source, target))  # type: ignore[arg-type]
    for _ in range(draw(st.integers(0, 1))):
        items.insert(draw(st.integers(0, len(items))), Bar(draw(st.sampled_from(["v", "mte2", "mte3", "all"]))))
    if draw(st.integers(0, 4)) == 0:
        items.insert(draw(st.integers(0, len(items))), draw(flags()))
    if draw(st.integers(0, 4)) == 0:
        del items[draw(st.integers(0, len(items) - 1))]
    return items


@given(programs())
def test_the_same_verdict_as_all_schedules(items: list[Item]) -> None:
    verdict = Machine(items).run()
    found = check(items)
    note(str(verdict))
    note("\n".join(d.message for d in found))
    if verdict.flags_wrong or waits_first(items):
        assert {d.rule.code for d in found} & {"PS5102", "PS5103", "PS5104"}
    else:
        assert {d.rule.code for d in found} <= {"PS5101"}
        assert {(a - 1, b - 1) for a, b in all_races(items)} == verdict.races
        assert bool(found) == bool(verdict.races)
