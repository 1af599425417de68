"""For random problems: the choice is what a search without any shortcut takes, and everything fits."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from pypto_spec.ir.dtype import BF16, FP16, FP32, INT8
from pypto_spec.ir.types import round_up
from pypto_spec.passes.l0.choice import Choice, Why, choose
from pypto_spec.passes.l0.problem import FORMS, Problem, Stationary, Width, pose
from pypto_spec.passes.l0.refusals import Reason, Refusal, refuse
from pypto_spec.passes.l0.search import candidates, search
from pypto_spec.targets import A2A3, A5
from tests.passes.l0.reference import acc_rows, all_tiles, chosen, edge

SIDES = st.integers(1, 12).map(lambda i: 16 * i)
RAGGED = st.integers(16, 192)
KIB = st.integers(1, 32).map(lambda i: 1024 * i)
MOST = st.integers(4, 12).map(lambda i: 16 * i)
WIDTHS = st.none() | st.builds(Width, MOST, st.sampled_from([32, 64]), st.sampled_from([16, 32]), st.booleans())


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Small matmuls in small memories, so that all forms win now and then."""
    posed = pose(
        draw(st.sampled_from([A2A3, A5])),
        draw(SIDES | RAGGED),
        draw(SIDES | RAGGED),
        draw(SIDES),
        draw(st.sampled_from([BF16, FP16, FP32, INT8])),
        planner=draw(st.sampled_from(["pypto", "ptoas"])),
        stationary=draw(st.sampled_from([tuple(Stationary), (Stationary.OUTPUT,)])),
    )
    posed = replace(posed, width=draw(WIDTHS))
    return replace(posed, left_bytes=draw(KIB), right_bytes=draw(KIB), acc_bytes=4 * draw(KIB))


@settings(max_examples=60, deadline=None)
@given(problems())
def test_the_choice_is_that_of_a_search_without_shortcuts(problem: Problem) -> None:
    choice = choose(problem)
    if refuse(problem) is not None:
        assert choice == refuse(problem)
        return
    every = all_tiles(problem)
    if not any(t.stationary == "output" and not t.double for t in every):
        assert isinstance(choice, Refusal)
        assert choice.reason is Reason.NO_TILE
        return
    assert isinstance(choice, Choice)
    expected = chosen(problem, every)
    won = choice.winner
    assert (won.form.stationary.value, won.form.double, *won.tile) == (
        expected.stationary, expected.double, expected.m, expected.n, expected.k,
    )  # fmt: skip
    assert won.terms.wall == expected.wall
    for considered in choice.forms:
        form = considered.form
        mine = [t for t in every if (t.stationary, t.double) == (form.stationary.value, form.double)]
        assert considered.legal == len(mine)
        if considered.best is None:
            assert not mine
        else:
            best = min(mine, key=lambda t: t.key)
            assert (considered.best.tile, considered.best.terms.wall) == ((best.m, best.n, best.k), best.wall)
            if choice.is_tiled and problem.is_open(form):
                assert won.terms.wall <= best.wall


@settings(max_examples=40, deadline=None)
@given(problems())
def test_every_tile_fits(problem: Problem) -> None:
    if refuse(problem) is not None:
        return
    for form in FORMS:
        depths = form.depths
        size = problem.dtype.bytes
        listed = list(candidates(problem, form))
        assert len(listed) == search(problem, form).legal
        for it in listed:
            side = edge(problem)
            rows, columns, k = round_up(it.m, side), round_up(it.n, side), round_up(it.k, side)
            assert depths[0] * rows * k * size <= problem.left_bytes
            assert depths[1] * columns * k * size <= problem.right_bytes
            acc = round_up(it.m, acc_rows(problem)) * columns * problem.acc.bytes
            assert depths[2] * acc <= problem.acc_bytes
            assert it.m % 16 == it.n % side == it.k % side == 0
            assert it.m <= problem.m
            assert it.n <= problem.n
            assert it.blocks * it.k >= problem.k


@settings(max_examples=60, deadline=None)
@given(problems())
def test_reasons_say_the_truth(problem: Problem) -> None:
    choice = choose(problem)
    if isinstance(choice, Refusal):
        return
    for considered in choice.forms:
        verdict, best = considered.verdict, considered.best
        assert (best is None) == (verdict.cycles is None)
        match verdict.why:
            case Why.TAKEN:
                assert best == choice.winner
            case Why.NOT_CHEAPER:
                assert verdict.cycles is not None
                assert verdict.cycles >= 0
            case Why.UNTILED:
                assert not choice.is_tiled
            case Why.NEEDS_WHOLE_K:
                assert verdict.longest_k < problem.k
            case Why.GATE_OFF:
                opened = choose(replace(problem, double=True))
                assert isinstance(opened, Choice)
                assert opened.winner.form.double
            case Why.FORBIDDEN:
                freed = choose(replace(problem, stationary=tuple(Stationary)))
                assert isinstance(freed, Choice)
                assert freed.winner.terms.wall < choice.winner.terms.wall
            case Why.ONE_MOVING_TILE:
                assert considered.form.double
                assert verdict.longest_k == problem.k
            case Why.NO_ROOM:
                assert verdict.longest_k == 0
            case Why.BIAS_TOO_WIDE:
                assert choose(replace(problem, width=None)).of(considered.form).best is not None  # type: ignore[union-attr]
