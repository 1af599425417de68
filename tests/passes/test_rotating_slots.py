"""Slots that rotate with a loop: an event for each, so that the next round's load runs under this round's work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, islice
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.diagnostics.model import has_errors
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import compile_source
from pypto_spec.golden.mutate import judge
from pypto_spec.golden.run import GoldenRun, Subject, sizes
from pypto_spec.host.compile import KernelSource, compile_kernels
from pypto_spec.ir.expr import Index, Sym, add, evaluate, mod, mul, sub, sym
from pypto_spec.ir.nodes import Barrier, For, If, Op, Program, SetFlag, Stmt, WaitFlag
from pypto_spec.ir.rewrite import ops, regions
from pypto_spec.render.program import render_kernels
from tests.passes.slot_programs import slot_program
from tests.passes.sync_programs import Maker, synchronised
from tests.passes.test_insert_sync import findings, flags

randoms = st.randoms(use_true_random=False)


def trace(body: Sequence[Stmt], values: dict[Sym, int]) -> Iterator[tuple[Stmt, dict[Sym, int]]]:
    """The statements of a region as they are dispatched, loops and all; arms of an `if` are not looked into."""
    for stmt in body:
        if isinstance(stmt, For):
            start, stop, step = (evaluate(n, values) for n in (stmt.start, stmt.stop, stmt.step))
            for number in range(start, stop, step):
                yield from trace(stmt.body, {**values, stmt.index: number})
        else:
            assert not isinstance(stmt, If)
            yield stmt, values


def behind(program: Program, first: str, then: str) -> list[int]:
    """For each `then` op: how many `first` ops before it in the program it does not wait for.

    What an instruction waits for follows from flags and barriers alone: each pipe's row says how many `first` ops it
    knows to be over.
    """
    (region,) = regions(program.body)
    pipe_of = {"load": "mte2", "store": "mte3"}
    known: dict[str, int] = {}
    raised: dict[tuple[str, str, int], int] = {}
    issued, found = 0, []
    for node, values in trace(region.body, {}):
        if isinstance(node, SetFlag | WaitFlag):
            key = (node.source, node.target, evaluate(node.id, values))
            if isinstance(node, SetFlag):
                own = issued if node.source == pipe_of.get(first, "v") else 0
                raised[key] = max(known.get(node.source, 0), own)
            else:
                known[node.target] = max(known.get(node.target, 0), raised.pop(key))
        elif isinstance(node, Barrier):
            assert node.pipe != "all"
        elif isinstance(node, Op):
            if node.name == then:
                found.append(issued - known.get(pipe_of.get(then, "v"), 0))
            issued += node.name == first
    return found


def pipelined(slots: int, rounds: Index, start: Index = 0, *, outer: int = 0) -> Program:
    """Load, negate in place, store, in `slots` slots, perhaps inside another loop."""
    made = Maker(1)
    ring = made.rotating(slots)
    last = rounds - 1 if isinstance(rounds, int) and isinstance(start, int) else None
    index = Sym("i", "loop", 0, last)
    around = made.index(outer - 1)
    place, row = made.place(ring, mod(sym(index), slots)), mul(sym(index), 4)
    if outer and isinstance(rounds, int):
        row = add(row, mul(sym(around), 4 * rounds))
    body: Stmt = made.loop(
        index, rounds, made.load(place, 0, row), made.neg(place, place), made.store(place, 1, row), start=start
    )
    return made.program(made.loop(around, outer, body) if outer else body)


@given(randoms)
def test_small_programs_are_ordered(rng: Random) -> None:
    assert findings(synchronised(slot_program(rng, 3))) == []


@pytest.mark.parametrize("seed", range(40))
def test_larger_programs_are_ordered(seed: int) -> None:
    assert findings(synchronised(slot_program(Random(seed), 6))) == []


@pytest.mark.long
@pytest.mark.parametrize("start", range(0, 4000, 100))
def test_thousands_of_programs_are_ordered(start: int) -> None:
    for seed in range(start, start + 100):
        assert findings(synchronised(slot_program(Random(seed)))) == [], seed


def test_many_of_them_have_ids_in_turns() -> None:
    done = [synchronised(slot_program(Random(seed), 4)) for seed in range(60)]
    assert sum(any("%" in sign for sign in flags(program)) for program in done) > 15


@pytest.mark.parametrize("slots", [2, 3, 4])
def test_a_load_waits_for_the_store_out_of_its_own_slot_only(slots: int) -> None:
    done = synchronised(pipelined(slots, 9))
    assert findings(done) == []
    assert behind(done, "store", "load") == [min(n, slots - 1) for n in range(9)]
    assert behind(done, "neg", "load") == [min(n, slots - 1) for n in range(9)]


def test_one_slot_would_wait_for_the_round_before() -> None:
    made = Maker(1)
    index = made.index(8)
    row = sym(index)
    done = synchronised(made.program(made.loop(index, 9, made.load(0, 0, row), made.neg(0, 0), made.store(0, 1, row))))
    assert behind(done, "store", "load") == [0] * 9


@pytest.mark.parametrize("slots", [2, 3, 4])
def test_an_outer_loop_leaves_the_overlap_within_its_rounds(slots: int) -> None:
    done = synchronised(pipelined(slots, 9, outer=2))
    assert findings(done) == []
    assert behind(done, "store", "load")[:9] == [min(n, slots - 1) for n in range(9)]


def test_the_overlap_goes_on_from_one_run_of_the_loop_to_the_next() -> None:
    """An id belongs to a slot, whatever run of the loop used it last: the outer loop carries nothing more."""
    done = synchronised(pipelined(3, 6, outer=2))
    assert findings(done) == []
    assert behind(done, "store", "load") == [min(n, 2) for n in range(12)]
    assert {sign[:-1] for sign in flags(done) if "%" not in sign} == {"> mte3 mte2 ", "< mte3 mte2 "}


def test_more_slots_than_ids() -> None:
    """Eight slots, six ids: five loads run ahead."""
    done = synchronised(pipelined(8, 20))
    assert findings(done) == []
    assert behind(done, "store", "load")[8:] == [5] * 12


def test_a_count_and_a_start_of_the_caller_s() -> None:
    made = Maker(1)
    n, s = made.dim(0), made.dim(0)
    for program in (pipelined(2, sym(n)), pipelined(3, sym(n), sym(s))):
        done = synchronised(program)
        assert findings(done) == []
        assert any("%" in sign for sign in flags(done))


def test_ids_of_an_unknown_start_count_from_it() -> None:
    made = Maker(1)
    s, n = made.dim(0), made.dim(0)
    done = synchronised(pipelined(2, sym(n), sym(s)))
    (loop,) = (x for r in regions(done.body) for x in r.body if isinstance(x, For))
    ids = {x.id for x in loop.body if isinstance(x, SetFlag | WaitFlag)}
    assert ids == {mod(sub(sym(loop.index), sym(s)), 2)}


def test_two_loads_and_an_accumulator_beside_the_slots() -> None:
    """Of two loads, each into a ring of its own, the work of a round goes to one place: no barrier of all pipes."""
    made = Maker(1)
    rings = [made.rotating(2), made.rotating(3)]
    index = made.index(8)
    a, b = (made.place(ring, mod(sym(index), n)) for ring, n in zip(rings, (2, 3), strict=True))
    body = (made.load(a, 0, sym(index)), made.load(b, 0, sym(index)), made.neg(a, b), made.maximum(0, 0, a))
    done = synchronised(made.program(made.load(0, 0, 0), made.loop(index, 9, *body), made.store(0, 1, 0)))
    assert findings(done) == []
    assert behind(done, "maximum", "load")[1:] == [0, 0, *[1] * 16][: 2 * 9]


def test_four_loads_do_not_need_more_ids_than_there_are() -> None:
    made = Maker(1)
    rings = [made.rotating(2) for _ in range(4)]
    index = made.index(8)
    places = [made.place(ring, mod(sym(index), 2)) for ring in rings]
    loads = [made.load(place, 0, sym(index)) for place in places]
    work = [made.neg(place, place) for place in places]
    stores = [made.store(place, 1, sym(index)) for place in places]
    done = synchronised(made.program(made.loop(index, 9, *loads, *work, *stores)))
    assert findings(done) == []
    assert not any(sign == "| all" for sign in flags(done))
    assert min(behind(done, "store", "load")[4:]) >= 4  # all four of the round before may still be at work


def subjects(number: int, size: int) -> list[tuple[Program, Subject]]:
    tried = (slot_program(Random(seed), size, f"p{seed}") for seed in count())
    short = (p for p in tried if sum(1 for r in regions(p.body) for _ in ops(r.body)) <= 24)
    pairs = ((p, synchronised(p)) for p in short)
    made = list(islice(((p, d) for p, d in pairs if any("%" in sign for sign in flags(d))), number))
    rendered = [render_kernels(done) for _, done in made]
    library = compile_kernels([KernelSource(k.name, k.text) for program in rendered for k in program.kernels])
    return [(p, Subject(p, d, kernels, library)) for (p, d), kernels in zip(made, rendered, strict=True)]


def test_programs_run_as_they_mean_on_the_host_model() -> None:
    for program, subject in subjects(12, 4):
        for values in sizes(program):
            run = GoldenRun(subject, values, 0)
            for schedule in range(3):
                outputs, faults = run.run(schedule, 1)
                assert [str(f) for f in faults] == [], program.name
                assert run.compare(outputs) == [], program.name


def test_a_set_or_wait_less_is_noticed_by_both_judges() -> None:
    for program, subject in subjects(4, 2):
        for verdict in judge(subject, schedules=(0, 1)):
            if verdict.mutant.kind in ("set", "wait"):
                assert verdict.dead, f"{program.name} {verdict.mutant}"
            else:
                assert verdict.checker or not verdict.host, f"{program.name} {verdict.mutant}"


def test_loops_that_need_more_ids_than_there_are_are_narrowed_one_step_at_a_time() -> None:
    """Two kinds of flags that both had too few ids narrowed the same loop twice, which then had no flags at all."""
    loop = """\
      - create_tile: {into: c, shape: [64, 64], dtype: fp32, memory: acc}
      - pipeline: {index: i, range: [0, 4], stages: 2}
        body:
          - load: {into: a1, from: a, at: [0, i * 176], shape: [64, 176]}
          - load: {into: b1, from: b, at: [i * 176, 0], shape: [176, 64]}
          - matmul_acc: {into: c, acc: c, lhs: a1, rhs: b1, init: i == 0}
      - store: {from: c, to: outNUMBER, at: [0, 0]}
"""
    text = """\
spec: v1
name: k
target: {planner: ptoas}
tensors:
  a: {dtype: fp16, shape: [64, 704]}
  b: {dtype: fp16, shape: [704, 64]}
OUTS
program:
  - region: r
    body:
""" + "".join(loop.replace("NUMBER", str(number)) for number in range(4))
    outs = "\n".join(f"  out{number}: {{dtype: fp32, shape: [64, 64], access: out}}" for number in range(4))
    text = text.replace("OUTS", outs)
    made = compile_source(Source("k.yaml", text))
    assert not has_errors(made.diagnostics), [d.message for d in made.diagnostics]
