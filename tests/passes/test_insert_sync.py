"""InsertSync: whatever the program, the race checker, written apart from it, has nothing to say."""

from __future__ import annotations

from itertools import count, islice
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.check import check_program
from pypto_spec.diagnostics.model import Sink
from pypto_spec.golden.mutate import dependencies, syncs
from pypto_spec.golden.run import GoldenRun, Subject, sizes
from pypto_spec.host.compile import KernelSource, compile_kernels
from pypto_spec.ir.expr import sym
from pypto_spec.ir.instr import InnerBarrier
from pypto_spec.ir.nodes import Barrier, Program, SetFlag, Stmt
from pypto_spec.ir.rewrite import ops, regions
from pypto_spec.ops.instructions import effects
from pypto_spec.passes.insert_sync import INSERT_SYNC
from pypto_spec.render.program import render_kernels
from pypto_spec.targets import A2A3
from tests.passes.sync_programs import Maker, random_program, synchronised
from tests.passes.toys import context

randoms = st.randoms(use_true_random=False)


def findings(program: Program) -> list[str]:
    sink = Sink()
    check_program(program, A2A3, sink, effects)
    return [f"{d.rule.code}: {d.message}" for d in sink.found]


def flags(program: Program) -> list[str]:
    """The flags and barriers as they stand, `>` for a set, `<` for a wait, `|` for a barrier."""
    signs: list[str] = []
    for region in regions(program.body):
        for node in syncs(region.body):
            if isinstance(node, Barrier | InnerBarrier):
                signs.append(f"| {node.pipe}")
            else:
                sign = ">" if isinstance(node, SetFlag) else "<"
                signs.append(f"{sign} {node.source} {node.target} {node.id}")
    return signs


def pairs(program: Program) -> int:
    return sum(len(dependencies(region.body)) for region in regions(program.body))


@given(randoms)
def test_small_programs_are_ordered(rng: Random) -> None:
    assert findings(synchronised(random_program(rng, rng.choice([2, 3, 4])))) == []


@given(randoms)
def test_larger_programs_are_ordered(rng: Random) -> None:
    assert findings(synchronised(random_program(rng, rng.choice([5, 6])))) == []


@pytest.mark.parametrize("seed", range(8))
def test_the_largest_programs_are_ordered(seed: int) -> None:
    assert findings(synchronised(random_program(Random(seed), 8))) == []


@pytest.mark.long
@pytest.mark.parametrize("start", range(0, 4000, 100))
def test_thousands_of_programs_are_ordered(start: int) -> None:
    for seed in range(start, start + 100):
        assert findings(synchronised(random_program(Random(seed)))) == [], seed


def test_programs_run_as_they_mean_on_the_host_model() -> None:
    tried = (random_program(Random(seed), 4, defined=True, name=f"p{seed}") for seed in count())
    made = list(islice((p for p in tried if 10 <= sum(1 for r in regions(p.body) for _ in ops(r.body)) <= 24), 12))
    done = [synchronised(program) for program in made]
    rendered = [render_kernels(program) for program in done]
    library = compile_kernels([KernelSource(k.name, k.text) for program in rendered for k in program.kernels])
    for program, final, kernels in zip(made, done, rendered, strict=True):
        subject = Subject(program, final, kernels, library)
        for values in sizes(program):
            run = GoldenRun(subject, values, 0)
            for schedule in range(3):
                outputs, faults = run.run(schedule, 1)
                assert [str(f) for f in faults] == [], program.name
                assert run.compare(outputs) == [], program.name


def test_written_flags_stand() -> None:
    once = synchronised(random_program(Random(3)))
    assert INSERT_SYNC.run(once, context()) is once


def test_knowledge_of_one_arm_does_not_leave_it() -> None:
    """Behind the branch V may still read b1: the flag that the arm raised anew says so only where the arm ran."""
    made = Maker(4)
    i, j = made.index(7), made.index(2)
    inner = made.loop(j, 3, made.load(3, 0, 0), made.maximum(3, 1, 1))
    program = made.program(made.loop(i, 8, made.neg(2, 1), made.branch(i, 0, (inner,))), made.load(1, 1, 8))
    done = synchronised(program)
    assert findings(done) == []
    assert flags(done)[-2:] == ["< v mte2 0", "< v mte2 1"]  # behind the outer loop: of the arm, and of every round


def test_a_barrier_of_all_pipes_says_nothing_about_the_end_of_its_loop() -> None:
    """What was carried by a flag and is now behind `barrier: all` is still to be waited for after the last round."""
    made = Maker(9)
    i = made.index(7)
    held = [made.load(k, 0, 4 * k) for k in range(6)]
    body = (made.load(6, 0, 32), made.store(6, 1, 4))
    program = made.program(
        *held, made.loop(i, 8, *body), made.load(7, 1, 4), *(made.store(k, 1, 32 + 4 * k) for k in range(6))
    )
    assert findings(synchronised(program)) == []


def test_too_many_flags_for_a_loop_become_one_barrier() -> None:
    made = Maker(9)
    n, i = made.dim(0), made.index(7)
    held = [made.load(k, 0, 4 * k) for k in range(6)]
    body = made.loop(i, sym(n), made.load(6, 0, 32), made.store(6, 1, 32))
    done = synchronised(made.program(*held, body, *(made.store(k, 1, 4 * k) for k in range(6))))
    assert findings(done) == []
    assert flags(done).count("| all") == 1


@pytest.mark.parametrize("loads", [6, 7, 9, 14])
def test_more_loads_in_flight_than_ids(loads: int) -> None:
    """Loads run ahead of their stores by `loads`: ids are used again behind guards, or flags are merged."""
    made = Maker(9)
    body: list[Stmt] = []
    for k in range(loads):
        body.append(made.load(k % 9, 0, 4 * k))
        if k >= 5:
            body.append(made.store((k - 5) % 9, 1, 4 * (k - 5)))
    body += [made.store(k % 9, 1, 4 * k) for k in range(loads - 5, loads)]
    done = synchronised(made.program(*body))
    assert findings(done) == []
    assert not any(sign == "| all" for sign in flags(done))
    assert max(int(sign[-1]) for sign in flags(done) if sign[0] == ">") <= 5


def test_the_guard_of_a_flag_orders_other_things_too() -> None:
    """The load's pipe waits for the guard of the flag from store to load: no barrier between its own rounds."""
    made = Maker(3)
    i = made.index(2)
    row = 4
    program = made.program(made.loop(i, 3, made.store(0, 1, row), made.load(1, 1, row)))
    done = synchronised(program)
    assert findings(done) == []
    assert not any(sign.startswith("|") for sign in flags(done))


def test_what_branches_share_is_waited_for_in_front_of_them() -> None:
    made = Maker(3)
    i = made.index(1)
    program = made.program(made.loop(i, 2, made.load(0, 0, 0), made.branch(i, 0, (made.neg(1, 0),), (made.neg(2, 0),))))
    done = synchronised(program)
    assert findings(done) == []
    assert pairs(done) == 2
