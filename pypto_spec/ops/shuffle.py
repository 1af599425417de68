"""Bringing elements to other places in UB: whole blocks by DataCopy, anything else by Gather with a table of offsets.

A table holds one byte offset per lane of the result, counted up by `ramp`. Vector memory is addressed in 32 B blocks,
so a window that starts or ends inside a block has no other way. 64-bit elements go as pairs of 32-bit ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pypto_spec.ir.dtype import INT32, INT64, UINT32, DType
from pypto_spec.ir.expr import Index, add, mul
from pypto_spec.ir.instr import Instr, Ref, Struct
from pypto_spec.ir.opdef import Recipe
from pypto_spec.ir.types import Layout, round_up
from pypto_spec.ops.build import geometry
from pypto_spec.ops.copy_calls import MAX_COPY_COUNT
from pypto_spec.ops.expand_steps import BRCB_BATCH, BRCB_ROWS
from pypto_spec.ops.ramp import constant, double, ramp
from pypto_spec.ops.reduce_steps import Draft, Grid, shares, shift

TABLE_BUDGET = 16_384
"""Bytes of a table of offsets; more rows than that come in several Gathers with one table."""
MOST_LANES = 1024
"""Lanes of the table for one row."""
GATHERED = (2, 4, 8)
"""Bytes of elements that can be gathered."""


def units(dtype: DType) -> tuple[DType, int]:
    """The dtype that elements are moved as, and how many of it make an element."""
    return (INT32, 2) if dtype == INT64 else (dtype, 1)


def grid_of(of: Recipe, field: str, draft: Draft, *, as_rows: bool = False) -> Grid:
    """A tile as rows of movable units; a dense column is one row, or with `as_rows` spread, one block a row."""
    tile = of.tile(field)
    dtype, times = units(tile.dtype)
    ref = Ref(field, 0, None if times == 1 else dtype)
    if as_rows and tile.order is Layout.DN:
        return _spread(draft, ref, dtype, tile.rows)
    rows, cols, pitch = geometry(tile)
    return Grid(ref, dtype, rows, cols * times, pitch * times)


def _spread(draft: Draft, ref: Ref, dtype: DType, rows: int) -> Grid:
    area = draft.area(round_up(rows, BRCB_ROWS) * dtype.block, dtype)
    for first, repeat in shares(-(-rows // BRCB_ROWS), BRCB_BATCH, BRCB_BATCH):
        row = first * BRCB_ROWS
        draft.add(
            Instr(
                "Brcb",
                (shift(area, row * dtype.block), shift(ref, row), repeat, Struct("BrcbRepeatParams", (1, BRCB_ROWS))),
            )
        )
    return Grid(area, dtype, rows, 1, dtype.block)


def moved(ref: Ref, elements: Index) -> Ref:
    """The operand so many elements further on, which may be known at run time only."""
    return replace(ref, offset=add(ref.offset, elements)) if elements != 0 else ref


def copy_blocks(draft: Draft, into: Grid, src: Grid) -> None:
    """Append copies of whole blocks: all rows and columns of the source, each row's last block as a whole."""
    block = src.dtype.block
    length = -(-src.cols // block)
    for first, count in shares(src.rows, MAX_COPY_COUNT):
        gaps = tuple(p // block - length if count > 1 else 0 for p in (src.pitch, into.pitch))
        refs = moved(into.ref, first * into.pitch), moved(src.ref, first * src.pitch)
        draft.add(Instr("DataCopy", (*refs, Struct("DataCopyParams", (count, length, *gaps)))))


def table(
    draft: Draft,
    dtype: DType,
    lanes: int,
    jumps: Sequence[tuple[int, int]] = (),
    *,
    top: int | None = None,
    rows: int = 1,
    stride: int = 1,
) -> Ref:
    """A table of byte offsets for rows of `lanes` lanes, with room for `rows` rows.

    Lane i is i * stride elements in; each (lane, distance) moves the lanes from that one on by so many elements (with
    stride 1); none is beyond element `top`.
    """
    size = dtype.bytes
    area = draft.area(rows * lanes, INT32)
    ramp(draft, area, INT32, lanes, stride)
    indicators = []
    for lane, distance in jumps:
        step = draft.area(lanes, INT32)
        draft.add(
            Instr("Adds", (step, area, constant(1 - lane, INT32), lanes)),
            Instr("Maxs", (step, step, constant(0, INT32), lanes)),
            Instr("Mins", (step, step, constant(1, INT32), lanes)),
            Instr("Muls", (step, step, constant(distance, INT32), lanes)),
        )
        indicators.append(step)
    draft.add(*(Instr("Add", (area, area, step, lanes)) for step in indicators))
    if top is not None:
        draft.add(Instr("Mins", (area, area, constant(top, INT32), lanes)))
    draft.add(Instr("Muls", (area, area, constant(size, INT32), lanes)))
    return area


def gather(draft: Draft, dst: Ref, src: Ref, offsets: Ref, base: Index, count: int, reach: int) -> None:
    """Append one Gather; `base` in bytes, `reach` in elements."""
    draft.add(Instr("Gather", (dst, src, replace(offsets, dtype=UINT32), base, count), (), reach))


def shuffle(
    draft: Draft,
    into: Grid,
    src: Grid,
    jumps: Sequence[tuple[int, int]],
    *,
    column: Index = 0,
    row: Index = 0,
    stride: int = 1,
) -> None:
    """Append what fills the rows of `into` from the rows of `src`, from number `row` on.

    Lane i comes from column + i * stride, and from where the jumps say (see `table`). Rows of more than a table are
    filled piece by piece; they, and a column known at run time only, take Gathers per row.
    """
    size = into.dtype.bytes
    if into.cols > MOST_LANES:
        _by_pieces(draft, into, src, jumps, column, row, stride)
        return
    # Whole pitches let one Gather run over several rows; the lanes behind a row stay inside the source by `top`.
    whole = isinstance(column, int) and into.rows > 1
    lanes = into.pitch if whole else into.cols
    group = min(into.rows, max(1, TABLE_BUDGET // (lanes * INT32.bytes))) if whole else 1
    top = src.pitch - 1 - column if isinstance(column, int) else None
    offsets = table(draft, into.dtype, lanes, jumps, top=top, rows=group, stride=stride)
    double(draft, offsets, INT32, lanes, group * lanes, lambda done: done // lanes * src.pitch * size)
    for first, count in shares(into.rows, group, group):
        there = moved(src.ref, add(mul(row, src.pitch), first * src.pitch))
        here = moved(into.ref, first * into.pitch)
        gather(draft, here, there, offsets, mul(column, size), count * lanes, count * src.pitch)


def _by_pieces(
    draft: Draft, into: Grid, src: Grid, jumps: Sequence[tuple[int, int]], column: Index, row: Index, stride: int
) -> None:
    plain = table(draft, into.dtype, MOST_LANES, stride=stride)
    mark = draft.next
    for low in range(0, into.cols, MOST_LANES):
        count = min(MOST_LANES, into.cols - low)
        draft.next = mark
        before = sum(distance for lane, distance in jumps if lane <= low)
        offsets, start = plain, add(column, low * stride + before)
        if any(low < lane < low + count for lane, _ in jumps):
            # Lanes before `low` count as jumps at its start, so that no offset in the table is negative.
            inside = [(max(lane - low, 0), distance) for lane, distance in jumps if lane < low + count]
            offsets, start = table(draft, into.dtype, count, inside), add(column, low)
        base = mul(start, into.dtype.bytes)
        for number in range(into.rows):
            there = moved(src.ref, mul(add(row, number), src.pitch))
            gather(draft, moved(into.ref, number * into.pitch + low), there, offsets, base, count, src.pitch)
