"""Recipes that spread a vector over a tile: which calls, how many, and the scratch of the spread elements.

A row expand reads one element per row. Brcb gives each element a 32 B block of its own, and the call reads that block
again and again (block stride 0, repeat stride 1; hardware rule 12). A column expand reads the same row for each row of
the tile (repeat stride 0). Calls run down the rows of a 256 B column chunk or along the chunks of a row, whichever
takes fewer; strides above 255 blocks leave only the second. All calls but Brcb are independent of each other.
"""

from __future__ import annotations

from collections.abc import Iterator

from pypto_spec.ir.instr import Arg, Instr, Ref, Step, Struct
from pypto_spec.ir.types import TileType, round_up
from pypto_spec.ops.decoding import MAX_REPEAT
from pypto_spec.ops.instructions import MAX_STRIDE
from pypto_spec.ops.reduce_steps import Draft, calls, copy_run, shares, shift
from pypto_spec.records import dataclass

BRCB_ROWS = 8
"""Elements that one repeat of Brcb spreads."""
BRCB_BATCH = 254
"""Repeats of one Brcb where one call is not enough: an even number, so that in 16-bit types too the next call's source
starts on 32 B."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """One call in repeat form over a tile: first row and column, mask, repeats, and whether repeats are rows."""

    row: int
    col: int
    mask: int
    repeat: int
    down: bool


def stretches(tile: TileType) -> Iterator[Stretch]:
    """A cover of a dense tile by calls of at most 255 repeats, in the direction that takes fewer."""
    rows, cols, lanes = tile.rows, tile.cols, tile.dtype.lanes
    full, rest = divmod(cols, lanes)
    strided = rows == 1 or tile.row_pitch // tile.dtype.block <= MAX_STRIDE
    last = (calls(rows) if strided else rows) if rest else 0
    if strided and (full + bool(rest)) * calls(rows) <= rows * calls(full) + last:
        for col in range(0, cols, lanes):
            yield from _down(rows, col, min(lanes, cols - col))
        return
    for row in range(rows):
        for first, count in shares(full):
            yield Stretch(row, first * lanes, lanes, count, False)
        if rest and not strided:
            yield Stretch(row, full * lanes, rest, 1, False)
    if rest and strided:
        yield from _down(rows, full * lanes, rest)


def _down(rows: int, col: int, mask: int) -> Iterator[Stretch]:
    for first, count in shares(rows):
        yield Stretch(first, col, mask, count, True)


@dataclass(frozen=True, slots=True)
class Spread:
    """The vector as a call reads it: its operand, and (block stride, repeat stride) for both directions."""

    ref: Ref
    per_row: int
    block: int
    down: int
    along: int

    def at(self, stretch: Stretch) -> Ref:
        """Where a stretch starts reading."""
        return shift(self.ref, self.per_row * stretch.row + (stretch.col if self.block else 0))


def spread_rows(draft: Draft, tile: TileType, vector: str) -> Spread:
    """One block of equal elements per row, by Brcb; rows are rounded up to 8."""
    count = -(-tile.rows // BRCB_ROWS)
    block = tile.dtype.block
    area = draft.area(count * BRCB_ROWS * block, tile.dtype)
    for first, repeats in shares(count, batch=BRCB_BATCH):
        draft.add(brcb(shift(area, first * BRCB_ROWS * block), Ref(vector, first * BRCB_ROWS), repeats))
    return Spread(area, block, 0, 1, 0)


def spread_one(draft: Draft, tile: TileType, vector: str) -> Spread:
    """One block for the whole tile; Brcb makes eight, of which the first is read."""
    area = draft.area(BRCB_ROWS * tile.dtype.block, tile.dtype)
    draft.add(brcb(area, Ref(vector), 1))
    return Spread(area, 0, 0, 0, 0)


def spread_cols(vector: str) -> Spread:
    """The same row for every row of the tile."""
    return Spread(Ref(vector), 0, 1, 0, 8)


def brcb(dst: Ref, src: Ref, repeats: int) -> Instr:
    """Eight elements a repeat, each to a 32 B block, blocks one behind the other."""
    return Instr("Brcb", (dst, src, repeats, Struct("BrcbRepeatParams", (1, 8))))


def apply(call: str, tile: TileType, spread: Spread, swapped: bool) -> Iterator[Step]:
    """`into = x OP vector`, or `vector OP x` where swapped, over a dense tile."""
    pitch = tile.row_pitch
    for stretch in stretches(tile):
        offset = stretch.row * pitch + stretch.col
        step = pitch // tile.dtype.block if stretch.down and tile.rows > 1 else 8
        vector = spread.down if stretch.down else spread.along
        refs = (Ref("into", offset), Ref("x", offset), spread.at(stretch))
        blocks = (1, 1, spread.block, step, step, vector)
        if swapped:
            refs = (refs[0], refs[2], refs[1])
            blocks = (1, spread.block, 1, step, vector, step)
        yield Instr(call, (*refs, stretch.mask, stretch.repeat, Struct("BinaryRepeatParams", blocks)))


def apply_by_row(call: str, tile: TileType, vector: str, swapped: bool) -> Iterator[Step]:
    """A column expand row by row: calls by count, which have no limit on columns."""
    for row in range(tile.rows):
        refs: tuple[Arg, ...] = (Ref("x", row * tile.row_pitch), Ref(vector))
        yield Instr(call, (Ref("into", row * tile.row_pitch), *(refs[::-1] if swapped else refs), tile.cols))


def count_stretches(tile: TileType) -> int:
    """How many calls `stretches` takes."""
    return sum(1 for _ in stretches(tile))


def fill(tile: TileType, spread: Spread) -> Iterator[Step]:
    """`into` from the spread vector alone, bit by bit."""
    pitch = tile.row_pitch
    for stretch in stretches(tile):
        step = pitch // tile.dtype.block if stretch.down and tile.rows > 1 else 8
        vector = spread.down if stretch.down else spread.along
        params = Struct("CopyRepeatParams", (1, spread.block, step, vector))
        yield Instr(
            "Copy",
            (Ref("into", stretch.row * pitch + stretch.col), spread.at(stretch), stretch.mask, stretch.repeat, params),
        )


def fill_rows(draft: Draft, into: TileType, vector: str) -> None:
    """[M, 1] to [M, N]: Brcb straight into narrow tiles, else into scratch and from there by Copy."""
    blocks = round_up(into.cols, into.dtype.block) // into.dtype.block
    repeats, rest = divmod(into.rows, BRCB_ROWS)
    # Brcb fills blocks of eight rows at a time: with fewer it would write past the tile.
    if rest == 0 and blocks <= 2 and into.pitch is None:
        for block in range(blocks):
            for first, count in shares(repeats, batch=BRCB_BATCH):
                start = first * BRCB_ROWS
                draft.add(
                    Instr(
                        "Brcb",
                        (
                            Ref("into", start * into.row_pitch + block * into.dtype.block),
                            Ref(vector, start),
                            count,
                            Struct("BrcbRepeatParams", (blocks, BRCB_ROWS * blocks)),
                        ),
                    )
                )
        return
    spread = spread_rows(draft, into, vector) if into.rows > 1 else spread_one(draft, into, vector)
    draft.add(*fill(into, spread))


def fill_cols(draft: Draft, into: TileType, vector: str) -> None:
    """[1, N] to [M, N]: down the column chunks, or row by row where that takes fewer calls."""
    blocks = into.row_pitch // into.dtype.block
    if MAX_REPEAT < blocks or into.rows <= count_stretches(into):
        for row in range(into.rows):
            draft.add(copy_run(Ref("into", row * into.row_pitch), Ref(vector), into.cols, into.dtype))
        return
    draft.add(*fill(into, spread_cols(vector)))
