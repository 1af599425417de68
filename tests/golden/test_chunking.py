"""`let` programs on whole arrays: from arrays that fit to many chunks, on one block and several.

Little vector memory stands in for large arrays: chunks are as many, and the runs cost less.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.golden.chunk_programs import PROGRAMS, case
from tests.golden.harness import Case, Failure, assert_good, make

pytest.importorskip("torch")

SHAPES = ((7, 9), (40, 64), (33, 100), (100, 520), (1, 3000), (300, 8), (257, 1), (1, 1), (64, 2048))
CAPACITIES = (None, 8192, 16384)
BLOCKS: tuple[int | str, ...] = (1, 3, 8, "auto")


def _alone(program: str) -> bool:
    """Whether the program is work for one block: it reduces columns, or reads and writes what blocks cannot divide."""
    return PROGRAMS[program].columns or program == "late"


def _undividable(program: str, rows: int, cols: int, vec: int | None) -> bool:
    if program == "window" and cols == 1:
        return True  # one column of a wider tensor is no window
    return PROGRAMS[program].rows_whole and vec is not None and cols > 500


def grid(program: str) -> list[Case]:
    """All shapes, capacities and numbers of blocks of one program."""
    return [
        case(program, f"{program}_{rows}_{cols}_{blocks}_{vec}", rows, cols, blocks, vec)
        for rows, cols in SHAPES
        for vec in CAPACITIES
        for blocks in (BLOCKS[:1] if _alone(program) else BLOCKS)
        if not _undividable(program, rows, cols, vec)
    ]


def some(place: int, program: str) -> list[Case]:
    """The normal run's part: every shape once or twice, with another capacity and number of blocks for each program."""
    found = [c for number, c in enumerate(grid(program)) if (number * 7 + place) % 10 < (5 if _alone(program) else 1)]
    return found[:12]


HALVES = 4


@pytest.mark.parametrize("group", range(HALVES))
def test_equals_torch(group: int) -> None:
    assert_good([c for n, p in enumerate(PROGRAMS) if n % HALVES == group for c in some(n, p)])


@pytest.mark.long
@pytest.mark.parametrize("program", PROGRAMS)
def test_equals_torch_everywhere(program: str) -> None:
    assert_good(grid(program))


WIDE = (
    ("chain", 20, 60_000, 1), ("chain", 3, 60_000, "auto"), ("softmax", 4, 60_000, 1), ("softmax", 9, 30_000, 3),
    ("rmsnorm", 3, 50_000, 1), ("columns", 50, 30_000, 1), ("bf16", 30, 5_000, 8), ("casts", 70, 3_000, "auto"),
    ("inout", 90, 4_000, 3), ("int32", 12, 40_000, 1), ("deep", 40, 1_500, "auto"), ("row_only", 1, 200_000, 8),
)  # fmt: skip
"""Arrays that are too large for the chip itself, or whose rows are."""


def test_large_arrays() -> None:
    assert_good([case(p, f"large_{p}_{m}_{n}_{b}", m, n, b) for p, m, n, b in WIDE])


@pytest.mark.parametrize("rows", [1, 8, 9, 31, 64, 65])
def test_every_tail(rows: int) -> None:
    """Whole chunks, a tail of one row, and all but one row."""
    names = ("chain", "softmax", "late_rows") + (("columns",) if rows > 1 else ())
    assert_good([case(p, f"tail_{p}_{rows}", rows, 96, 1, 6144) for p in names])


def refusal(text: Case) -> str:
    """What the compiler says."""
    made = make(text)
    assert isinstance(made, Failure), "it should have been refused"
    return made.message


def test_column_reductions_are_work_for_one_block() -> None:
    said = refusal(case("columns", "refused", 400, 64, 4))
    assert "`blocks: 4`" in said and "reduces columns" in said


def test_what_every_block_reads_and_one_writes_is_refused() -> None:
    said = refusal(case("late", "refused", 400, 64, "auto"))
    assert "reads and writes `s` [1, 64]" in said


def test_what_cannot_be_divided_is_refused() -> None:
    said = refusal(case("centred", "refused", 10, 60_000))
    assert "cannot be divided" in said and "rows do not fit" in said


def test_a_part_of_a_tensor_that_is_also_written_is_refused() -> None:
    base = case("inout", "refused", 3000, 64)
    text = base.text.replace("y = y * 2 + x", "y = x * 2").replace("y = y - row_max(y)", "y = x + y[5:6, :]")
    assert "a part of `y` is read, and the whole of it written" in refusal(replace(base, text=text))
