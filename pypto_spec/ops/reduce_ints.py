"""Row reductions where no WholeReduce exists, by lanes alone: int32 (exact), and products of 32-bit dtypes.

A batch of rows is folded to 8 lanes, one 32 B block a row, in halves of 64, 32, 16 lanes that all start on 32 B. Below
that halves are no longer aligned, so Brcb spreads the 8 lanes into 8 blocks of equal elements; those fold block by
block, and what is left is a block of 8 equal results per row. Row `8 g + k` has to end in lane k of block g: blocks
are laid over each other with masks that keep the first lanes (`first 7 lanes from row 6, then first 6 ...`), in three
levels of pairs. Sums wrap around as the hardware's int32 addition does.
"""

from __future__ import annotations

from dataclasses import replace

from pypto_spec.ir.dtype import INT32
from pypto_spec.ir.instr import Instr, Ref, Struct
from pypto_spec.ir.types import round_up
from pypto_spec.ops.reduce_cols import reduce_cols
from pypto_spec.ops.reduce_rows import SCRATCH_BUDGET, fold_chunks, fold_runs, fold_width
from pypto_spec.ops.reduce_steps import (
    COMBINE,
    Draft,
    Grid,
    Kind,
    combine,
    combine_run,
    copy_lanes,
    copy_run,
    shift,
)

BATCH = 64
"""Rows worked on at a time: 256 B a row for folding and 256 B for spreading stay within 34 KiB together."""
BLOCK = INT32.block
LANES = INT32.lanes


def reduce_int_rows(draft: Draft, kind: Kind, grid: Grid, dst: Ref) -> None:
    """Append the calls that leave the reductions of the grid's rows, of 32-bit elements, densely at `dst`."""
    if grid.cols == 1 and grid.pitch == 1:
        draft.add(copy_run(dst, grid.ref, grid.rows, grid.dtype))
        return
    mark = draft.next
    for first in range(0, grid.rows, BATCH):
        draft.next = mark
        batch = grid.rows_from(first, min(BATCH, grid.rows - first))
        narrow = _narrow(draft, kind, batch)
        _across(draft, kind, narrow, shift(dst, first))


def _narrow(draft: Draft, kind: Kind, grid: Grid) -> Grid:
    """The rows folded to at most 8 lanes, one block a row without gaps."""
    call = COMBINE[kind]
    ours = False
    if grid.cols > 2 * LANES:
        grid, ours = _to_one_chunk(draft, kind, grid), True
    elif grid.rows > 1 and (grid.pitch != BLOCK if grid.cols <= BLOCK else not grid.strided):
        grid, ours = _gathered(draft, grid), True
    while grid.cols > BLOCK:
        half = BLOCK * -(-grid.cols // (2 * BLOCK))
        rest = grid.cols - half
        into = replace(grid, cols=half)
        if not ours or half == BLOCK:
            # The tile itself is kept, and the last half goes to where rows follow each other without gaps.
            into = Grid(draft.area(grid.rows * half, grid.dtype), grid.dtype, grid.rows, half, half)
        left = grid
        if rest < half and into.ref != grid.ref:
            draft.add(copy_lanes(into.ref, grid.ref, half, grid.rows, (into.step, grid.step)))
            left = into
        steps = (into.step, left.step, grid.step)
        draft.add(combine(call, into.ref, left.ref, grid.at(0, half), rest, grid.rows, steps))
        grid, ours = into, True
    return grid


def _gathered(draft: Draft, grid: Grid) -> Grid:
    """A few columns of a wider tile, row by row to where rows follow each other."""
    pitch = round_up(grid.cols, BLOCK)
    into = Grid(draft.area(grid.rows * pitch, grid.dtype), grid.dtype, grid.rows, grid.cols, pitch)
    for row in range(grid.rows):
        draft.add(copy_run(into.at(row), grid.at(row), grid.cols, grid.dtype))
    return into


def _to_one_chunk(draft: Draft, kind: Kind, grid: Grid) -> Grid:
    """More than two chunks folded to 64 lanes a row: chunk by chunk over all rows, or row by row where that is less."""
    call = COMBINE[kind]
    full, rest = divmod(grid.cols, LANES)
    width = fold_width(grid, SCRATCH_BUDGET // 2)
    if width is not None and grid.chunks <= grid.rows * (full.bit_length() + 1):
        return fold_chunks(draft, call, grid, width)
    into = Grid(draft.area(grid.rows * LANES, grid.dtype), grid.dtype, grid.rows, LANES, LANES)
    mark = draft.next
    for row in range(grid.rows):
        draft.next = mark
        reduce_cols(draft, kind, Grid(grid.at(row), grid.dtype, full, LANES, LANES), into.at(row))
        if rest:
            draft.add(combine_run(call, into.at(row), into.at(row), grid.at(row, full * LANES), rest))
    return into


def _across(draft: Draft, kind: Kind, grid: Grid, dst: Ref) -> None:
    """One result per row from rows of at most 8 lanes in one block each."""
    groups = -(-grid.rows // BLOCK)
    rows = groups * BLOCK
    spread = draft.area(BLOCK * rows * BLOCK, grid.dtype)
    # Lane j of row i fills block j * rows + i: the rows of one lane lie side by side.
    draft.add(Instr("Brcb", (spread, grid.ref, grid.rows, Struct("BrcbRepeatParams", (rows, 1)))))
    if grid.cols > 1:
        fold_runs(draft, COMBINE[kind], spread, grid.cols, rows * BLOCK, spread, rows * BLOCK)

    def block(row: int) -> Ref:
        return shift(spread, row * BLOCK)

    def lay(into: Ref, step: int, row: int, mask: int) -> None:
        draft.add(copy_lanes(into, block(row), mask, groups, (step, BLOCK)))

    if grid.rows == 1:
        draft.add(copy_lanes(dst, block(0), 1, 1, (1, BLOCK)))
        return
    lay(dst, 1, 7, 8)
    lay(block(5), BLOCK, 4, 5)
    lay(block(3), BLOCK, 2, 3)
    lay(block(1), BLOCK, 0, 1)
    lay(dst, 1, 6, 7)
    lay(block(3), BLOCK, 1, 2)
    lay(dst, 1, 5, 6)
    lay(dst, 1, 3, 4)
