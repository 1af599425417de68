"""The normal forms of synchronisation are accepted, and each of their mutants is refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from pypto_spec.ir.nodes import Pipe
from tests.check.making import At, Bar, Cond, Do, Down, Item, Loop, Up, check, codes, hazards

TILE = 32768


def load(to: At, step: int = TILE, index: str = "i") -> Do:
    return Do("mte2", (At(0, TILE, ((index, step),), "a"),), (to,), name="load")


def store(source: At, step: int = TILE, index: str = "i") -> Do:
    return Do("mte3", (source,), (At(0, TILE, ((index, step),), "out"),), name="store")


def vector(reads: Sequence[At], writes: At, name: str = "exp") -> Do:
    return Do("v", tuple(reads), (writes,), name=name)


def pair(source: Pipe, target: Pipe, id: int = 0) -> tuple[Item, Item]:
    return Up(source, target, id), Down(source, target, id)


T, U, S = At(0, TILE), At(TILE, TILE), At(2 * TILE, 512)

EXP: list[Item] = [
    Up("mte3", "mte2"),
    Loop("i", 8, (
        Down("mte3", "mte2"), load(T), *pair("mte2", "v"), vector([T], T), *pair("v", "mte3"), store(T),
        Up("mte3", "mte2"),
    )),
    Down("mte3", "mte2"),
]  # fmt: skip

ANY_TRIPS: list[Item] = [replace(i, trips=None) if isinstance(i, Loop) else i for i in EXP]

TWO_SLOTS_BY_HAND: list[Item] = [
    Up("mte3", "mte2", 0), Up("mte3", "mte2", 1),
    Loop("i", 4, (
        Down("mte3", "mte2", 0), load(T, 2 * TILE), *pair("mte2", "v", 0), vector([T], T), *pair("v", "mte3", 0),
        store(T, 2 * TILE), Up("mte3", "mte2", 0),
        Down("mte3", "mte2", 1), load(U, 2 * TILE), *pair("mte2", "v", 1), vector([U], U), *pair("v", "mte3", 1),
        replace(store(U), writes=(At(TILE, TILE, (("i", 2 * TILE),), "out"),)), Up("mte3", "mte2", 1),
    )),
    Down("mte3", "mte2", 0), Down("mte3", "mte2", 1),
]  # fmt: skip

CHAIN: list[Item] = [
    replace(load(T), reads=(At(0, TILE, (), "a"),)), *pair("mte2", "v"), vector([T], U), Bar("v"), vector([U], T),
    Bar("v"), vector([T, U], U, "add"), *pair("v", "mte3"), replace(store(U), writes=(At(0, TILE, (), "out"),)),
]  # fmt: skip

ACCUMULATOR: list[Item] = [
    vector([], S, "full"), Up("v", "mte2"),
    Loop("i", 8, (Down("v", "mte2"), load(T), *pair("mte2", "v"), vector([T, S], S, "add"), Up("v", "mte2"))),
    Down("v", "mte2"), *pair("v", "mte3"), Do("mte3", (S,), (At(0, 512, (), "out"),), name="store"),
]  # fmt: skip

REPEATED: list[Item] = [
    Do("mte2", (At(0, TILE, (), "a"),), (T,), name="load"), vector([], S, "full"), *pair("mte2", "v"),
    Loop("i", None, (Bar("v"), vector([T, S], S, "add"))),
    *pair("v", "mte3"), Do("mte3", (S,), (At(0, 512, (), "out"),), name="store"),
]  # fmt: skip

NESTED: list[Item] = [
    Up("mte3", "v"), Up("v", "mte2"),
    Loop("i", 4, (
        Down("mte3", "v"), vector([], S, "full"),
        Loop("j", None, (
            Down("v", "mte2"), load(T, TILE, "j"), *pair("mte2", "v"), Bar("v"), vector([T, S], S, "add"),
            Up("v", "mte2"),
        )),
        *pair("v", "mte3"), Do("mte3", (S,), (At(0, 512, (("i", 512),), "out"),), name="store"), Up("mte3", "v"),
    )),
    Down("v", "mte2"), Down("mte3", "v"),
]  # fmt: skip

BRANCH: list[Item] = [
    Up("mte3", "mte2"),
    Loop("i", 8, (
        Down("mte3", "mte2"), load(T), *pair("mte2", "v"),
        Cond((vector([T], T), Bar("v"), vector([T], T, "neg")), (vector([T], T, "abs"),)),
        *pair("v", "mte3"), store(T), Up("mte3", "mte2"),
    )),
    Down("mte3", "mte2"),
]  # fmt: skip

BRANCH_WITH_FLAGS: list[Item] = [
    vector([], T), Up("v", "mte2"),
    Cond((Down("v", "mte2"), load(T, 0), *pair("mte2", "v", 1)), (Down("v", "mte2"),)),
    Bar("v"), vector([T], T),
]  # fmt: skip
BRANCH_WITH_FLAGS[2] = Cond(
    (Down("v", "mte2"), Do("mte2", (), (T,), name="load"), *pair("mte2", "v", 1)), (Down("v", "mte2"),)
)

GOOD = {
    "exp": EXP, "any trips": ANY_TRIPS, "two slots": TWO_SLOTS_BY_HAND, "chain": CHAIN, "accumulator": ACCUMULATOR,
    "repeated": REPEATED, "nested": NESTED, "branch": BRANCH, "branch with flags": BRANCH_WITH_FLAGS,
}  # fmt: skip


def without(items: Sequence[Item], drop: object) -> Iterator[Item]:
    """The program without one statement (by identity), or without all sets and waits of one kind and id."""
    for item in items:
        kind = (item.source, item.target, item.id) if isinstance(item, Up | Down) else None
        if item is drop or (kind is not None and kind == drop):
            continue
        if isinstance(item, Loop):
            yield replace(item, body=tuple(without(item.body, drop)))
        elif isinstance(item, Cond):
            yield Cond(tuple(without(item.then, drop)), tuple(without(item.other, drop)))
        else:
            yield item


def order(items: Sequence[Item]) -> Iterator[Up | Down | Bar]:
    for item in items:
        if isinstance(item, Loop):
            yield from order(item.body)
        elif isinstance(item, Cond):
            yield from order((*item.then, *item.other))
        elif isinstance(item, Up | Down | Bar):
            yield item


@pytest.mark.parametrize("name", GOOD)
def test_accepted(name: str) -> None:
    assert [d.message for d in check(GOOD[name])] == []


@pytest.mark.parametrize("name", GOOD)
def test_every_set_wait_and_barrier_is_missed(name: str) -> None:
    for drop in order(GOOD[name]):
        found = codes(list(without(GOOD[name], drop)))
        assert found, f"{name} without {drop}"
        if isinstance(drop, Bar):
            assert found == {"PS5101"}


@pytest.mark.parametrize("name", GOOD)
def test_a_dropped_dependency_is_a_race(name: str) -> None:
    for kind in {(i.source, i.target, i.id) for i in order(GOOD[name]) if not isinstance(i, Bar)}:
        found = codes(list(without(GOOD[name], kind)))
        assert "PS5101" in found, f"{name} without {kind}"
        assert found <= {"PS5101", "PS5103"}, f"{name} without {kind}"


def test_the_message_of_a_race_names_both_statements() -> None:
    found = next(d for d in check(list(without(EXP, ("mte2", "v", 0)))) if d.rule.code == "PS5101")
    assert found.message == (
        "RAW race in bytes 0..32768 of vec: `exp` on v reads them while they may still be written by `load` on mte2"
    )
    assert (found.secondary[0].text, found.primary.text) == ("written on mte2", "reads on v")
    assert found.secondary[0].span.line < found.primary.span.line
    assert "`- set_flag: {from: mte2, to: v, id: N}`" in found.helps[0]


def test_a_race_around_a_loop_says_so() -> None:
    found = next(d for d in check(list(without(EXP, ("mte3", "mte2", 0)))) if d.rule.code == "PS5101")
    assert "in an earlier iteration" in found.message
    assert found.secondary[0].span.line > found.primary.span.line
    assert "around the loop" in found.helps[0]


def test_hazards_have_their_names() -> None:
    assert hazards([Do("v", (), (T,)), Do("mte3", (T,))]) == {(1, 2, "RAW")}
    assert hazards([Do("mte3", (T,)), Do("v", (), (T,))]) == {(1, 2, "WAR")}
    assert hazards([Do("mte2", (), (T,)), Do("mte2", (), (T,))]) == {(1, 2, "WAW")}


def test_stores_to_global_memory_need_an_order_unless_they_add() -> None:
    out = At(0, 64, (), "out")
    both = [Do("mte3", (), (out,)), Do("mte3", (), (At(32, 64, (), "out"),))]
    assert hazards(both) == {(1, 2, "WAW")}
    assert codes([replace(d, atomic=True) for d in both]) == set()
    assert hazards([both[0], replace(both[1], atomic=True)]) == {(1, 2, "WAW")}
    assert codes([both[0], Bar("mte3"), both[1]]) == set()
    assert hazards([both[0], Do("mte2", (out,))]) == {(1, 2, "RAW")}
    assert codes([both[0], *pair("mte3", "mte2"), Do("mte2", (out,))]) == set()


def test_a_set_must_come_after_the_wait_for_the_former_set() -> None:
    work = Do("v")
    assert codes([*pair("mte2", "v"), work, *pair("mte2", "v")]) == {"PS5103"}
    assert codes([*pair("mte2", "v"), work, *pair("v", "mte2"), *pair("mte2", "v")]) == set()
    assert codes([*pair("mte2", "v"), work, *pair("mte2", "v", 1)]) == set()
    assert codes([*pair("mte2", "v"), Bar("all"), *pair("mte2", "v")]) == set()


def test_a_flag_around_an_inner_loop_meets_itself_in_the_next_outer_iteration() -> None:
    inner = Loop("j", None, (Down("v", "mte2"), Do("mte2"), *pair("mte2", "v", 1), Do("v"), Up("v", "mte2")))
    around = (Up("v", "mte2"), inner, Down("v", "mte2"))
    assert codes(around) == set()
    assert codes([Loop("i", 4, around)]) == {"PS5103"}
    assert codes([Loop("i", 4, (*around, *pair("mte2", "v", 2)))]) == set()


def test_flags_are_balanced() -> None:
    assert codes([Up("mte2", "v")]) == {"PS5104"}
    assert codes([Down("mte2", "v")]) == {"PS5102"}
    assert codes([Down("mte2", "v"), Up("mte2", "v")]) == {"PS5102"}
    assert codes([Up("mte2", "v"), Up("mte2", "v"), Down("mte2", "v")]) == {"PS5103"}
    assert codes([Cond((Up("mte2", "v"),)), Down("mte2", "v")]) == {"PS5102"}
    assert codes([Up("mte2", "v"), Cond((Down("mte2", "v"),))]) == {"PS5104"}
    assert codes([Loop("i", None, (Up("mte2", "v"),)), Down("mte2", "v")]) == {"PS5103"}
    assert codes([Loop("i", 1, (Up("mte2", "v"),)), Down("mte2", "v")]) == set()
    assert codes([Loop("i", 0, (Up("mte2", "v"),))]) == set()


def test_what_the_core_does_not_have() -> None:
    assert codes([Up("mte1", "m"), Down("mte1", "m")]) == {"PS5105"}
    assert codes([Bar("s")]) == {"PS5105"}
    assert codes([*pair("mte2", "v", 6)]) == {"PS5106"}


def test_slots_by_remainder_are_told_apart() -> None:
    slot = At(0, TILE, (("i", TILE),), slots=2)
    body: tuple[Item, ...] = (Do("mte2", (), (slot,)), Up("mte2", "v"), Down("mte2", "v"), Do("v", (slot,)))
    back = (Up("v", "mte2"), Down("v", "mte2"))
    assert codes([Loop("i", 8, (*body, *back))]) == set()
    first, last = Up("v", "mte2", 1), Down("v", "mte2", 1)
    late: tuple[Item, ...] = (last, *body[:3], first, body[3])
    assert codes([first, Loop("i", 8, late), last]) == set()
    wrong = (*late[:-1], Do("v", (T,)))
    assert codes([first, Loop("i", 8, wrong), last]) == {"PS5101"}


def test_unknown_offsets_count_as_overlap() -> None:
    anywhere = At(0, 64, (("i", 1),), "out")
    fixed = At(1 << 20, 64, (), "out")
    found = check([Loop("i", None, (Do("mte3", (), (anywhere,)), Bar("mte3"))), Do("mte2", (fixed,))])
    assert {d.rule.code for d in found} == {"PS5101"}
    assert "run time" in found[0].notes[0]
    assert codes([Loop("i", 8, (Do("mte3", (), (anywhere,)), Bar("mte3"))), Do("mte2", (fixed,))]) == set()


def test_columns_of_a_tensor_do_not_overlap() -> None:
    column = At(0, 256, (("i", 256),), "out", ((64, 4096),))
    assert codes([Loop("i", 16, (Do("mte3", (), (column,)),))]) == set()
    assert codes([Loop("i", 17, (Do("mte3", (), (column,)),))]) == {"PS5101"}


def test_no_more_than_twenty_races_a_region() -> None:
    assert len(check([Do("v", (), (T,)) for _ in range(40)])) == 20
