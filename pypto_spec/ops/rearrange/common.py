"""What extract, assemble and concat share: where windows start and end, and rows brought side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.dtype import BLOCK_BYTES
from pypto_spec.ir.expr import Index, to_text
from pypto_spec.ir.opdef import Inference
from pypto_spec.ir.types import Layout, TileType, round_up
from pypto_spec.ops.reduce_steps import Draft, Grid
from pypto_spec.ops.shuffle import copy_blocks, moved


def column_of(tile: TileType, at: tuple[Index, ...]) -> Index:
    """Where a window starts along the rows as they are stored, in elements."""
    return at[-2] if tile.order is Layout.DN else at[-1]


def unaligned(inference: Inference, field: str, tile: TileType, start: Index) -> CompileError:
    """The error for a window that no call reaches, since it starts inside a block of 32 B."""
    block = tile.dtype.block
    return inference.fail(
        rules.UNALIGNED_SLICE,
        f"`{inference.defn.name}` of {tile.dtype} starts at a multiple of {block} elements ({BLOCK_BYTES} B), found "
        f"{to_text(start)}",
        field,
        label="inside a block of 32 B",
        helps=("cast the tile to a type of 16 bits or more first, of which any element can be reached",)
        if tile.dtype.bytes == 1
        else (f"make the start a multiple of {block}, e.g. `i * {block}`, or a number known at compile time",),
    )


def check_column(inference: Inference, field: str, x: TileType, beside: TileType) -> None:
    """Refuse a dense column that has to be spread over rows, where its dtype has no instruction for that."""
    if x.order is Layout.DN and beside.order is not Layout.DN and x.dtype.bytes not in (2, 4):
        raise inference.fail(
            rules.COLUMN_WINDOW,
            f"`{inference.defn.name}` cannot spread a column of {x.dtype} over rows; that exists for 16 and 32 bits",
            field,
            helps=("cast it to fp32 first",),
        )


def beside(draft: Draft, first: Grid, second: Grid) -> Grid:
    """The rows of two tiles one behind the other in scratch, the second from the next block on."""
    block = first.dtype.block
    gap = round_up(first.cols, block)
    pitch = gap + round_up(second.cols, block)
    both = Grid(draft.area(first.rows * pitch, first.dtype), first.dtype, first.rows, pitch, pitch)
    copy_blocks(draft, replace(both, cols=first.cols), first)
    copy_blocks(draft, replace(both, ref=moved(both.ref, gap), cols=second.cols), second)
    return both


def slices(at: Any, shape: Any) -> tuple[slice, ...]:
    """The slices of a window, one an axis."""
    return tuple(slice(a, a + n) for a, n in zip(at, shape, strict=True))
