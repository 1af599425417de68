"""How tiles of the cube are rounded up, and which layouts they have."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pypto_spec.ir.dtype import BF16, FP16, FP32, INT8, INT32, DType
from pypto_spec.ir.layouts import CUBE_MEMORIES, Layout, Memory, box, implicit_layout, layouts_of
from pypto_spec.ir.types import TileType
from pypto_spec.targets import TARGETS

OPERANDS = st.sampled_from([FP16, BF16, FP32, INT8])
SIDES = st.integers(1, 600)


@pytest.mark.parametrize(
    ("memory", "dtype", "shape", "physical"),
    [
        (Memory.MAT, FP16, (17, 33), (32, 48)),
        (Memory.MAT, FP32, (17, 33), (32, 48)),
        (Memory.MAT, INT8, (17, 33), (32, 64)),
        (Memory.MAT, FP16, (1, 33), (1, 256)),
        (Memory.LEFT, INT8, (17, 33), (32, 64)),
        (Memory.LEFT, FP32, (1, 200), (1, 256)),
        (Memory.RIGHT, FP32, (9, 17), (16, 32)),
        (Memory.RIGHT, INT8, (9, 17), (32, 32)),
        (Memory.RIGHT, FP16, (1, 17), (16, 32)),
        (Memory.ACC, FP32, (1, 17), (16, 32)),
        (Memory.ACC, INT32, (17, 33), (32, 64)),
        (Memory.BIAS, FP32, (1, 17), (1, 32)),
        (Memory.BIAS, INT32, (1, 17), (1, 32)),
    ],
)
def test_what_tiles_are_rounded_to(
    memory: Memory, dtype: DType, shape: tuple[int, int], physical: tuple[int, int]
) -> None:
    found = TileType(dtype, shape, memory)
    assert found.physical == physical
    assert found.bytes == physical[0] * physical[1] * dtype.bytes


@given(st.sampled_from(sorted(CUBE_MEMORIES, key=lambda m: m.value)), OPERANDS, SIDES, SIDES)
@settings(max_examples=60)
def test_a_tile_fits_what_it_is_rounded_to(memory: Memory, operand: DType, rows: int, cols: int) -> None:
    dtype = (INT32 if operand is INT8 else FP32) if memory in (Memory.ACC, Memory.BIAS) else operand
    for layout in layouts_of(memory):
        if layout is Layout.ND and rows != 1:
            continue
        found = TileType(dtype, (rows, cols), memory, layout)
        sides = box(memory, layout, dtype)
        assert sides is not None
        for extent, full, side in zip((rows, cols), found.physical, sides, strict=True):
            assert extent <= full < extent + side
            assert full % side == 0
        grid = TARGETS["a2a3"].address_alignment[memory]
        assert found.bytes % min(grid, 512) == 0


@given(OPERANDS, SIDES, SIDES)
@settings(max_examples=40)
def test_a_transposed_view_has_the_bytes_of_its_tile(dtype: DType, rows: int, cols: int) -> None:
    tile = TileType(dtype, (rows, cols), Memory.MAT, Layout.NZ)
    view = TileType(dtype, (cols, rows), Memory.MAT, Layout.ZN)
    assert view.physical == tile.physical[::-1]
    assert view.bytes == tile.bytes


@given(OPERANDS, SIDES, SIDES)
@settings(max_examples=40)
def test_a_move_fits_where_its_tile_came_from(dtype: DType, rows: int, cols: int) -> None:
    """Loads of L0A and L0B write whole squares: never more than the tile there, nor read more than the one in L1."""
    tile = TileType(dtype, (rows, cols), Memory.MAT, Layout.NZ)
    for memory, layout in ((Memory.LEFT, Layout.ZZ), (Memory.RIGHT, Layout.ZN)):
        copy = TileType(dtype, (rows, cols), memory, layout)
        assert copy.physical == tile.physical


def test_implicit_layouts() -> None:
    assert implicit_layout(None, 8, 1) is Layout.DN
    assert implicit_layout(Memory.VEC, 8, 8) is Layout.ND
    assert [implicit_layout(Memory.MAT, rows, 8) for rows in (1, 2)] == [Layout.ND, Layout.NZ]
    assert [implicit_layout(Memory.LEFT, rows, 8) for rows in (1, 2)] == [Layout.ND, Layout.ZZ]
    assert [implicit_layout(Memory.RIGHT, rows, 8) for rows in (1, 2)] == [Layout.ZN, Layout.ZN]
    assert box(Memory.ACC, Layout.ZN, FP32) is None
