"""Recipes of sorting: blocks of 32 by Sort32, then lists four at a time by MrgSort, rows in groups.

A record takes 8 B: 2 elements of fp32, 4 of fp16. Rows are brought into scratch first, padded to whole blocks of 32
with -inf, which no element is below, so the tile itself may start anywhere; pads stand behind every element of the row,
and behind its own -inf too, since equal elements keep their order.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from pypto_spec.ir.dtype import INT32, UINT32, DType
from pypto_spec.ir.instr import Instr, Number, Ref, Struct
from pypto_spec.ops.decoding import MAX_REPEAT
from pypto_spec.ops.instructions import MAX_STRIDE
from pypto_spec.ops.ramp import double, ramp
from pypto_spec.ops.reduce_steps import Draft, Grid, copy_lanes, copy_run, shares, shift
from pypto_spec.ops.shuffle import copy_blocks
from pypto_spec.ops.sort_calls import LISTS, MAX_LIST, RECORD_BYTES, SORTED

GROUP_BUDGET = 49_152
"""Bytes of scratch for the rows that are sorted together."""
MOST_COLS = LISTS * 2048
"""Columns that can be sorted: blocks of 32 merged four by four give lists of 2048 records, then one of 8192."""
AREA_ALIGNMENT = SORTED * RECORD_BYTES
"""Bytes on whose multiples the records of Sort32 start; its sources need half of that or less."""


def record_lanes(dtype: DType) -> int:
    """Elements of a dtype in the place of a record."""
    return RECORD_BYTES // dtype.bytes


class Lists(NamedTuple):
    """Sorted lists one behind the other: `rows` times the same `lengths`, in records, without gaps."""

    ref: Ref
    rows: int
    lengths: tuple[int, ...]

    @property
    def total(self) -> int:
        """Records of one row."""
        return sum(self.lengths)


def blocks_of(cols: int) -> int:
    """Columns padded to whole blocks of 32."""
    return -(-cols // SORTED) * SORTED


def sort_blocks(draft: Draft, dst: Ref, src: Ref, index: Ref, blocks: int, dtype: DType) -> None:
    """Append the Sort32 of so many blocks of 32, one behind the other everywhere."""
    for first, count in shares(blocks, MAX_REPEAT):
        start = first * SORTED
        to = shift(dst, start * record_lanes(dtype))
        draft.add(Instr("Sort32", (to, shift(src, start), shift(replace(index, dtype=UINT32), start), count)))


def merge(draft: Draft, dst: Ref, sources: list[tuple[Ref, int]], dtype: DType, repeat: int = 1) -> None:
    """Append one merge of 1 to 4 lists, each with its length in records; a single one is copied."""
    if len(sources) == 1:
        ((source, length),) = sources
        draft.add(copy_run(dst, source, length * repeat * record_lanes(dtype), dtype))
        return
    padded = [*sources, *[(sources[-1][0], 0)] * (LISTS - len(sources))]
    lists = Struct("MrgSortSrcList", tuple(ref for ref, _ in padded))
    info = Struct("MergeInfo", (*(length for _, length in padded), len(sources), repeat))
    draft.add(Instr("MrgSort", (dst, lists, info)))


def merge_fours(draft: Draft, dst: Ref, src: Lists, dtype: DType) -> Lists:
    """Append one level: in each row every four lists become one, in order; what is left over becomes the last one."""
    lanes = record_lanes(dtype)
    length, full = src.lengths[0], 0
    while full < len(src.lengths) and src.lengths[full] == length:
        full += 1
    fours = full // LISTS
    merged = [LISTS * length] * fours
    if fours * LISTS == len(src.lengths):  # no row has a rest, so that calls run over rows
        _fours(draft, dst, src.ref, length, src.rows * fours, lanes, dtype)
        return Lists(dst, src.rows, tuple(merged))
    rest = [src.lengths[n : n + LISTS] for n in range(fours * LISTS, len(src.lengths), LISTS)]
    for row in range(src.rows):
        start = row * src.total * lanes
        if fours:
            _fours(draft, shift(dst, start), shift(src.ref, start), length, fours, lanes, dtype)
        start += fours * LISTS * length * lanes
        for lists in rest:
            at = start
            sources = []
            for each in lists:
                sources.append((shift(src.ref, at), each))
                at += each * lanes
            merge(draft, shift(dst, start), sources, dtype)
            start = at
    return Lists(dst, src.rows, (*merged, *map(sum, rest)))


def _fours(draft: Draft, dst: Ref, src: Ref, length: int, count: int, lanes: int, dtype: DType) -> None:
    """Append merges of `count` times four lists of one length, one behind the other."""
    assert length <= MAX_LIST
    for first, repeat in shares(count, MAX_REPEAT):
        at = first * LISTS * length * lanes
        sources = [(shift(src, at + n * length * lanes), length) for n in range(LISTS)]
        merge(draft, shift(dst, at), sources, dtype, repeat)


def sort_rows(draft: Draft, into: Grid, x: Grid) -> None:
    """Append what puts the first records of each row of `x`, sorted, into the rows of `into`, as many as fit there."""
    dtype, lanes = x.dtype, record_lanes(x.dtype)
    wide = blocks_of(x.cols)
    group = max(1, min(x.rows, GROUP_BUDGET // (wide * (dtype.bytes + INT32.bytes + 2 * RECORD_BYTES))))
    padded, index = draft.area(group * wide, dtype), draft.area(group * wide, INT32)
    areas = [draft.area(group * wide * lanes, dtype) for _ in range(1 if wide == SORTED else 2)]
    ramp(draft, index, INT32, wide)
    double(draft, index, INT32, wide, group * wide, lambda _: 0)
    if wide > x.cols:
        draft.add(Instr("Duplicate", (padded, Number(float("-inf"), dtype), group * wide)))
    for first, count in shares(x.rows, group, group):
        _bring(draft, Grid(padded, dtype, count, x.cols, wide), x.rows_from(first, count))
        sort_blocks(draft, areas[0], padded, index, count * wide // SORTED, dtype)
        lists, turn = Lists(areas[0], count, (SORTED,) * (wide // SORTED)), 1
        while len(lists.lengths) > 1:
            lists = merge_fours(draft, areas[turn], lists, dtype)
            turn = 1 - turn
        copy_blocks(
            draft, into.rows_from(first, count), Grid(lists.ref, dtype, count, into.cols, wide * lanes)
        )  # fmt: skip


def _bring(draft: Draft, into: Grid, x: Grid) -> None:
    """Append copies of rows of elements: whole blocks, then the lanes of the last, partial one."""
    whole = x.cols // x.dtype.block * x.dtype.block
    if whole:
        copy_blocks(draft, replace(into, cols=whole), replace(x, cols=whole))
    if whole == x.cols:
        return
    here, there, tail = shift(into.ref, whole), shift(x.ref, whole), x.cols - whole
    if max(into.step, x.step) > MAX_STRIDE:
        for row in range(x.rows):
            draft.add(copy_lanes(shift(here, row * into.pitch), shift(there, row * x.pitch), tail, 1, (8, 8)))
        return
    for first, count in shares(x.rows, MAX_REPEAT):
        steps = (into.step, x.step) if x.rows > 1 else (8, 8)
        to, source = shift(here, first * into.pitch), shift(there, first * x.pitch)
        draft.add(copy_lanes(to, source, tail, count, steps))
