"""Shape and dtype rules: what they infer, and the words with which they refuse."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pypto_spec.ir.dtype import BF16, FP16, FP32, INT8, INT32, UINT32, DType
from pypto_spec.ir.expr import Sym, minimum, mul, sym
from pypto_spec.ir.types import ArrayType, Layout, Memory, TileType
from pypto_spec.ops.view import view_offset
from tests.ops.making import infer, make, refused, scalar, tensor, tile

INDEX = Sym("i", "loop", 0, 7)
N = sym(Sym("n", "scalar", 1, 64))


def test_elementwise_results_are_dense_and_valid_where_all_operands_are() -> None:
    a = tile(FP32, 64, 32, pitch=64, valid=(N, 32))
    b = tile(FP32, 64, 32, valid=(64, 20))
    assert infer("add", {"lhs": a, "rhs": b}) == TileType(FP32, (64, 32), valid=(minimum(N, 64), 20))
    assert infer("exp", {"x": b}) == TileType(FP32, (64, 32), valid=(64, 20))
    assert infer("cast", {"x": b}, dtype=BF16) == TileType(BF16, (64, 32), valid=(64, 20))


def test_tensors_count_as_arrays() -> None:
    x = tensor(FP32, 64, 32)
    assert infer("add", {"lhs": x, "rhs": ArrayType(FP32, (64, 32))}) == ArrayType(FP32, (64, 32))
    assert infer("cast", {"x": x}, dtype=FP16) == ArrayType(FP16, (64, 32))
    assert infer("slice", {"x": x}, at=(0, 3), shape=(64, 5)) == ArrayType(FP32, (64, 5))
    assert infer("reshape", {"x": x}, shape=(2048,)) == ArrayType(FP32, (2048,))
    assert infer("full", {}, level="array", shape=(4, 4), value=0, dtype=FP32) == ArrayType(FP32, (4, 4))


REFUSED: list[tuple[str, dict[str, Any], dict[str, Any], str, str, str]] = [
    (
        "add",
        {"lhs": tile(FP32, 8, 8), "rhs": tile(FP16, 8, 8)},
        {},
        "PS3002",
        "fp32 `lhs` and fp16 `rhs`",
        "{into: rhs_fp32, x: rhs, dtype: fp32}",
    ),
    ("add", {"lhs": tile(FP32, 8, 8), "rhs": tile(FP32, 8, 16)}, {}, "PS3001", "[8, 8] `lhs` and [8, 16] `rhs`", ""),
    ("add", {"lhs": tile(FP32, 8, 8), "rhs": tile(FP32, 8, 1)}, {}, "PS3001", "", "row_expand_add"),
    ("maximum", {"lhs": tile(FP32, 8, 8), "rhs": tile(FP32, 1, 8)}, {}, "PS3001", "", "col_expand_max"),
    (
        "add",
        {"lhs": tile(FP32, 8, 8), "rhs": tensor(FP32, 8, 8)},
        {},
        "PS3011",
        "the whole array `rhs` [8, 8]",
        "load: {into: rhs_t, from: rhs, at: [0, 0], shape: [8, 8]}",
    ),
    (
        "exp",
        {"x": tile(BF16, 8, 8)},
        {},
        "PS3003",
        "`exp` does not exist for bf16; it takes fp32 or fp16",
        "{into: x_fp32, x: x, dtype: fp32}",
    ),
    ("exp", {"x": tile(INT32, 8, 8)}, {}, "PS3003", "int32", "cast"),
    ("add", {"lhs": tile(INT8, 8, 8), "rhs": tile(INT8, 8, 8)}, {}, "PS3003", "fp32, fp16, int32 or int16", "cast"),
    ("exp", {"x": scalar(FP32)}, {}, "PS3001", "found the scalar `x`", "full"),
    ("exp", {"x": tensor(FP32, N, 8)}, {}, "PS3010", "run-time shape [n, 8]", "valid"),
    ("adds", {"x": tile(INT32, 8, 8)}, {"scalar": math.inf}, "PS3002", "inf does not fit in int32", "fp32"),
    ("adds", {"x": tile(INT32, 8, 8)}, {"scalar": 2**31}, "PS3002", "does not fit", "fp32"),
    ("adds", {"x": tile(INT32, 8, 8), "scalar": scalar(FP32)}, {}, "PS3002", "fp32 scalar", "declare"),
    ("adds", {"x": tile(FP32, 8, 8), "scalar": tile(FP32, 8, 8)}, {}, "PS3001", "takes a number", "`add`"),
    ("cast", {"x": tile(FP32, 8, 8)}, {"dtype": BF16, "mode": "odd"}, "PS3008", "cannot round by `odd`", "`rint`"),
    ("cast", {"x": tile(FP32, 8, 8)}, {"dtype": INT32, "mode": "none"}, "PS3008", "`none`", "`trunc`"),
    ("cast", {"x": tile(FP32, 8, 8)}, {"dtype": UINT32}, "PS3003", "no conversion leads from fp32 to uint32", "choose"),
    ("full", {}, {"shape": (0, 8), "value": 0, "dtype": FP32}, "PS3001", "at least 1", ""),
    ("full", {}, {"shape": (8, 8), "value": 0, "dtype": INT8}, "PS3003", "int8", ""),
    ("full", {"value": scalar(FP32)}, {"shape": (8, 8), "dtype": BF16}, "PS3003", "run-time scalar", "cast"),
    ("create_tile", {}, {"shape": (N, 8), "dtype": FP32}, "PS3010", "[n, 8]", "valid"),
    ("slice", {"x": tile(INT8, 8, 64)}, {"at": (0, 5), "shape": (8, 8)}, "PS3005", "found column 5", "column 0 or 32"),
    ("slice", {"x": tile(INT8, 8, 64)}, {"at": (0, sym(INDEX)), "shape": (8, 16)}, "PS3005", "column i", "i * 32"),
    ("slice", {"x": tile(INT8, 64, 1)}, {"at": (3, 0), "shape": (8, 1)}, "PS3005", "row 3", "row 0 or 32"),
    ("slice", {"x": tile(FP32, 8, 64)}, {"at": (0, 64), "shape": (8, 8)}, "PS3004", "covers 64 to 72", "earlier"),
    ("slice", {"x": tile(FP32, 8, 64)}, {"at": (0,), "shape": (8, 8)}, "PS3001", "1 entry", "axis"),
    ("slice", {"x": tile(BF16, 8, 64)}, {"at": (0, 0), "shape": (8, 1)}, "PS3007", "bf16", "16 columns"),
    ("slice", {"x": tile(FP32, 4, 8, 64)}, {"at": (0, 0, 0), "shape": (2, 4, 64)}, "PS3001", "one distance", ""),
    ("reshape", {"x": tile(FP32, 8, 64)}, {"shape": (8, 63)}, "PS3001", "512 elements", ""),
    (
        "reshape",
        {"x": tile(FP32, 4, 25)},
        {"shape": (1, 100)},
        "PS3006",
        "rows of 100 B start every 128 B",
        "multiples of 8",
    ),
    ("reshape", {"x": tile(FP32, 1, 100)}, {"shape": (4, 25)}, "PS3006", "rows of 100 B", "store"),
    ("reshape", {"x": tile(FP32, 8, 8, pitch=16)}, {"shape": (4, 16)}, "PS3006", "rows of 32 B start every 64 B", ""),
    ("reshape", {"x": tile(FP32, 8, 8, valid=(N, 8))}, {"shape": (4, 16)}, "PS3006", "only [n, 8]", "extent 1"),
]


@pytest.mark.parametrize(("name", "operands", "attrs", "code", "message", "way"), REFUSED)
def test_refusals(
    name: str, operands: dict[str, Any], attrs: dict[str, Any], code: str, message: str, way: str
) -> None:
    found = refused(name, operands, **attrs)
    assert found.rule.code == code
    assert message in found.message
    assert way in " ".join(found.helps)


def test_slices_keep_the_row_distance() -> None:
    x = tile(FP32, 64, 128, valid=(64, 100))
    assert infer("slice", {"x": x}, at=(0, 64), shape=(64, 64)) == tile(FP32, 64, 64, pitch=128, valid=(64, 36))
    assert infer("slice", {"x": x}, at=(8, 0), shape=(8, 128)) == tile(FP32, 8, 128, valid=(8, 100))
    assert infer("slice", {"x": x}, at=(8, 64), shape=(1, 32)) == tile(FP32, 1, 32)
    assert infer("slice", {"x": x}, at=(0, 8), shape=(64, 1)) == tile(
        FP32, 64, 1, layout=Layout.ND, pitch=128, valid=None
    )
    assert infer("slice", {"x": tile(FP32, 64, 1)}, at=(8, 0), shape=(16, 1)) == tile(FP32, 16, 1)
    assert infer("slice", {"x": tile(FP32, 64, 100)}, at=(0, 0), shape=(64, 97)) == tile(FP32, 64, 97)
    three = tile(FP32, 4, 8, 64)
    assert infer("slice", {"x": three}, at=(1, 0, 0), shape=(2, 8, 64)) == tile(FP32, 2, 8, 64)


def test_offsets_of_slices() -> None:
    def offset(x: TileType, at: Any, shape: Any) -> Any:
        return view_offset(make("slice", {"x": x}, at=at, shape=shape))

    assert offset(tile(FP32, 64, 100), (2, 8), (4, 8)) == (2 * 104 + 8) * 4
    assert offset(tile(FP32, 64, 32, pitch=128), (2, 8), (4, 8)) == (2 * 128 + 8) * 4
    assert offset(tile(FP16, 64, 1), (32, 0), (16, 1)) == 64
    assert offset(tile(FP16, 64, 32), (mul(sym(INDEX), 8), 0), (8, 32)) == mul(sym(INDEX), 512)
    assert offset(tile(FP32, 4, 8, 64), (1, 2, 0), (1, 4, 64)) == 10 * 256
    assert view_offset(make("reshape", {"x": tile(FP32, 64, 1)}, shape=(1, 64))) == 0


def test_reshapes_that_move_nothing() -> None:
    assert infer("reshape", {"x": tile(FP32, 100, 1, valid=(N, 1))}, shape=(1, 100)) == tile(FP32, 1, 100, valid=(1, N))
    assert infer("reshape", {"x": tile(FP32, 8, 64)}, shape=(4, 128)) == tile(FP32, 4, 128)
    assert infer("reshape", {"x": tile(FP32, 4, 25)}, shape=(2, 2, 25)) == tile(FP32, 2, 2, 25)
    assert infer("reshape", {"x": tile(FP32, 8, 8, pitch=16)}, shape=(1, 8, 8)) == tile(FP32, 1, 8, 8, pitch=16)
    assert infer("reshape", {"x": tile(FP32, 1, 64)}, shape=(64, 1)) == tile(FP32, 64, 1)


def test_loads() -> None:
    found = infer("load", {"from": tensor(BF16, N, 64)}, at=(0, 0), shape=(32, 64), valid=(N, 64))
    assert found == TileType(BF16, (32, 64), valid=(N, 64))  # its memory is decided later
    assert infer("create_tile", {}, shape=(8, 8), dtype=FP32, memory=Memory.MAT) == TileType(FP32, (8, 8), Memory.MAT)


@pytest.mark.parametrize("dtype", [FP32, FP16, BF16, INT32])
def test_moves_make_tiles_dense(dtype: DType) -> None:
    assert infer("move", {"from": tile(dtype, 8, 16, pitch=64)}, memory=Memory.VEC) == tile(dtype, 8, 16)
