"""Forms, the reasons against them, ties, and how long a choice takes."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from pypto_spec.ir.dtype import BF16, FP16, FP32, INT8, DType
from pypto_spec.ir.types import Memory, TileType, round_up
from pypto_spec.passes.l0.choice import Choice, Why, choose
from pypto_spec.passes.l0.problem import FORMS, Axis, Form, Problem, Stationary, Width, opens_double, pose
from pypto_spec.passes.l0.refusals import Refusal
from pypto_spec.passes.l0.room import footprint
from pypto_spec.passes.l0.search import Candidate, candidates, rank, search
from pypto_spec.passes.l0.terms import Load, Terms
from pypto_spec.targets import A2A3, A5, Target

OUTPUT, A, B = Stationary.OUTPUT, Stationary.A, Stationary.B


def taken(given: Problem) -> Choice:
    choice = choose(given)
    assert not isinstance(choice, Refusal)
    return choice


def why(given: Problem, form: Form) -> Why:
    return taken(given).of(form).verdict.why


@pytest.mark.parametrize(
    ("planner", "asked", "opened"),
    [("pypto", False, False), ("pypto", True, True), ("ptoas", False, True), ("ptoas", True, True)],
)
def test_who_opens_two_accumulators(planner: str, asked: bool, opened: bool) -> None:
    assert opens_double(planner, asked) == opened
    assert pose(A2A3, 64, 64, 64, BF16, planner=planner, l0c_double_buffer=asked).double == opened


def test_exactly_one_form_is_taken_and_it_is_the_winners() -> None:
    for shape in ((256, 256, 64), (16, 256, 128), (512, 512, 512), (64, 64, 64)):
        choice = taken(pose(A2A3, *shape, BF16, planner="ptoas"))
        assert [c.form for c in choice.forms] == list(FORMS)
        assert [c.form for c in choice.forms if c.verdict.why is Why.TAKEN] == [choice.winner.form]
        assert choice.of(choice.winner.form).verdict.cycles == 0


def test_a_gate_that_is_off_says_what_it_costs() -> None:
    """With two accumulators the matmul takes 3,155 cycles by the model, without 3,616."""
    off, on = (taken(pose(A2A3, 256, 256, 64, BF16, l0c_double_buffer=gate)) for gate in (False, True))
    assert (off.winner.terms.wall, on.winner.terms.wall) == (3616, 3155)
    assert on.winner.form == Form(OUTPUT, double=True)
    shut = off.of(on.winner.form)
    assert (shut.verdict.why, shut.verdict.cycles) == (Why.GATE_OFF, 3155 - 3616)
    assert shut.best == on.winner


def test_a_gate_that_would_change_nothing_is_not_blamed() -> None:
    """Two accumulators of 144 columns have half a tile each; one of 128 and a rest is as cheap, gate or not."""
    off, on = (taken(pose(A2A3, 32, 144, 96, BF16, l0c_double_buffer=gate)) for gate in (False, True))
    assert off.winner == on.winner
    assert {c.verdict.why for c in off.forms} == {Why.TAKEN, Why.NOT_CHEAPER}


def test_k_too_long_to_stay_put() -> None:
    """4096 elements of K: A [16, 2048] fills L0A, so no operand stays, and no tile is done in one step."""
    choice = taken(pose(A2A3, 512, 512, 4096, BF16, planner="ptoas"))
    for form in FORMS[1:]:
        verdict = choice.of(form).verdict
        assert (verdict.why, verdict.cycles) == (Why.NEEDS_WHOLE_K, None)
    assert choice.of(Form(A)).verdict.longest_k == 1024  # B still streams: 16 columns of it, twice
    assert choice.winner.kept is None
    assert choice.winner.moves is None
    assert choice.cuts_k
    assert choice.cuts_output


def test_one_tile_on_the_axis_that_moves() -> None:
    """24 rows are one full tile of 16 and a rest, which is not in the loop in which two accumulators take turns."""
    given = pose(A2A3, 24, 16, 512, BF16, planner="ptoas")
    assert taken(given).is_tiled
    assert why(given, Form(OUTPUT, double=True)) is Why.ONE_MOVING_TILE
    assert why(replace(given, m=32), Form(OUTPUT, double=True)) is not Why.ONE_MOVING_TILE


def test_what_fits_whole_is_not_cut_even_if_the_model_likes_it() -> None:
    """64 x 64 x 64 fits; the other forms are shown, and none is taken."""
    choice = taken(pose(A2A3, 64, 256, 64, BF16, planner="ptoas"))
    assert not choice.is_tiled
    assert choice.winner.tile == (64, 256, 64)
    better = choice.of(Form(OUTPUT, double=True)).verdict
    assert better.why is Why.UNTILED
    assert better.cycles is not None
    assert better.cycles < 0


def test_operands_that_may_not_stay_put() -> None:
    given = pose(A2A3, 128, 512, 128, BF16)
    assert taken(given).winner.form == Form(B)
    forced = taken(pose(A2A3, 128, 512, 128, BF16, stationary=(OUTPUT,)))
    assert forced.winner.form == Form(OUTPUT)
    assert forced.of(Form(B)).verdict.why is Why.FORBIDDEN
    assert forced.winner.terms.wall > taken(given).winner.terms.wall


def test_the_axis_that_moves_is_the_one_of_the_other_operand() -> None:
    assert A.moves is Axis.N
    assert B.moves is Axis.M
    winner = taken(pose(A2A3, 128, 512, 128, BF16)).winner
    assert (winner.kept, winner.moves) == (B, Axis.M)


# --- ties -----------------------------------------------------------------------------------------------------------


def candidate(
    wall: int = 100, m: int = 32, n: int = 32, k: int = 32, rows: int = 2, blocks: int = 2, load: float = 50.0
) -> Candidate:
    cost = Terms(Load(load, 0.0), 0, 0.0, wall)
    return Candidate(Form(OUTPUT), m, n, k, rows, 2, blocks, None, cost)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (candidate(wall=99, rows=9), candidate()),
        (candidate(rows=1, load=60.0, blocks=3), candidate()),  # less padding before fewer blocks
        (candidate(k=64, blocks=1, load=60.0), candidate()),  # fewer blocks before shorter loads
        (candidate(load=49.0, m=16, rows=4), candidate()),  # shorter loads before larger tiles
        (candidate(), candidate(m=16, rows=4, k=32)),  # larger tiles
        (candidate(m=16, n=64), candidate(m=64, n=16)),  # at last the smaller m
    ],
)
def test_order_of_tiles(better: Candidate, worse: Candidate) -> None:
    assert rank(better) < rank(worse)


def test_a_larger_k_wins_where_all_else_is_equal() -> None:
    """K 96 in two blocks: of 64 + 32 and 48 + 48, both pad differently; of equal padding the larger k is first."""
    longer, shorter = candidate(k=48, rows=2, blocks=2), candidate(k=32, rows=3, blocks=2)
    assert rank(longer)[:5] == rank(shorter)[:5]
    assert rank(longer) < rank(shorter)


@pytest.mark.parametrize(("dtype", "k"), [(BF16, 32), (INT8, 64)], ids=str)
def test_a_tie_that_is_met_late_is_decided_by_the_order(dtype: DType, k: int) -> None:
    """64 x 512 is met first and has the same wall; 128 x 256 pads and cuts as much, and loads less."""
    given = pose(A2A3, 128, 1024, k, dtype)
    first, second = sorted(candidates(given, Form(OUTPUT)), key=rank)[:2]
    assert (first.tile, second.tile) == ((128, 256, k), (64, 512, k))
    assert first.terms.wall == second.terms.wall
    assert first.terms.load.total < second.terms.load.total
    assert search(given, Form(OUTPUT)).best == first


def test_a_form_that_costs_the_same_is_not_taken() -> None:
    """Keeping B costs in the first form what it costs where B stays put: the first form is simpler."""
    choice = taken(pose(A2A3, 256, 256, 64, BF16))
    same = choice.of(Form(B))
    assert choice.winner.form == Form(OUTPUT)
    assert (same.verdict.why, same.verdict.cycles) == (Why.NOT_CHEAPER, 0)
    assert same.best is not None
    assert same.best.tile == choice.winner.tile


# --- bias -----------------------------------------------------------------------------------------------------------


def test_the_bias_table_limits_the_columns() -> None:
    given = pose(A2A3, 64, 1024, 64, BF16, bias=Memory.MAT)
    assert (given.step, given.width) == ((16, 16, 16), Width(256, 128, 64))
    for form in FORMS:
        for it in candidates(given, form):
            limit = 256 if it.kept is None or form.stationary is B else 128
            if form.stationary is OUTPUT and it.kept is A:
                limit = 64
            assert it.n <= limit
    assert taken(given).winner.n <= 256 < taken(replace(given, width=None)).winner.n


def test_a_bias_in_the_table_is_not_cut() -> None:
    choice = taken(pose(A2A3, 512, 160, 256, BF16, bias=Memory.BIAS))
    assert choice.winner.n == 160
    assert choice.is_tiled


def test_int8_with_a_bias_is_cut_at_its_boxes() -> None:
    given = pose(A2A3, 64, 512, 64, INT8, bias=Memory.MAT)
    assert (given.step, given.width) == ((16, 32, 32), Width(256, 128, 64))
    assert pose(A5, 64, 512, 64, INT8, bias=Memory.MAT).width == Width(1024, 512, 256)


def test_a_bias_that_no_form_with_all_of_k_has_room_for() -> None:
    """A tile has all 128 columns, and a loop over N would keep two biases of them in a table for 128."""
    given = replace(pose(A2A3, 2048, 128, 64, BF16, planner="ptoas"), width=Width(128, 64, 32, whole=True))
    assert why(given, Form(A)) is Why.BIAS_TOO_WIDE
    assert taken(given).winner.kept is B


# --- room -----------------------------------------------------------------------------------------------------------


def test_no_room_for_two_accumulators() -> None:
    given = replace(pose(A2A3, 64, 64, 32, BF16, planner="ptoas"), acc_bytes=16 * 16 * 4)
    choice = taken(given)
    assert choice.winner.tile[:2] == (16, 16)
    assert choice.of(Form(OUTPUT, double=True)).verdict.why is Why.NO_ROOM
    assert choice.of(Form(OUTPUT, double=True)).verdict.longest_k == 0


def test_int8_takes_squares_of_32() -> None:
    """Windows of int8 begin at multiples of 32 along N and K, and 16 rows take 32; A streams, so there are two."""
    given = replace(pose(A2A3, 16, 64, 128, INT8), left_bytes=2 * 32 * 64 - 1)
    assert given.step == (16, 32, 32)
    assert (given.left_box, given.right_box, given.acc_box) == ((32, 32), (32, 32), (32, 32))
    assert pose(A5, 16, 64, 128, INT8).acc_box == (16, 32)
    assert search(given, Form(OUTPUT)).longest_k == 32
    assert search(replace(given, left_bytes=2 * 32 * 64), Form(OUTPUT)).longest_k == 64


@pytest.mark.parametrize("dtype", [BF16, FP16, FP32, INT8], ids=str)
@pytest.mark.parametrize("target", [A2A3, A5], ids=lambda t: t.name)
def test_the_footprint_is_that_of_the_tiles(target: Target, dtype: DType) -> None:
    """The bytes are those that tiles of these shapes take in the compiler; PyPTO pads rows of int32 on a2a3 further."""
    for shape in ((16, 32, 32), (48, 96, 160), (80, 64, 224)):
        m, n, k = shape
        given = pose(target, *shape, dtype)
        left, right, acc = footprint(given, Form(OUTPUT), *shape)
        assert left.bytes == TileType(dtype, (m, k), Memory.LEFT).bytes
        assert right.bytes == TileType(dtype, (k, n), Memory.RIGHT).bytes
        tile = TileType(given.acc, (round_up(m, given.acc_box[0]), n), Memory.ACC)
        assert acc.bytes == tile.bytes >= TileType(given.acc, (m, n), Memory.ACC).bytes


# --- speed ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [A2A3, A5], ids=lambda t: t.name)
@pytest.mark.parametrize("dtype", [BF16, FP32, INT8], ids=str)
def test_a_large_matmul_is_chosen_at_once(target: Target, dtype: DType) -> None:
    given = pose(target, 4096, 4096, 4096, dtype, planner="ptoas")

    def seconds() -> float:
        choose.cache_clear()
        start = time.process_time()
        choose(given)
        return time.process_time() - start

    assert min(seconds() for _ in range(5)) < 0.05


def test_a_choice_is_made_once() -> None:
    given = pose(A2A3, 256, 256, 64, BF16)
    assert choose(given) is choose(pose(A2A3, 256, 256, 64, BF16))
