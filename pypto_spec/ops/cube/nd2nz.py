"""From GM into L1: rows become columns of fractals on the way (`DataCopy` with `Nd2NzParams`).

The columns of the last fractal are filled with zeros up to 32 B, rows are not: what stands behind the last one is
undefined, and no product may depend on it. Rows that stand too far apart for one call take one each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pypto_spec.ir.dtype import BLOCK_BYTES
from pypto_spec.ir.expr import add, bounds, maximum, minimum, mod, mul, sub
from pypto_spec.ir.instr import Instr, Ref, Struct
from pypto_spec.ir.types import Layout, TileType
from pypto_spec.ops.window import MAX_ROWS, Run, UnsupportedWindowError

MAX_PITCH = 65_535
"""Nd2NzParams.srcDValue: elements from row to row in GM, 16 bit."""
MAX_ROWS_OF_CALL = 16_384
"""Nd2NzParams.nValue."""
MAX_COLS_OF_CALL = 65_535
"""Nd2NzParams.dValue."""


def nd2nz(tile: TileType, found: Sequence[Run]) -> Iterator[Instr]:
    """The calls that bring the rows of a window into a tile in L1.

    Raises UnsupportedWindowError for rows that only more than `MAX_ROWS` calls could reach.
    """
    if tile.cols > MAX_COLS_OF_CALL:
        raise UnsupportedWindowError(f"a row of {tile.cols} elements is longer than the {MAX_COLS_OF_CALL} of one copy")
    if tile.dtype.bytes == 8:
        yield from _wide(tile, found)
        return
    for run in found:
        reach = bounds(run.pitch)[1]
        if run.most == 1 or (run.apart and reach is not None and reach <= MAX_PITCH and run.most <= MAX_ROWS_OF_CALL):
            yield _call(tile, run, run.row, run.rows, run.pitch if run.most > 1 else run.length)
            continue
        if run.most > MAX_ROWS:
            raise UnsupportedWindowError(
                f"rows start {'an unknown number of' if reach is None else f'up to {reach}'} elements apart: one copy "
                f"steps over {MAX_PITCH} at most, and more than {MAX_ROWS} rows cannot be copied one by one"
            )
        for row in range(run.most):
            single = run._replace(start=add(run.start, mul(run.pitch, row)))
            there = minimum(1, maximum(0, sub(run.rows, row)))  # a call of no rows copies nothing
            yield _call(tile, single, run.row + row, there, run.length)


def _wide(tile: TileType, found: Sequence[Run]) -> Iterator[Instr]:
    """8-byte types, which nothing makes fractals of: one row, as it is."""
    (run,) = found
    if run.most != 1 or mod(mul(run.length, tile.dtype.bytes), BLOCK_BYTES) != 0:
        raise UnsupportedWindowError(
            f"{tile.dtype} comes to `mat` as one row of a multiple of {BLOCK_BYTES // tile.dtype.bytes} elements"
        )
    yield Instr("DataCopy", (Ref("into"), Ref("from", run.start), run.length))


def _call(tile: TileType, run: Run, row: int, rows: object, pitch: object) -> Instr:
    """Rows of GM, from row `row` of the tile on; `pitch` is the distance in GM."""
    stored = tile.physical[0]
    step = 1 if tile.order is Layout.ND else stored
    wide = MAX_PITCH if isinstance(pitch, int) and pitch > MAX_PITCH else pitch  # of one row: not read
    params = Struct("Nd2NzParams", (1, rows, run.length, 0, wide, step, 1, 0))  # type: ignore[arg-type]
    offset = 0 if tile.order is Layout.ND else row * tile.dtype.block
    return Instr("DataCopy", (Ref("into", offset), Ref("from", run.start), params))
