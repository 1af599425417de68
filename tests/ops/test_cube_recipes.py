"""Recipes of the cube as text, at the edges: tails, windows, transposes, squares of 1-byte types, and limits."""

from __future__ import annotations

from typing import Any

import pytest

from pypto_spec.ir.dtype import BF16, FP16, FP32, INT8, INT32, INT64, DType
from pypto_spec.ir.expr import Sym, sym
from pypto_spec.ir.types import Layout, Memory, TileType, ValueType
from tests.ops.making import make, recipe, refused, tensor, text

MAT, LEFT, RIGHT, ACC, BIAS = Memory.MAT, Memory.LEFT, Memory.RIGHT, Memory.ACC, Memory.BIAS
N = sym(Sym("n", "scalar", 1, 64))


def at(memory: Memory, dtype: DType, *shape: int, **more: Any) -> TileType:
    return TileType(dtype, shape, memory, **more)


def calls(op: str, operands: dict[str, ValueType], **attrs: Any) -> list[str]:
    return text(recipe(make(op, operands, **attrs))).split("\n")


def call(op: str, operands: dict[str, ValueType], **attrs: Any) -> str:
    (only,) = calls(op, operands, **attrs)
    return only


# --- GM to L1 -------------------------------------------------------------------------------------------------------


def load(rows: int, cols: int, shape: tuple[int, int], dtype: DType = FP16, **more: Any) -> list[str]:
    return calls("load", {"from": tensor(dtype, rows, cols)}, at=(1, 5), shape=shape, memory=MAT, **more)


@pytest.mark.parametrize(("dtype", "stored"), [(FP16, 32), (FP32, 32), (INT8, 32)])
def test_loads_turn_rows_into_columns_of_fractals(dtype: DType, stored: int) -> None:
    assert load(100, 70, (17, 40), dtype) == [
        f"DataCopy(into, from[75], Nd2NzParams(1, 17, 40, 0, 70, {stored}, 1, 0))"
    ]


def test_a_row_is_loaded_as_it_is_or_as_fractals() -> None:
    assert load(100, 70, (1, 40)) == ["DataCopy(into, from[75], Nd2NzParams(1, 1, 40, 0, 40, 1, 1, 0))"]
    assert load(100, 70, (1, 40), layout="nz") == ["DataCopy(into, from[75], Nd2NzParams(1, 1, 40, 0, 40, 16, 1, 0))"]


def test_the_valid_part_is_loaded() -> None:
    assert load(100, 70, (64, 40), valid=(N, 33)) == [
        "DataCopy(into, from[75], Nd2NzParams(1, n, 33, 0, 70, 64, 1, 0))"
    ]


def test_one_column_of_a_wider_tensor() -> None:
    assert load(100, 9, (40, 1)) == ["DataCopy(into, from[14], Nd2NzParams(1, 40, 1, 0, 9, 48, 1, 0))"]


def test_rows_far_apart_are_loaded_one_by_one() -> None:
    assert load(100, 65_535, (2, 40)) == ["DataCopy(into, from[65540], Nd2NzParams(1, 2, 40, 0, 65535, 16, 1, 0))"]
    assert load(100, 65_536, (2, 40)) == [
        "DataCopy(into, from[65541], Nd2NzParams(1, 1, 40, 0, 40, 16, 1, 0))",
        "DataCopy(into[16], from[131077], Nd2NzParams(1, 1, 40, 0, 40, 16, 1, 0))",
    ]
    source: dict[str, ValueType] = {"from": tensor(FP16, 100, 70_000)}
    found = refused("load", {"from": tensor(FP16, 300, 70_000)}, at=(0, 0), shape=(300, 16), memory=MAT)
    assert "one copy steps over 65535 at most" in found.message
    # a row that may not be there is copied by a call of no rows then
    found_calls = calls("load", source, at=(0, 0), shape=(64, 16), valid=(N, 16), memory=MAT)
    assert len(found_calls) == 64
    assert "Nd2NzParams(1, min(max(n - 5, 0), 1), 16, 0, 16, 64, 1, 0)" in found_calls[5]


def test_rows_of_8_byte_types() -> None:
    source: dict[str, ValueType] = {"from": tensor(INT64, 1, 64)}
    assert call("load", source, at=(0, 0), shape=(1, 64), memory=MAT) == "DataCopy(into, from, 64)"
    assert "one row" in refused("load", {"from": tensor(INT64, 2, 64)}, at=(0, 0), shape=(2, 64), memory=MAT).message


# --- L1 to L0 -------------------------------------------------------------------------------------------------------

MOVES = {
    (FP16, Layout.NZ, LEFT): ["LoadData(into, from, MatrixParams(48, 80, 0, 0, 48, 80, False))"],
    (FP16, Layout.ZN, LEFT): ["LoadData(into, from, MatrixParams(48, 80, 0, 0, 48, 80, True))"],
    (FP16, Layout.NZ, RIGHT): ["LoadData(into, from, MatrixParams(48, 80, 0, 0, 48, 80, False))"],
    (FP16, Layout.ZN, RIGHT): ["LoadData(into, from, LoadData2DParams(0, 15, 1, 0, 0, False, 0))"],
    # squares of 4-byte types are two fractals wide, so that K is rounded to 16
    (FP32, Layout.NZ, LEFT): ["LoadData(into, from, MatrixParams(48, 80, 0, 0, 48, 80, False))"],
    (FP32, Layout.ZN, LEFT): ["LoadData(into, from, MatrixParams(48, 80, 0, 0, 48, 72, True))"],
    (FP32, Layout.NZ, RIGHT): ["LoadData(into, from, MatrixParams(48, 80, 0, 0, 48, 80, False))"],
    (FP32, Layout.ZN, RIGHT): ["LoadData(into, from, LoadData2DParams(0, 30, 1, 0, 0, False, 0))"],
    # 1-byte types are turned by squares of 32 x 32: three along M, two along K
    (INT8, Layout.NZ, LEFT): ["LoadData(into, from, MatrixParams(64, 96, 0, 0, 48, 96, False))"],
    (INT8, Layout.ZN, LEFT): [
        "LoadDataWithTranspose(into, from, LoadData2dTransposeParams(0, 2, 1, 0, 1))",
        "LoadDataWithTranspose(into[2048], from[2048], LoadData2dTransposeParams(0, 2, 1, 0, 1))",
        "LoadDataWithTranspose(into[4096], from[4096], LoadData2dTransposeParams(0, 2, 1, 0, 1))",
    ],
    (INT8, Layout.NZ, RIGHT): [
        "LoadDataWithTranspose(into, from, LoadData2dTransposeParams(0, 3, 2, 1, 0))",
        "LoadDataWithTranspose(into[3072], from[1024], LoadData2dTransposeParams(0, 3, 2, 1, 0))",
    ],
    (INT8, Layout.ZN, RIGHT): ["LoadData(into, from, LoadData2DParams(0, 12, 1, 0, 0, False, 0))"],
}
"""Of a tile that stands as [40, 70] in L1, which is [70, 40] where it is seen transposed."""


@pytest.mark.parametrize(("dtype", "layout", "memory"), list(MOVES))
def test_moves(dtype: DType, layout: Layout, memory: Memory) -> None:
    shape = (40, 70) if layout is Layout.NZ else (70, 40)
    found = calls("move", {"from": at(MAT, dtype, *shape, layout=layout)}, memory=memory)
    assert found == MOVES[dtype, layout, memory]


def test_windows() -> None:
    whole, seen = at(MAT, FP16, 40, 70), at(MAT, FP16, 70, 40, layout=Layout.ZN)
    assert call("extract", {"x": whole}, memory=LEFT, at=(0, 32), shape=(32, 32)) == (
        "LoadData(into, x, MatrixParams(48, 80, 0, 32, 32, 32, False))"
    )
    assert call("extract", {"x": seen}, memory=LEFT, at=(32, 0), shape=(32, 32)) == (
        "LoadData(into, x, MatrixParams(48, 80, 0, 32, 32, 32, True))"
    )
    assert calls("extract", {"x": seen}, memory=RIGHT, at=(32, 0), shape=(32, 32)) == [
        "LoadData(into, x[1536], LoadData2DParams(0, 2, 1, 0, 0, False, 0))",
        "LoadData(into[512], x[2304], LoadData2DParams(0, 2, 1, 0, 0, False, 0))",
    ]
    small = at(MAT, INT8, 40, 70)
    assert call("extract", {"x": small}, memory=RIGHT, at=(0, 32), shape=(32, 32)) == (
        "LoadDataWithTranspose(into, x[2048], LoadData2dTransposeParams(0, 1, 2, 1, 0))"
    )


@pytest.mark.parametrize(("dtype", "units"), [(FP16, (16, 16)), (FP32, (16, 16)), (INT8, (32, 32))])
def test_windows_start_on_whole_squares(dtype: DType, units: tuple[int, int]) -> None:
    x = at(MAT, dtype, 64, 64)
    for place in ((units[0], 0), (0, units[1])):
        assert calls("extract", {"x": x}, memory=LEFT, at=place, shape=(32, 32))
        inside = tuple(n // 2 for n in place)
        assert refused("extract", {"x": x}, memory=LEFT, at=inside, shape=(32, 32)).rule.code == "PS3005"


def test_one_row() -> None:
    row = at(MAT, FP16, 1, 300)
    assert call("move", {"from": row}, memory=LEFT) == "LoadData(into, from, LoadData2DParams(0, 2, 1, 0, 0, False, 0))"
    assert (
        call("move", {"from": row}, memory=RIGHT) == "LoadData(into, from, MatrixParams(1, 512, 0, 0, 1, 304, False))"
    )
    fractals = at(MAT, FP16, 1, 300, layout=Layout.NZ)
    made = make("move", {"from": fractals}, memory=LEFT)
    assert made.result.type == at(LEFT, FP16, 1, 300, layout=Layout.ZZ)
    assert text(recipe(made)) == "LoadData(into, from, MatrixParams(16, 304, 0, 0, 16, 304, False))"
    assert "`layout: nz`" in refused("move", {"from": at(MAT, INT8, 1, 64)}, memory=RIGHT).helps[0]


def test_more_fractals_than_one_call_repeats() -> None:
    assert calls("move", {"from": at(MAT, FP16, 512, 256, layout=Layout.ZN)}, memory=RIGHT) == [
        "LoadData(into, from, LoadData2DParams(0, 255, 1, 0, 0, False, 0))",
        "LoadData(into[65280], from[65280], LoadData2DParams(0, 255, 1, 0, 0, False, 0))",
        "LoadData(into[130560], from[130560], LoadData2DParams(0, 2, 1, 0, 0, False, 0))",
    ]


def test_a_depth_known_at_run_time() -> None:
    assert call("move", {"from": at(MAT, FP16, 40, 64, valid=(40, N))}, memory=LEFT) == (
        "LoadData(into, from, MatrixParams(48, 64, 0, 0, 48, ((n + 15) // 16) * 16, False))"
    )


def test_bias() -> None:
    assert (
        call("move", {"from": at(MAT, INT32, 1, 33)}, memory=BIAS) == "DataCopy(into, from, DataCopyParams(1, 3, 0, 0))"
    )
    assert at(BIAS, INT32, 1, 33).physical == (1, 64)  # of 1-byte operands the product covers 32 columns at a time
    assert at(BIAS, FP32, 1, 33).physical == (1, 48)


# --- products -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "k", "params"),
    [
        (FP16, 36, "MmadParams(17, 33, 36"),
        (BF16, 8, "MmadParams(17, 33, 8"),
        (FP32, 36, "AlignedMmadParams(17, 33, 36"),
        (FP32, 48, "MmadParams(17, 33, 48"),
        (INT8, 36, "MmadParams(17, 64, 36"),
    ],
)
def test_products(dtype: DType, k: int, params: str) -> None:
    found = call("matmul", {"lhs": at(LEFT, dtype, 17, k), "rhs": at(RIGHT, dtype, k, 33)})
    assert found == f"Mmad(into, lhs, rhs, {params}, 0, False, True))"


def test_rows_of_products() -> None:
    right = at(RIGHT, FP16, 36, 33)
    fractals = at(LEFT, FP16, 1, 36, layout=Layout.ZZ)
    assert "MmadParams(16, 33, 36" in call("matmul", {"lhs": fractals, "rhs": right})
    assert "MmadParams(1, 33, 36" in call("gemv", {"lhs": at(LEFT, FP16, 1, 36), "rhs": right})
    runtime = {"lhs": at(LEFT, FP32, 17, 64, valid=(17, N)), "rhs": at(RIGHT, FP32, 64, 33)}
    assert "AlignedMmadParams(17, 33, n" in call("matmul", dict(runtime))


def test_where_products_start() -> None:
    operands: dict[str, ValueType] = {"lhs": at(LEFT, FP16, 17, 36), "rhs": at(RIGHT, FP16, 36, 33)}
    bias: dict[str, ValueType] = {**operands, "bias": at(BIAS, FP32, 1, 33)}
    assert call("matmul_bias", bias) == "Mmad(into, lhs, rhs, bias, MmadParams(17, 33, 36, 0, True, False))"
    acc: dict[str, ValueType] = {"acc": at(ACC, FP32, 17, 33), **operands}
    assert call("matmul_acc", acc, phase="partial") == "Mmad(into, lhs, rhs, MmadParams(17, 33, 36, 2, False, False))"


# --- out of L0C -----------------------------------------------------------------------------------------------------


def store(tile: TileType, dtype: DType, cols: int = 60, **attrs: Any) -> list[str]:
    scales = {"scales": at(MAT, INT64, 1, tile.cols)} if attrs.pop("scaled", False) else {}
    return calls("store", {"from": tile, "to": tensor(dtype, 32, cols), **scales}, at=(3, 5), **attrs)


def test_stores() -> None:
    assert store(at(ACC, FP32, 17, 33, valid=(N, 33)), BF16, relu=True) == [
        "Fixpipe<bfloat16_t, float, CFG_ROW_MAJOR>(to[185], from, "
        "FixpipeParamsV220(33, n, 32, 60, True, QuantMode_t::F322BF16, 0, 1, 0, 0, 0))"
    ]
    assert store(at(ACC, INT32, 17, 33), INT32, atomic="add") == [
        "SetAtomicAdd<int32_t>()",
        "Fixpipe<int32_t, int32_t, CFG_ROW_MAJOR>(to[185], from, "
        "FixpipeParamsV220(33, 17, 32, 60, False, QuantMode_t::NoQuant, 0, 1, 0, 0, 0))",
        "SetAtomicNone()",
    ]


def test_scales() -> None:
    half = 0x3F000000  # 0.5
    assert f"QuantMode_t::DEQF16, {half}, 1" in store(at(ACC, INT32, 17, 33), FP16, quant=0.5)[0]
    assert f"QuantMode_t::REQ8, {half | 1 << 46}, 1" in store(at(ACC, INT32, 17, 33), INT8, quant=0.5)[0]
    assert f"QuantMode_t::QF322B8_PRE, {half | 1 << 46}, 1" in store(at(ACC, FP32, 17, 33), INT8, quant=0.5)[0]
    (found,) = store(at(ACC, INT32, 17, 33), FP16, scaled=True)
    assert "(to[185], from, scales:uint64, " in found
    assert "QuantMode_t::VDEQF16, 0, 1" in found


def test_more_columns_than_one_call_stores() -> None:
    whole, rest = store(at(ACC, FP32, 16, 5000), FP32, 6000)
    assert "(to[18005], from, FixpipeParamsV220(4080, 16, 16, 6000," in whole
    assert "(to[22085], from[65280], FixpipeParamsV220(920, 16, 16, 6000," in rest


def test_back_to_l1() -> None:
    assert call("move", {"from": at(ACC, FP32, 17, 33)}, memory=MAT, dtype=FP16) == (
        "Fixpipe<half, float, CFG_NZ>(into, from, "
        "FixpipeParamsV220(48, 17, 32, 32, False, QuantMode_t::F322F16, 0, 1, 0, 0, 0))"
    )
    window = call("extract", {"x": at(ACC, FP32, 48, 64)}, memory=MAT, dtype=BF16, at=(16, 32), shape=(32, 32))
    assert "(into, x[1792], FixpipeParamsV220(32, 32, 48, 32," in window


def test_into_a_window_of_a_tile_in_l1() -> None:
    target = at(MAT, FP16, 64, 96)
    assert "(into[3328], x, FixpipeParamsV220(48, 32, 32, 64," in call(
        "assemble", {"target": target, "x": at(ACC, FP32, 32, 48)}, at=(16, 48)
    )
    beside = refused("assemble", {"target": target, "x": at(ACC, FP32, 32, 33)}, at=(0, 0))
    assert beside.message.startswith("`assemble` writes whole fractals of 16 columns, and `x` has 33")
    part = refused("assemble", {"target": target, "x": at(ACC, FP32, 32, 48, valid=(N, 48))}, at=(0, 0))
    assert part.rule.code == "PS3001"
