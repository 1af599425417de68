"""Tiles on chip: rows on 32 B, dense columns, windows, and the bytes they take."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.ir.dtype import BF16, FP16, FP32, INT8, INT32, DType
from pypto_spec.ir.expr import Sym, mul, sym
from pypto_spec.ir.types import Access, Layout, Memory, ScalarType, TensorType, TileType, round_up

DTYPES = (FP32, FP16, BF16, INT32, INT8)

tiles = st.builds(
    lambda dtype, rows, cols, layout: TileType(dtype, (rows, cols), Memory.VEC, layout),
    st.sampled_from(DTYPES), st.integers(1, 70), st.integers(1, 70), st.sampled_from([None, Layout.ND]),
)  # fmt: skip


@given(tiles)
def test_the_bytes_of_a_tile_hold_its_elements(tile: TileType) -> None:
    """Each element has a place of its own, within the tile, and rows start on 32 B unless it is a dense column."""
    pitch = tile.row_pitch
    places = {r * pitch + c for r in range(tile.rows) for c in range(tile.cols)}
    assert len(places) == tile.rows * tile.cols
    assert max(places) < tile.span_elements
    assert tile.span_elements * tile.dtype.bytes <= tile.bytes < tile.span_elements * tile.dtype.bytes + 32
    assert tile.bytes % 32 == 0
    if tile.order is Layout.ND:
        assert pitch * tile.dtype.bytes % 32 == 0
        assert pitch - tile.cols < tile.dtype.block
    else:
        assert (tile.cols, pitch) == (1, 1)
    assert tile.is_dense


@pytest.mark.parametrize(
    ("tile", "pitch", "span", "size"),
    [
        (TileType(FP32, (8, 64)), 64, 512, 2048),
        (TileType(FP32, (8, 60)), 64, 512, 2048),
        (TileType(FP16, (3, 20)), 32, 96, 192),
        (TileType(FP32, (64, 1)), 1, 64, 256),
        (TileType(FP32, (60, 1)), 1, 60, 256),
        (TileType(FP32, (60, 1), layout=Layout.ND), 8, 480, 1920),
        (TileType(FP32, (1, 60)), 64, 60, 256),
        (TileType(FP32, (1, 1)), 8, 1, 32),
        (TileType(FP32, (4, 16), pitch=64), 64, 208, 832),
        (TileType(INT8, (2, 33)), 64, 128, 128),
    ],
)
def test_sizes(tile: TileType, pitch: int, span: int, size: int) -> None:
    assert (tile.row_pitch, tile.span_elements, tile.bytes) == (pitch, span, size)


def test_a_window_is_not_dense() -> None:
    assert not TileType(FP32, (4, 16), pitch=64).is_dense
    assert TileType(FP32, (1, 16), pitch=64).is_dense
    assert TileType(FP32, (4, 60), pitch=64).is_dense


def test_more_than_two_dimensions_count_as_rows() -> None:
    tile = TileType(FP32, (4, 16, 64))
    assert (tile.rows, tile.cols, tile.bytes) == (64, 64, 16384)


def test_strides_of_a_tensor() -> None:
    n = sym(Sym("N", "dim", 1, 64))
    assert TensorType(FP32, (4, n, 8), Access.IN).strides == (mul(n, 8), 8, 1)
    assert TensorType(FP32, (5,), Access.IN).strides == (1,)


@pytest.mark.parametrize(("value", "unit", "up"), [(0, 32, 0), (1, 32, 32), (32, 32, 32), (33, 32, 64), (7, 1, 7)])
def test_round_up(value: int, unit: int, up: int) -> None:
    assert round_up(value, unit) == up


@pytest.mark.parametrize("dtype", DTYPES)
def test_words(dtype: DType) -> None:
    n = sym(Sym("N", "dim"))
    assert str(TileType(dtype, (8, 64))) == f"{dtype}[8, 64]"
    assert str(TensorType(dtype, (n, 64), Access.IN)) == f"{dtype}[N, 64]"
    assert str(ScalarType(dtype)) == str(dtype)
