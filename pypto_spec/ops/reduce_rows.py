"""Row reductions in fp32 and fp16: how [M, N] becomes [M] with the fewest calls and barriers.

WholeReduce gives one result per repeat and reads at most 256 B, so a row of one chunk is one repeat. Wider rows have
three ways, and the cheapest one whose scratch is affordable is taken (calls plus barriers, then scratch):

* **fold**: chunks are folded into one to four accumulators of [M, lanes] with Add/Max/Min, these into one, then one
  WholeReduce. The last chunk is folded by mask, so no lane needs an identity (hardware rule 11).
* **parts**: one WholeReduce per chunk gives columns of partial results, each [M], which a tree folds.
* **rows**: row by row, one WholeReduce whose repeats walk along the row; the [M, chunks] partial results are a smaller
  row reduction. The way for few long rows, and the only one that a pitch above 255 blocks allows.

Lanes past `cols` in the last chunk are undefined and stay masked off throughout.
"""

from __future__ import annotations

from pypto_spec.ir.dtype import FP16, FP32, DType
from pypto_spec.ir.instr import Ref
from pypto_spec.ir.types import round_up
from pypto_spec.ops.reduce_steps import (
    COMBINE,
    Draft,
    Grid,
    Kind,
    calls,
    cast_run,
    combine,
    combine_run,
    shares,
    shift,
    whole,
    whole_batch,
    whole_shares,
)
from pypto_spec.records import dataclass

SCRATCH_BUDGET = 32_768
"""Bytes of scratch a recipe takes for speed where a slower one does with less: a sixth of UB."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to reduce rows: its name, accumulators (fold), calls, barriers between them, scratch bytes."""

    name: str
    width: int
    calls: int
    barriers: int
    scratch: int

    @property
    def cost(self) -> tuple[int, int, int]:
        return self.calls + self.barriers, self.barriers, self.scratch


def _log2(value: int) -> int:
    """Levels of a binary tree over `value` items."""
    return max(value - 1, 0).bit_length()


def _wholes(rows: int, dtype: DType) -> int:
    return calls(rows, batch=whole_batch(dtype))


def _fold_way(grid: Grid, width: int, in_place: bool) -> Way | None:
    chunks = grid.chunks
    partial = grid.cols % grid.dtype.lanes != 0
    # An accumulator must start from two full chunks: a partial one would leave its upper lanes unset.
    if not grid.strided or chunks < 2 * width or (partial and chunks == 2 * width and not in_place):
        return None
    batches = calls(grid.rows)
    # In place the accumulators are chunks of the tile itself, one call each; in scratch they lie side by side.
    joins = (width - 1) * batches if in_place else _log2(width)
    scratch = 0 if in_place else width * grid.rows * grid.dtype.lanes * grid.dtype.bytes
    made = (chunks - width) * batches + joins + _wholes(grid.rows, grid.dtype)
    return Way("fold", width, made, -(-(chunks - 2 * width) // width) + _log2(width) + 1, scratch)


def _parts_way(grid: Grid, kind: Kind) -> Way:
    levels = _log2(grid.chunks)
    scratch = grid.chunks * round_up(grid.rows, grid.dtype.block) * grid.dtype.bytes
    return Way("parts", 0, grid.chunks * _wholes(grid.rows, grid.dtype) + levels, levels, scratch)


def _slots(grid: Grid, kind: Kind) -> tuple[int, bool]:
    """Partial results per row in `rows`, and whether the partial last chunk is kept apart.

    Results of Max and Min go to even elements at least (8 B in fp32: the check of the 8.1 headers), so there a last
    chunk of its own call has no sure place among the others; sums may start on any element.
    """
    full, rest = divmod(grid.cols, grid.dtype.lanes)
    apart = rest != 0 and kind != "sum"
    return full + (rest != 0 and not apart), apart


def _partials(grid: Grid, kind: Kind, ref: Ref) -> Grid:
    slots, _ = _slots(grid, kind)
    return Grid(ref, grid.dtype, grid.rows, slots, round_up(slots, grid.dtype.block))


def _unbroken(grid: Grid, partials: Grid) -> bool:
    """Whether rows and their partial results both follow each other without a gap, so that repeats run over all."""
    return grid.cols == grid.pitch and grid.cols % grid.dtype.lanes == 0 and partials.cols == partials.pitch


def _rows_way(grid: Grid, kind: Kind, aligned: bool) -> Way | None:
    full, rest = divmod(grid.cols, grid.dtype.lanes)
    _, apart = _slots(grid, kind)
    if full == 0 or (apart and not aligned):
        return None
    partials = _partials(grid, kind, grid.ref)
    inner = choose(partials, kind, aligned and not apart, in_place=True)
    if _unbroken(grid, partials):
        made = _wholes(grid.rows * full, grid.dtype)
    else:
        made = grid.rows * _wholes(full, grid.dtype) + (_wholes(grid.rows, grid.dtype) if rest else 0)
    size = grid.dtype.bytes
    scratch = grid.rows * partials.pitch * size + inner.scratch + (round_up(grid.rows, grid.dtype.block) * size)
    return Way("rows", 0, made + inner.calls + apart, 1 + inner.barriers + apart, scratch)


def choose(grid: Grid, kind: Kind, aligned: bool = True, in_place: bool = False) -> Way:
    """The cheapest way within the scratch budget, else the one with the least scratch.

    `aligned` says that the result starts on 32 B: only then may lane-wise calls touch it. `in_place` says that the
    grid is scratch of our own and may be overwritten.
    """
    if grid.chunks == 1:
        return Way("direct", 0, _wholes(grid.rows, grid.dtype), 0, 0)
    ways = [_fold_way(grid, width, in_place) for width in (1, 2, 4, *((8, 16) if in_place else ()))]
    ways.append(_rows_way(grid, kind, aligned))
    if aligned:
        ways.append(_parts_way(grid, kind))
    possible = [way for way in ways if way is not None]
    affordable = [way for way in possible if way.scratch <= SCRATCH_BUDGET]
    if affordable:
        return min(affordable, key=lambda way: way.cost)
    return min(possible, key=lambda way: way.scratch)


def reduce_rows(
    draft: Draft, kind: Kind, grid: Grid, dst: Ref, *, aligned: bool = True, in_place: bool = False, first: int = 0
) -> None:
    """Append the calls that leave the reductions of the grid's rows densely at `dst`.

    `first` is the number of the grid's first row in the whole tile, for run-time row counts.
    """
    way = choose(grid, kind, aligned, in_place)
    if way.name == "direct":
        _direct(draft, kind, grid, dst, first)
    elif way.name == "fold":
        _fold(draft, kind, grid, dst, way.width, in_place, first)
    elif way.name == "parts":
        _parts(draft, kind, grid, dst, first)
    else:
        _by_row(draft, kind, grid, dst, aligned, first)


def _direct(draft: Draft, kind: Kind, grid: Grid, dst: Ref, first: int) -> None:
    for row, count in whole_shares(grid.rows, grid.dtype):
        draft.add(
            whole(kind, shift(dst, row), grid.at(row), grid.cols, draft.defined(first + row, count), 1, grid.step)
        )


def _mask(grid: Grid, chunk: int) -> int:
    return min(grid.dtype.lanes, grid.cols - chunk * grid.dtype.lanes)


def _fold(draft: Draft, kind: Kind, grid: Grid, dst: Ref, width: int, in_place: bool, first: int) -> None:
    _direct(draft, kind, fold_chunks(draft, COMBINE[kind], grid, width, in_place), dst, first)


def fold_chunks(draft: Draft, call: str, grid: Grid, width: int, in_place: bool = False) -> Grid:
    """Fold the column chunks of every row into one, by `width` accumulators (see `fold_width`); where it ends up."""
    lanes, dtype, rows = grid.dtype.lanes, grid.dtype, grid.rows
    heads = [Grid(grid.at(0, i * lanes), dtype, rows, lanes, grid.pitch) for i in range(width)]
    sums = heads
    if not in_place:
        area = draft.area(width * rows * lanes, dtype)
        sums = [Grid(shift(area, i * rows * lanes), dtype, rows, lanes, lanes) for i in range(width)]

    def fold(into: Grid, left: Grid, right: Ref, step: int, mask: int) -> None:
        for row, count in shares(rows):
            other = shift(right, row * grid.pitch)
            draft.add(combine(call, into.at(row), left.at(row), other, mask, count, (into.step, left.step, step)))

    for chunk in range(width, grid.chunks):
        into = sums[chunk % width]
        left = heads[chunk % width] if chunk < 2 * width else into
        fold(into, left, grid.at(0, chunk * lanes), grid.step, _mask(grid, chunk))
    while width > 1:
        width //= 2
        if in_place:
            for i in range(width):
                fold(sums[i], sums[i], sums[i + width].ref, grid.step, lanes)
        else:
            draft.add(combine_run(call, sums[0].ref, sums[0].ref, sums[width].ref, width * rows * lanes))
    return sums[0]


def fold_width(grid: Grid, budget: int) -> int | None:
    """How many accumulators fold the chunks cheapest within so many bytes of scratch; None where none may."""
    ways = [way for width in (1, 2, 4) if (way := _fold_way(grid, width, False)) is not None]
    affordable = [way for way in ways if way.scratch <= budget]
    return min(affordable, key=lambda way: way.cost).width if affordable else None


def fold_runs(draft: Draft, call: str, source: Ref, items: int, pitch: int, dst: Ref, count: int) -> None:
    """Fold `items` runs, `pitch` elements apart and ours to overwrite, as a tree; the last level writes `dst`."""
    while items > 1:
        half = items // 2
        kept = items - half
        last = kept == 1
        draft.add(
            combine_run(
                call, dst if last else source, source, shift(source, kept * pitch), count if last else half * pitch
            )
        )
        items = kept


def _parts(draft: Draft, kind: Kind, grid: Grid, dst: Ref, first: int) -> None:
    pitch = round_up(grid.rows, grid.dtype.block)
    area = draft.area(grid.chunks * pitch, grid.dtype)
    for chunk in range(grid.chunks):
        column = Grid(grid.at(0, chunk * grid.dtype.lanes), grid.dtype, grid.rows, _mask(grid, chunk), grid.pitch)
        _direct(draft, kind, column, shift(area, chunk * pitch), first)
    fold_runs(draft, COMBINE[kind], area, grid.chunks, pitch, dst, grid.rows)


def _by_row(draft: Draft, kind: Kind, grid: Grid, dst: Ref, aligned: bool, first: int) -> None:
    dtype = grid.dtype
    full, rest = divmod(grid.cols, dtype.lanes)
    _, apart = _slots(grid, kind)
    shape = _partials(grid, kind, grid.ref)
    partials = _partials(grid, kind, draft.area(grid.rows * shape.pitch, dtype))
    if _unbroken(grid, partials):
        # Batches are multiples of 8 results; a run-time row count ends somewhere inside one of them.
        for start, count in whole_shares(grid.rows * full, dtype):
            repeats = draft.defined_run(first, full, start, count)
            draft.add(
                whole(
                    kind, shift(partials.ref, start), shift(grid.ref, start * dtype.lanes), dtype.lanes, repeats, 1, 8
                )
            )
    else:
        for row in range(grid.rows):
            for start, count in whole_shares(full, dtype):
                draft.add(
                    whole(
                        kind,
                        partials.at(row, start),
                        grid.at(row, start * dtype.lanes),
                        dtype.lanes,
                        draft.defined(first + row, 1, count),
                        1,
                        8,
                    )
                )
        if rest:
            place, step = (dst, 1) if apart else (partials.at(0, full), partials.pitch)
            _last_chunk(draft, kind, grid, place, step, first)
    if not apart:
        reduce_rows(draft, kind, partials, dst, aligned=aligned, in_place=True, first=first)
        return
    area = draft.area(grid.rows, dtype)
    reduce_rows(draft, kind, partials, area, aligned=False, in_place=True, first=first)
    draft.add(combine_run(COMBINE[kind], dst, dst, area, grid.rows))


def _last_chunk(draft: Draft, kind: Kind, grid: Grid, dst: Ref, step: int, first: int) -> None:
    """The partial last chunk of every row, results `step` elements apart."""
    full, rest = divmod(grid.cols, grid.dtype.lanes)
    for row, count in whole_shares(grid.rows, grid.dtype):
        draft.add(
            whole(
                kind,
                shift(dst, row * step),
                grid.at(row, full * grid.dtype.lanes),
                rest,
                draft.defined(first + row, count),
                step,
                grid.step,
            )
        )


# --- fp16 sums ------------------------------------------------------------------------------------------------------


def sum_rows_wide(draft: Draft, grid: Grid, dst: Ref) -> None:
    """Row sums of fp16 with fp32 accumulation (hardware rule 8): cast, reduce in fp32, round once at the end.

    Rows are cast in batches that keep the fp32 copy within the budget; a row longer than that is first added up in
    pieces.
    """
    totals = draft.area(grid.rows, FP32)
    fits = SCRATCH_BUDGET // (round_up(grid.cols, FP16.block) * FP32.bytes)
    if fits:
        batch = grid.rows if grid.rows <= fits else fits // FP32.block * FP32.block or fits
        copy = draft.area(batch * grid.pitch if batch > 1 else grid.cols, FP32)
        mark = draft.next
        for first in range(0, grid.rows, batch):
            draft.next = mark
            rows = min(batch, grid.rows - first)
            count = (rows - 1) * grid.pitch + grid.cols
            draft.add(cast_run(copy, grid.at(first), "CAST_NONE", count))
            wide = Grid(copy, FP32, rows, grid.cols, grid.pitch)
            reduce_rows(
                draft, "sum", wide, shift(totals, first), aligned=first % FP32.block == 0, in_place=True, first=first
            )
    else:
        _sum_long_rows(draft, grid, totals)
    draft.add(cast_run(dst, totals, "CAST_RINT", grid.rows))


PIECE = 2_560
"""Elements of a long row added up at a time: three such pieces of fp32 fit the budget, and its 40 chunks are a whole
number of blocks of partial results."""


def _sum_long_rows(draft: Draft, grid: Grid, totals: Ref) -> None:
    pieces = [draft.area(PIECE, FP32) for _ in range(3)]
    mark = draft.next
    for row in range(grid.rows):
        draft.next = mark
        add_pieces(
            draft,
            [(grid.at(row, start), min(PIECE, grid.cols - start)) for start in range(0, grid.cols, PIECE)],
            pieces,
        )
        one = Grid(pieces[0], FP32, 1, PIECE, PIECE)
        reduce_rows(draft, "sum", one, shift(totals, row), aligned=False, in_place=True, first=row)


def add_pieces(draft: Draft, sources: list[tuple[Ref, int]], areas: list[Ref]) -> None:
    """Add fp16 runs up in fp32 in `areas[0]`; the two other areas take turns, so that a cast never waits for an add."""
    total, *turns = areas
    draft.add(cast_run(total, sources[0][0], "CAST_NONE", sources[0][1]))
    for number, (source, count) in enumerate(sources[1:]):
        turn = turns[number % 2]
        draft.add(cast_run(turn, source, "CAST_NONE", count), combine_run("Add", total, total, turn, count))
