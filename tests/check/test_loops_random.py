"""Loops and branches: what is accepted is accepted unrolled, and the other way round where that is promised."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from hypothesis import event, given
from hypothesis import strategies as st

from pypto_spec.ir.nodes import Pipe
from tests.check.making import At, Bar, Cond, Do, Down, Item, Loop, Up, check, repaired, unrolled

PIPES: list[Pipe] = ["v", "mte2", "mte3"]
PAIRS: list[tuple[Pipe, Pipe]] = [("mte2", "v"), ("v", "mte3"), ("v", "mte2"), ("mte3", "mte2"), ("mte3", "v")]
ANY = (32, 64, -32)


@st.composite
def places(draw: st.DrawFn, index: str | None, factors: tuple[int, ...]) -> tuple[At, ...]:
    """At most one access; inside a loop perhaps one that moves with its index."""
    if draw(st.booleans()):
        return ()
    base = draw(st.sampled_from([0, 32, 64]))
    if index is None or draw(st.integers(0, 2)):
        return (At(base, 32),)
    factor, slots = draw(st.sampled_from(factors)), draw(st.sampled_from([0, 2, 3]))
    return (At(base, 32, ((index, factor),), slots=slots),)


@st.composite
def straight(draw: st.DrawFn, index: str | None, size: int, factors: tuple[int, ...] = ANY) -> list[Item]:
    """Instructions with barriers, and pairs of set and wait thrown in."""
    works = st.builds(Do, st.sampled_from(PIPES), places(index, factors), places(index, factors))
    items: list[Item] = list(draw(st.lists(works, min_size=1, max_size=size)))
    for number in range(draw(st.integers(0, 3))):
        source, target = draw(st.sampled_from(PAIRS))
        first = draw(st.integers(0, len(items)))
        items.insert(first, Up(source, target, number))
        items.insert(draw(st.integers(first + 1, len(items))), Down(source, target, number))
    for _ in range(draw(st.integers(0, 2))):
        items.insert(draw(st.integers(0, len(items))), Bar(draw(st.sampled_from(["v", "mte2", "mte3", "all"]))))
    return items


@st.composite
def loops(draw: st.DrawFn, trips: int | None, least: int, more: bool, factors: tuple[int, ...] = ANY) -> list[Item]:
    """A loop between straight code, perhaps with flags carried around it, and with `more` a loop or branch in it."""
    body = draw(straight("i", 3, factors))
    if more and draw(st.booleans()):
        inner = Loop("j", trips if trips is None else 2, tuple(draw(straight("j", 2))), 0)
        body.insert(draw(st.integers(0, len(body))), inner)
    if more and draw(st.booleans()):
        branch = Cond(tuple(draw(straight("i", 2))), tuple(draw(straight("i", 2))) if draw(st.booleans()) else ())
        body.insert(draw(st.integers(0, len(body))), branch)
    before, after = draw(straight(None, 2)), draw(straight(None, 2))
    for number in range(3, 3 + draw(st.integers(0, 3))):
        source, target = draw(st.sampled_from(PAIRS))
        body.insert(draw(st.integers(0, len(body))), Down(source, target, number))
        if draw(st.integers(0, 3)):
            body.append(Up(source, target, number))
        else:
            body.insert(draw(st.integers(0, len(body))), Up(source, target, number))
        before.append(Up(source, target, number))
        after.insert(0, Down(source, target, number))
    return [*before, Loop("i", trips, tuple(body), least), *after]


def _paths(items: list[Item], least: int, most: int) -> Iterator[list[Item]]:
    for i, j in product(range(least, most), range(most)):
        for seed in range(4):
            arms = iter([bool((seed >> (n % 2)) & 1) for n in range(200)])
            yield list(unrolled(items, {"i": i, "j": j}, arms))


@given(st.integers(0, 1).flatmap(lambda least: st.tuples(st.just(least), loops(None, least, True))))
def test_what_is_accepted_is_right_on_every_path(case: tuple[int, list[Item]]) -> None:
    least, items = case
    items = repaired(items)
    if check(items):
        event("refused")
        return
    event("accepted")
    for path in _paths(items, least, 4):
        assert not check(path)


@given(loops(6, 6, False, (32,)))
def test_long_loops_are_refused_only_for_a_reason(items: list[Item]) -> None:
    """Not for what stands around a loop: behind it, its iterations are not told apart."""
    kept = [item for item in items if not isinstance(item, Do)]
    for program in (kept, repaired(kept, 1), repaired(kept, 3)):
        refused = bool(check(list(unrolled(program, {}, iter(())))))
        event("refused" if refused else "accepted")
        assert bool(check(program)) == refused
