"""The chooser against what PyPTO's own chose, row by row."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from pypto_spec.ir.dtype import BF16, DTYPES, FP32, INT8, DType
from pypto_spec.passes.l0.choice import Choice, choose
from pypto_spec.passes.l0.problem import Problem, pose
from pypto_spec.passes.l0.refusals import Refusal
from pypto_spec.targets import A2A3, TARGETS
from tests.passes.l0.reference import price

DATA = Path(__file__).parents[1] / "data" / "oracle_l0_tiles.csv"
"""Runs of PyPTO's AutoTileMatmulL0 on a2a3: `stationary` is the operand that stays put in the loops it emits."""

with DATA.open(encoding="utf-8", newline="") as file:
    ROWS = list(csv.DictReader(file))


def name(row: dict[str, str]) -> str:
    double = "-dbc" if row["l0c_double_buffer"] == "1" else ""
    return f"{row['M']}x{row['N']}x{row['K']}-{row['dtype']}-{row['planner']}{double}"


def problem(row: dict[str, str]) -> Problem:
    m, n, k = (int(row[c]) for c in "MNK")
    double = row["l0c_double_buffer"] == "1"
    return pose(A2A3, m, n, k, DTYPES[row["dtype"]], planner=row["planner"], l0c_double_buffer=double)


def taken(given: Problem) -> Choice:
    choice = choose(given)
    assert not isinstance(choice, Refusal)
    return choice


def test_all_rows_are_here() -> None:
    assert len(ROWS) == 477
    assert {(r["planner"], r["l0c_double_buffer"]) for r in ROWS} == {("pypto", "0"), ("pypto", "1"), ("ptoas", "0")}


@pytest.mark.parametrize("row", ROWS, ids=name)
def test_the_tile_is_pyptos(row: dict[str, str]) -> None:
    choice = taken(problem(row))
    assert choice.winner.tile == (int(row["m"]), int(row["n"]), int(row["k"]))
    assert choice.is_tiled == (row["stationary"] != "untiled")
    if choice.is_tiled:
        assert choice.winner.stays.value == row["stationary"]
    assert choice.winner.form.double == (row["double_buffered"] == "1")


def test_no_row_could_be_cheaper() -> None:
    """PyPTO's tile costs what ours costs, by a formula written apart from ours."""
    for row in ROWS:
        given = problem(row)
        winner = taken(given).winner
        form = winner.form.stationary.value, winner.form.double
        assert price(given, *form, int(row["m"]), int(row["n"]), int(row["k"])).wall == winner.terms.wall


@pytest.mark.parametrize(
    ("platform", "shape", "dtype", "tile", "stays"),
    [
        ("a2a3", (256, 256, 64), BF16, (128, 256, 64), "B"),
        ("a2a3", (272, 272, 64), BF16, (144, 128, 64), "A"),
        ("a2a3", (320, 320, 64), BF16, (160, 128, 64), "A"),
        ("a2a3", (256, 256, 256), FP32, (128, 256, 32), "output"),
        ("a2a3", (128, 128, 256), BF16, (128, 128, 128), "output"),
        ("a2a3", (128, 128, 256), FP32, (128, 128, 64), "output"),
        ("a2a3", (512, 512, 512), BF16, (128, 256, 64), "output"),
        ("a2a3", (512, 512, 512), FP32, (128, 256, 32), "output"),
        ("a2a3", (1024, 1024, 1024), BF16, (128, 256, 64), "output"),
        ("a2a3", (4096, 4096, 4096), BF16, (128, 256, 64), "output"),
        ("a2a3", (16, 128, 128), FP32, (16, 128, 64), "output"),
        ("a2a3", (128, 512, 128), BF16, (128, 256, 128), "B"),
        ("a2a3", (16, 256, 512), BF16, (16, 256, 64), "output"),
        ("a5", (256, 256, 256), BF16, (256, 256, 64), "output"),
        ("a5", (128, 512, 128), BF16, (128, 512, 32), "output"),
    ],
)
def test_published_tiles(
    platform: str, shape: tuple[int, int, int], dtype: DType, tile: tuple[int, int, int], stays: str
) -> None:
    choice = taken(pose(TARGETS[platform], *shape, dtype))
    assert choice.winner.tile == tile
    assert choice.winner.stays.value == stays
    assert not choice.winner.form.double


def test_int8_with_boxed_columns_and_padded_rows() -> None:
    """In L0 columns of int8 come by 32, and 16 rows of an int32 accumulator take 32."""
    choice = taken(pose(A2A3, 16, 1152, 512, INT8))
    assert choice.winner.tile == (16, 768, 32)


@pytest.mark.parametrize(
    ("shape", "tile", "kept"), [((16, 256, 128), (16, 128, 128), "A"), ((256, 16, 128), (128, 16, 128), "B")]
)
def test_two_accumulators_on_one_row_or_column_of_tiles(
    shape: tuple[int, int, int], tile: tuple[int, int, int], kept: str
) -> None:
    """The operand that is kept may have one tile; the axis that moves needs two."""
    winner = taken(pose(A2A3, *shape, BF16, planner="ptoas")).winner
    assert winner.tile == tile
    assert winner.form.double
    assert winner.form.stationary.value == "output"
    assert winner.stays.value == kept
