"""How an elementwise instruction is spread over tiles: by count where rows are dense, else by chunks of repeats.

Three covers, the first that fits:

1. all tiles have rows at the same distance and the destination is dense: one call by count over the whole span
   (padding between rows is computed along, which is harmless);
2. row distances up to 255 blocks: one call per 256 B column chunk and 255 rows, repeat strides = row distances;
3. otherwise, or where that takes fewer calls: one call by count per row.

An operand that is one 32 B block for all lanes (`ONE_BLOCK`) is read with strides 0, which needs the repeat form.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pypto_spec.ir.dtype import BLOCK_BYTES, REPEAT_BYTES, DType
from pypto_spec.ir.instr import Arg, Instr, Ref, Struct
from pypto_spec.ir.opdef import Recipe
from pypto_spec.ir.types import TileType, round_up
from pypto_spec.ops.build import geometry
from pypto_spec.ops.copy_calls import MAX_COPY_COUNT
from pypto_spec.ops.decoding import MAX_REPEAT
from pypto_spec.ops.instructions import MAX_STRIDE


class Piece(NamedTuple):
    """One call in repeat form: element offset and repeat stride (blocks) of each tile, mask and repeats."""

    offsets: tuple[int, ...]
    mask: int
    repeat: int
    strides: tuple[int, ...]


class Part(NamedTuple):
    """An operand of a recipe: where it is and what it looks like. `block` marks one 32 B block for all lanes."""

    ref: Ref
    tile: TileType
    block: bool = False

    def at(self, offset: int) -> Ref:
        """The operand, that many elements further on; a block stays where it is."""
        return self.ref if self.block or offset == 0 else Ref(self.ref.name, offset, self.ref.dtype)


def part(recipe: Recipe, name: str) -> Part:
    """The tile in a field."""
    return Part(Ref(name), recipe.tile(name))


def scratch_ref(dtype: DType, area: int = 0) -> Ref:
    """The start of a scratch area. Scratch has no type of its own, so its references always say theirs."""
    return Ref("scratch" if area == 0 else f"scratch.{area}", 0, dtype)


def scratch_like(tile: TileType, area: int = 0) -> Part:
    """A scratch area that holds a dense tile like this one."""
    dense = TileType(tile.dtype, tile.shape, tile.memory, tile.layout)
    return Part(scratch_ref(tile.dtype, area), dense)


def one_block(tile: TileType, area: int = 0) -> Part:
    """A scratch area of one 32 B block whose lanes all hold the same value, to stand beside this tile."""
    return Part(scratch_ref(tile.dtype, area), tile, block=True)


def flat_count(tiles: Sequence[TileType]) -> int | None:
    """Elements that one call by count has to cover, or None where the rows do not line up."""
    shapes = [geometry(t) for t in tiles]
    rows, cols, pitch = shapes[0]
    assert all(s[:2] == (rows, cols) for s in shapes), f"layouts were not resolved: {[str(t) for t in tiles]}"
    if rows == 1:
        return cols
    dense = round_up(cols, tiles[0].dtype.block)
    if pitch == dense and all(s[2] == pitch for s in shapes):
        return min(t.span_elements for t in tiles)
    return None


def _lanes(tiles: Sequence[TileType]) -> int:
    return REPEAT_BYTES // max(t.dtype.bytes for t in tiles)


def pieces(tiles: Sequence[TileType]) -> Iterator[Piece]:
    """A cover of the tiles by calls in repeat form; row by row where a row distance exceeds 255 blocks."""
    rows, cols, _ = geometry(tiles[0])
    lanes = _lanes(tiles)
    count = flat_count(tiles)
    if count is not None:
        yield from _linear(tiles, count, lanes, (0,) * len(tiles))
        return
    pitches = [geometry(t)[2] for t in tiles]
    strides = tuple(p * t.dtype.bytes // BLOCK_BYTES for p, t in zip(pitches, tiles, strict=True))
    if max(strides) > MAX_STRIDE:
        for row in range(rows):
            yield from _linear(tiles, cols, lanes, tuple(row * p for p in pitches))
        return
    for row in range(0, rows, MAX_REPEAT):
        for col in range(0, cols, lanes):
            yield Piece(
                tuple(row * p + col for p in pitches), min(lanes, cols - col), min(MAX_REPEAT, rows - row), strides
            )


def _linear(tiles: Sequence[TileType], count: int, lanes: int, start: tuple[int, ...]) -> Iterator[Piece]:
    strides = tuple(lanes * t.dtype.bytes // BLOCK_BYTES for t in tiles)
    full, tail = divmod(count, lanes)
    for first in range(0, full, MAX_REPEAT):
        yield Piece(tuple(s + first * lanes for s in start), lanes, min(MAX_REPEAT, full - first), strides)
    if tail:
        yield Piece(tuple(s + full * lanes for s in start), tail, 1, strides)


def calls(call: str, *operands: Part, extra: tuple[Arg, ...] = ()) -> Iterator[Instr]:
    """The calls that apply an instruction to whole tiles, destination first; `extra` stands behind the operands."""
    tiles = [p.tile for p in operands]
    if not any(p.block for p in operands):
        count = flat_count(tiles)
        if count is not None:
            yield Instr(call, (*(p.ref for p in operands), *extra, count))
            return
        rows, cols, _ = geometry(tiles[0])
        cover = list(pieces(tiles))
        if len(cover) >= rows:
            pitches = [geometry(t)[2] for t in tiles]
            for row in range(rows):
                refs = (p.at(row * pitch) for p, pitch in zip(operands, pitches, strict=True))
                yield Instr(call, (*refs, *extra, cols))
            return
    for piece in pieces(tiles):
        refs = (p.at(offset) for p, offset in zip(operands, piece.offsets, strict=True))
        yield Instr(call, (*refs, *extra, piece.mask, piece.repeat, _params(operands, piece)))


def _params(operands: Sequence[Part], piece: Piece) -> Struct:
    block = tuple(0 if p.block else 1 for p in operands)
    repeat = tuple(0 if p.block else s for p, s in zip(operands, piece.strides, strict=True))
    name = "BinaryRepeatParams" if len(operands) == 3 else "UnaryRepeatParams"
    return Struct(name, (*block, *repeat))


def copy_steps(into: Part, source: Part) -> Iterator[Instr]:
    """Copy a tile inside UB, whole blocks at a time; padding behind a row's last element comes along."""
    rows, cols, dst_pitch = geometry(into.tile)
    src_pitch = geometry(source.tile)[2]
    block = into.tile.dtype.block
    assert geometry(source.tile)[:2] == (rows, cols), f"copy of {source.tile} to {into.tile}"
    if rows > 1 and dst_pitch == src_pitch == round_up(cols, block):
        rows, cols = 1, rows * dst_pitch
    length = round_up(cols, block) // block
    for row in range(0, rows, MAX_COPY_COUNT):
        count = min(MAX_COPY_COUNT, rows - row)
        gaps = (p // block - length if count > 1 else 0 for p in (src_pitch, dst_pitch))
        yield Instr(
            "DataCopy",
            (into.at(row * dst_pitch), source.at(row * src_pitch), Struct("DataCopyParams", (count, length, *gaps))),
        )
