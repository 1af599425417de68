"""InsertSync and the checker on cube cores: which flags, what needs none, and that nothing is redundant."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.golden.mutate import Mutant, dependencies, refused, syncs
from pypto_spec.ir.expr import mod, sym
from pypto_spec.ir.nodes import Program
from pypto_spec.ir.rewrite import regions
from tests.passes.cube_programs import Cube, blocked, random_program, synchronised
from tests.passes.test_insert_sync import findings, flags

randoms = st.randoms(use_true_random=False)


def kinds(program: Program) -> set[str]:
    return {" ".join(text.split()[1:3]) for text in flags(program) if text[0] != "|"}


def barriers(program: Program) -> list[str]:
    return [text for text in flags(program) if text[0] == "|"]


def alive(program: Program) -> list[str]:
    """Flags and barriers that may be taken away, and the checker does not object."""
    found: list[str] = []
    for region in regions(program.body):
        single = [(node,) for node in syncs(region.body)]
        for nodes in (*single, *dependencies(region.body)):
            mutant = Mutant("dependency", region, "r", tuple(nodes), ())
            if not refused(program, mutant):
                found.append(str(mutant))
    return found


@given(randoms)
def test_random_programs_are_ordered(rng: Random) -> None:
    assert findings(synchronised(random_program(rng, rng.choice([2, 3, 4])))) == []


@pytest.mark.parametrize("seed", range(40))
def test_larger_random_programs_are_ordered(seed: int) -> None:
    assert findings(synchronised(random_program(Random(seed), 6))) == []


@pytest.mark.long
@pytest.mark.parametrize("start", range(0, 2000, 100))
def test_thousands_of_programs_are_ordered(start: int) -> None:
    for seed in range(start, start + 100):
        assert findings(synchronised(random_program(Random(seed)))) == [], seed


def test_a_blocked_matmul() -> None:
    done = synchronised(blocked(Cube()))
    assert findings(done) == []
    assert kinds(done) == {"mte2 mte1", "mte1 mte2", "mte1 m", "m mte1", "m fix"}
    assert barriers(done) == []
    assert alive(done) == []


def test_small_accumulators_need_a_barrier_between_mmads() -> None:
    """Where L0 has one buffer a load between two Mmads orders them as well."""
    assert barriers(synchronised(blocked(Cube(shape=(16, 16))))) == []
    done = synchronised(blocked(Cube(shape=(16, 16), slots=2), rotate=True))
    assert findings(done) == []
    assert barriers(done) == ["| m"]
    assert alive(done) == []


@pytest.mark.parametrize(
    ("side", "needed"),
    [
        ((16, 144), True),
        ((16, 160), False),
        ((48, 48), True),
        ((64, 48), False),
        ((31, 80), True),
        ((16, 159), True),
    ],
)
def test_ten_fractals_are_enough(side: tuple[int, int], needed: bool) -> None:
    """16 x 160 is ten fractals, 48 x 48 is nine; only whole ones count: 31 x 80 has five of them."""
    program = blocked(Cube(shape=side, slots=2), rotate=True)
    assert barriers(synchronised(program)) == (["| m"] if needed else [])


def test_rotating_l0_buffers() -> None:
    done = synchronised(blocked(Cube(slots=2), 8, rotate=True))
    assert findings(done) == []
    assert any("m mte1 " in text and "%" in text for text in flags(done)), flags(done)
    assert alive(done) == []


def test_unit_flags_take_the_place_of_flags() -> None:
    done = synchronised(blocked(Cube(), unit=True))
    assert findings(done) == []
    assert kinds(done) == {"mte2 mte1", "mte1 mte2", "mte1 m", "m mte1"}
    assert alive(done) == []


@pytest.mark.parametrize(
    ("phases", "code", "message"),
    [
        ((2, 3), "PS5102", "`drain` waits forever: no matmul before it raises the unit flags of what it reads"),
        ((3, 0), "PS5104", "the unit flags that `mmad` raises are still up at the end of the region"),
        ((3, 2), "PS5104", "the unit flags that `mmad` raises are still up at the end of the region"),
        ((3, 3), "", ""),
    ],
)
def test_unit_flags_that_nobody_gives(phases: tuple[int, int], code: str, message: str) -> None:
    made = Cube()
    done = synchronised(made.program(made.mmad(0, unit=phases[0]), made.drain(0, unit=phases[1])))
    assert findings(done) == ([f"{code}: {message}"] if code else [])


def test_an_accumulator_is_not_added_to_before_it_is_stored() -> None:
    made = Cube()
    body = [made.mmad(0, unit=3), made.mmad(0, init=False, unit=2), made.drain(0, unit=3)]
    (found,) = findings(synchronised(made.program(*body)))
    assert found.startswith("PS5103: `mmad` waits forever: the unit flags of its accumulator are up")


def test_unit_flags_of_rotating_accumulators() -> None:
    made = Cube(slots=2)
    i = made.index(300)
    turn = mod(sym(i), 2)
    done = synchronised(made.program(made.loop(i, made.mmad(0, at=turn, unit=3), made.drain(0, at=turn, unit=3))))
    assert findings(done) == []
    assert not any("fix" in kind for kind in kinds(done))


def test_unit_flags_across_rounds_of_a_loop() -> None:
    """Raised in one round and lowered in the next: right where every round is known, else not decidable."""

    def program(count: int) -> Program:
        made = Cube()
        i = made.index(count)
        body = made.branch(i, [made.mmad(0, unit=3)], [made.drain(0, unit=3), made.mmad(0, unit=3)])
        return synchronised(made.program(made.loop(i, body), made.drain(0, unit=3)))

    assert findings(program(4)) == []
    (found,) = findings(program(1000))
    assert found.startswith("PS5107:")
    assert "a round of a loop leaves unit flags up or down that stood otherwise before" in found


def test_stores_of_accumulators_begin_with_a_barrier() -> None:
    """Not those to L1 without factors."""
    made = Cube()
    assert barriers(synchronised(made.program(made.mmad(0), made.drain(0), made.drain(0)))) == []
    made = Cube()
    done = synchronised(made.program(made.mmad(0), made.keep(0, 0), made.keep(0, 0)))
    assert barriers(done) == ["| fix"]
    assert findings(done) == []
    assert alive(done) == []


def test_what_fixpipe_wrote_to_gm_is_read_again() -> None:
    made = Cube()
    done = synchronised(made.program(made.mmad(0), made.back(0), made.load(0)))
    assert "fix mte2" in kinds(done)
    assert findings(done) == []
    assert alive(done) == []


def test_chained_matmuls_through_l1() -> None:
    made = Cube(l1=1, l0=2)
    i = made.index(4)
    done = synchronised(made.program(made.loop(i, made.mmad(0), made.keep(0, 0), made.move("left", 1, 0))))
    assert {"fix mte1", "mte1 fix"} <= kinds(done)
    assert findings(done) == []
    assert alive(done) == []


def test_two_accumulators_take_turns() -> None:
    made = Cube(slots=2)
    i = made.index(8)
    turn = mod(sym(i), 2)
    done = synchronised(made.program(made.loop(i, made.mmad(0, at=turn), made.drain(0, at=turn))))
    assert findings(done) == []
    assert any(text.startswith("< fix m") and "%" in text for text in flags(done))
    assert alive(done) == []
