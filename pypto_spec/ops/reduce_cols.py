"""Column reductions: [M, N] becomes [1, N] by folding halves of the rows, which lie side by side, in one call a level.

Where half of the tile is more scratch than the budget, a panel of as many rows as fit takes in the others first.
fp16 sums are cast to fp32 first, whole where the copy is small, otherwise in panels of rows that are added up, and
pieces of very long rows one after the other (hardware rule 8).
"""

from __future__ import annotations

from pypto_spec.ir.dtype import FP16, FP32
from pypto_spec.ir.instr import Ref
from pypto_spec.ops.reduce_rows import SCRATCH_BUDGET, add_pieces, fold_runs
from pypto_spec.ops.reduce_steps import COMBINE, Draft, Grid, Kind, cast_run, combine_run, copy_run, shift


def reduce_cols(draft: Draft, kind: Kind, grid: Grid, dst: Ref) -> None:
    """Append the calls that leave the reductions of the grid's columns at `dst`; the grid itself is kept."""
    call, rows, pitch = COMBINE[kind], grid.rows, grid.pitch
    if rows == 1:
        draft.add(copy_run(dst, grid.ref, grid.cols, grid.dtype))
        return
    affordable = SCRATCH_BUDGET // (pitch * grid.dtype.bytes)
    if rows <= 3 or affordable < 2:
        # No scratch: each further call works on the result itself. Rows are few, or so long that they are few.
        draft.add(combine_run(call, dst, grid.ref, grid.at(1), grid.cols))
        for row in range(2, rows):
            draft.add(combine_run(call, dst, dst, grid.at(row), grid.cols))
        return
    half = rows // 2
    kept = rows - half
    if kept <= affordable:
        area = draft.area(kept * pitch, grid.dtype)
        _first_level(draft, kind, grid, area)
    else:
        kept = affordable
        area = draft.area(kept * pitch, grid.dtype)
        draft.add(combine_run(call, area, grid.ref, grid.at(kept), kept * pitch))
        for row in range(2 * kept, rows, kept):
            draft.add(combine_run(call, area, area, grid.at(row), min(kept, rows - row) * pitch))
    fold_runs(draft, call, area, kept, pitch, dst, grid.cols)


def _first_level(draft: Draft, kind: Kind, grid: Grid, area: Ref) -> None:
    """Rows folded to half as many (rounded up) in scratch."""
    call, rows, pitch = COMBINE[kind], grid.rows, grid.pitch
    half = rows // 2
    kept = rows - half
    if kind in ("max", "min") and kept > half:
        # The middle row meets itself, which max and min do not mind: one call for all rows.
        draft.add(combine_run(call, area, grid.ref, grid.at(half), kept * pitch))
        return
    draft.add(combine_run(call, area, grid.ref, grid.at(half), half * pitch))
    if kept > half:
        draft.add(copy_run(shift(area, half * pitch), grid.at(rows - 1), grid.cols, grid.dtype))


def sum_cols_wide(draft: Draft, grid: Grid, dst: Ref) -> None:
    """Column sums of fp16 with fp32 accumulation, rounded once at the end."""
    if grid.rows == 1:
        draft.add(copy_run(dst, grid.ref, grid.cols, grid.dtype))
        return
    row_bytes = grid.pitch * FP32.bytes
    if grid.rows * row_bytes <= SCRATCH_BUDGET:
        copy = draft.area(grid.rows * grid.pitch, FP32)
        draft.add(cast_run(copy, grid.ref, "CAST_NONE", (grid.rows - 1) * grid.pitch + grid.cols))
        fold_runs(draft, "Add", copy, grid.rows, grid.pitch, copy, grid.cols)
        draft.add(cast_run(dst, copy, "CAST_RINT", grid.cols))
        return
    panel = SCRATCH_BUDGET // (3 * row_bytes)
    if panel:
        areas = [draft.area(panel * grid.pitch, FP32) for _ in range(3)]
        sources = []
        for row in range(0, grid.rows, panel):
            rows = min(panel, grid.rows - row)
            sources.append((grid.at(row), (rows - 1) * grid.pitch + grid.cols))
        add_pieces(draft, sources, areas)
        fold_runs(draft, "Add", areas[0], panel, grid.pitch, areas[0], grid.cols)
        draft.add(cast_run(dst, areas[0], "CAST_RINT", grid.cols))
        return
    piece = SCRATCH_BUDGET // (3 * FP32.bytes) // FP16.block * FP16.block
    areas = [draft.area(piece, FP32) for _ in range(3)]
    for start in range(0, grid.cols, piece):
        count = min(piece, grid.cols - start)
        add_pieces(draft, [(grid.at(row, start), count) for row in range(grid.rows)], areas)
        draft.add(cast_run(shift(dst, start), areas[0], "CAST_RINT", count))
