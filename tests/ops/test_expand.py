"""Expands: every recipe executed and compared with torch, at the sizes where forms change."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch")

import torch

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.diagnostics.span import NOWHERE, Loc
from pypto_spec.ir.dtype import BF16, FP16, FP32, INT16, INT32, DType
from pypto_spec.ir.expr import Sym, sym
from pypto_spec.ir.instr import Instr, Ref, Struct
from pypto_spec.ir.nodes import Value
from pypto_spec.ir.opdef import Inference, OpDef
from pypto_spec.ir.types import ArrayType, Layout, TileType, ValueType
from pypto_spec.ops.registry import OPS, Operand, form
from tests.ops.reduce_machine import TORCH, Outcome, run

AXES: tuple[Operand, ...] = ("row", "col")
BINARY = ("add", "sub", "mul", "div", "max", "min", "rsub", "rdiv", "expdif")
ROWS = (1, 2, 7, 8, 9, 254, 255, 256, 257)
COLS = (1, 7, 8, 9, 63, 64, 65, 127, 128, 129, 255, 256, 1000)
UB = 188_416


def infer(defn: OpDef, types: Mapping[str, ValueType], **attrs: int) -> ValueType:
    operands = {name: Value(name, kind) for name, kind in types.items()}
    found = defn.infer(Inference(defn, operands, attrs, Loc(NOWHERE)))
    assert found is not None
    return found


def values(shape: tuple[int, ...], dtype: DType, seed: int = 0) -> torch.Tensor:
    source = torch.Generator().manual_seed(seed)
    if not dtype.is_float:
        top = 2 ** (8 * dtype.bytes - 1)
        return torch.randint(-top, top - 1, shape, dtype=TORCH[dtype.name], generator=source)
    return (torch.rand(shape, generator=source) + 0.5).to(TORCH[dtype.name])


def fits(dtype: DType, rows: int, cols: int) -> bool:
    return TileType(dtype, (rows, cols)).bytes <= UB


def check(
    name: str, dtype: DType, rows: int, cols: int, vector: tuple[int, int] | None = None, *, in_place: bool = False
) -> Outcome:
    defn = OPS[name]
    shape = vector or ((rows, 1) if name.startswith("row") else (1, cols))
    tiles = {"x": TileType(dtype, (rows, cols)), "v": TileType(dtype, shape)}
    given_values = {"x": values((rows, cols), dtype), "v": values(shape, dtype, 1)}
    into = infer(defn, tiles)
    assert isinstance(into, TileType)
    out = run(defn, into, tiles, given_values, in_place=in_place)
    expected = defn.torch(torch, given_values, {})
    if name.endswith("expdif"):
        torch.testing.assert_close(out.result, expected, rtol=2e-3 if dtype == FP16 else 1e-6, atol=0)
    else:
        assert torch.equal(out.result, expected)
    # One barrier after Brcb; expdif has one more before Exp.
    assert out.barriers <= 1 + name.endswith("expdif")
    return out


@pytest.mark.parametrize("dtype", [FP32, FP16, INT32], ids=str)
@pytest.mark.parametrize("axis", ["row", "col"])
@pytest.mark.parametrize("rows", ROWS)
def test_every_size_where_forms_change(axis: str, dtype: DType, rows: int) -> None:
    for cols in COLS:
        if fits(dtype, rows, cols):
            check(f"{axis}_expand_sub", dtype, rows, cols)
            check(f"{axis}_expand_rsub", dtype, rows, cols, in_place=True)


@pytest.mark.parametrize("dtype", [FP32, FP16, INT32], ids=str)
@pytest.mark.parametrize("name", [f"{axis}_expand_{op}" for axis in ("row", "col") for op in BINARY])
def test_every_operator(name: str, dtype: DType) -> None:
    if dtype in OPS[name].dtypes:
        for rows, cols in ((9, 65), (3, 700), (260, 24), (1, 40), (12, 1)):
            check(name, dtype, rows, cols)


@pytest.mark.parametrize("axis", ["row", "col"])
@pytest.mark.parametrize(
    ("dtype", "cols"),
    [(d, blocks * d.block + more) for d in (FP32, FP16, INT32) for blocks in (255, 256) for more in (-1, 0, 1)],
    ids=str,
)
def test_pitches_around_the_longest_stride(axis: str, dtype: DType, cols: int) -> None:
    for rows in (1, 2, 3, 11, 22):
        if fits(dtype, rows, cols):
            check(f"{axis}_expand_sub", dtype, rows, cols, in_place=rows == 11)


@pytest.mark.parametrize("axis", ["row", "col"])
@pytest.mark.parametrize(
    ("dtype", "rows", "cols"),
    [
        (FP32, 5_000, 8),
        (FP16, 2_500, 16),
        (FP16, 5_000, 3),
        (FP32, 2, 20_000),
        (FP16, 1, 40_000),
        (FP32, 700, 60),
    ],
)
def test_extreme_shapes(axis: str, dtype: DType, rows: int, cols: int) -> None:
    check(f"{axis}_expand_sub", dtype, rows, cols)
    check(f"{axis}_expand_rsub", dtype, rows, cols)


@pytest.mark.parametrize("dtype", [FP32, FP16, INT32], ids=str)
def test_one_element_for_the_whole_tile(dtype: DType) -> None:
    for rows, cols in ((1, 1), (1, 300), (5, 1), (9, 65), (260, 24), (3, 2_100), (300, 1)):
        check("row_expand_sub", dtype, rows, cols, (1, 1))
        check("row_expand_rsub", dtype, rows, cols, (1, 1), in_place=True)
        if cols == 1:
            check("col_expand_sub", dtype, rows, cols, (1, 1))


@given(
    st.sampled_from(["row_expand_sub", "col_expand_rsub", "row_expand_max"]),
    st.sampled_from([FP32, FP16, INT32]),
    st.integers(1, 300),
    st.integers(1, 2_100),
    st.booleans(),
)
def test_any_shape(name: str, dtype: DType, rows: int, cols: int, in_place: bool) -> None:
    if fits(dtype, rows, cols):
        check(name, dtype, rows, cols, in_place=in_place)


# --- spreading by itself ----------------------------------------------------------------------------------------------


def check_spread(axis: str, dtype: DType, rows: int, cols: int) -> Outcome:
    defn = OPS[f"{axis}_expand"]
    shape, attrs = ((rows, 1), {"cols": cols}) if axis == "row" else ((1, cols), {"rows": rows})
    tile = TileType(dtype, shape)
    x = values(shape, dtype)
    into = infer(defn, {"x": tile}, **attrs)
    assert isinstance(into, TileType)
    assert into.shape == (rows, cols)
    out = run(defn, into, {"x": tile}, {"x": x}, attrs)
    assert torch.equal(out.result, defn.torch(torch, {"x": x}, attrs))
    return out


@pytest.mark.parametrize("dtype", [FP32, FP16, BF16, INT32, INT16], ids=str)
@pytest.mark.parametrize("axis", ["row", "col"])
def test_spreading_alone(axis: str, dtype: DType) -> None:
    for rows in ROWS:
        for cols in COLS:
            if fits(dtype, rows, cols):
                check_spread(axis, dtype, rows, cols)
    for rows, cols in ((3, 2_040), (3, 2_049), (5, 4_100), (5_000, 8), (4_096, 16), (4_099, 3)):
        if fits(dtype, rows, cols):
            check_spread(axis, dtype, rows, cols)


def test_spreading_keeps_every_bit() -> None:
    """NaNs with a payload and negative zeros are moved, not computed."""
    bits = torch.tensor([[0x7FC01234], [-0x80000000], [0x7F800001]], dtype=torch.int32)
    x = bits.view(torch.float32)
    defn = OPS["row_expand"]
    out = run(defn, TileType(FP32, (3, 20)), {"x": TileType(FP32, (3, 1))}, {"x": x}, {"cols": 20})
    assert torch.equal(out.result.view(torch.int32), bits.expand(3, 20))


# --- shapes and looks -------------------------------------------------------------------------------------------------


def test_results() -> None:
    arrays = {"x": ArrayType(FP32, (4, 6, 8)), "v": ArrayType(FP32, (4, 6, 1))}
    assert infer(OPS["row_expand_add"], arrays) == arrays["x"]
    count = sym(Sym("m", "dim", 1, 16))
    tile, vector = TileType(FP32, (16, 64), valid=(count, 60)), TileType(FP32, (16, 1), valid=(count, 1))
    made = infer(OPS["row_expand_add"], {"x": tile, "v": vector})
    assert isinstance(made, TileType)
    assert made.valid == (count, 60)
    spread = infer(OPS["row_expand"], {"x": vector}, cols=8)
    assert isinstance(spread, TileType)
    assert spread.valid == (count, 8)
    column = infer(OPS["col_expand"], {"x": TileType(FP32, (1, 1))}, rows=9)
    assert isinstance(column, TileType)
    assert column.order is Layout.DN


def refuse(name: str, types: Mapping[str, ValueType], **attrs: int) -> str:
    with pytest.raises(CompileError) as found:
        infer(OPS[name], types, **attrs)
    (only,) = found.value.diagnostics
    return "\n".join([only.message, *only.helps])


def test_refusals() -> None:
    x = TileType(FP32, (4, 8))
    told = refuse("row_expand_sub", {"x": x, "v": TileType(FP32, (1, 8))})
    assert "spreads `v` of shape [4, 1] over `x` [4, 8]; `v` is [1, 8]" in told
    assert "`col_expand_sub` spreads [1, 8] over [4, 8]" in told
    assert "need no expand" in refuse("col_expand_sub", {"x": x, "v": x})
    assert "one dtype" in refuse("row_expand_sub", {"x": x, "v": TileType(FP16, (4, 1))})
    assert "does not exist for int32" in refuse(
        "row_expand_div", {"x": TileType(INT32, (4, 8)), "v": TileType(INT32, (4, 1))}
    )
    assert "spreads a vector [M, 1]" in refuse("row_expand", {"x": x}, cols=4)
    assert "`rows` of `col_expand` is 0" in refuse("col_expand", {"x": TileType(FP32, (1, 8))}, rows=0)


def text(arg: object) -> str:
    if isinstance(arg, Ref):
        return arg.name + (f"[{arg.offset}]" if arg.offset else "")
    return f"({', '.join(map(text, arg.args))})" if isinstance(arg, Struct) else str(arg)


def listing(out: Outcome) -> list[str]:
    return [f"{s.call}({', '.join(map(text, s.args))})" for s in out.steps if isinstance(s, Instr)]


def test_the_look_of_a_row_expand() -> None:
    assert listing(check("row_expand_sub", FP32, 64, 64)) == [
        "Brcb(scratch, v, 8, (1, 8))",
        "Sub(into, x, scratch, 64, 64, (1, 1, 0, 8, 8, 1))",
    ]
    assert listing(check("row_expand_rdiv", FP16, 300, 130)) == [
        "Brcb(scratch, v, 38, (1, 8))",
        "Div(into, scratch, x, 128, 255, (1, 0, 1, 9, 1, 9))",
        "Div(into[36720], scratch[4080], x[36720], 128, 45, (1, 0, 1, 9, 1, 9))",
        "Div(into[128], scratch, x[128], 2, 255, (1, 0, 1, 9, 1, 9))",
        "Div(into[36848], scratch[4080], x[36848], 2, 45, (1, 0, 1, 9, 1, 9))",
    ]
    assert listing(check("row_expand_mul", FP32, 2, 2_049)) == [
        "Brcb(scratch, v, 1, (1, 8))",
        "Mul(into, x, scratch, 64, 32, (1, 1, 0, 8, 8, 0))",
        "Mul(into[2048], x[2048], scratch, 1, 1, (1, 1, 0, 8, 8, 0))",
        "Mul(into[2056], x[2056], scratch[8], 64, 32, (1, 1, 0, 8, 8, 0))",
        "Mul(into[4104], x[4104], scratch[8], 1, 1, (1, 1, 0, 8, 8, 0))",
    ]


def test_the_look_of_a_column_expand() -> None:
    assert listing(check("col_expand_mul", FP32, 32, 64)) == ["Mul(into, x, v, 64, 32, (1, 1, 1, 8, 8, 0))"]
    assert listing(check("col_expand_sub", FP32, 2, 200)) == ["Sub(into, x, v, 200)", "Sub(into[200], x[200], v, 200)"]


def test_the_look_of_spreading() -> None:
    assert listing(check_spread("row", FP32, 16, 8)) == ["Brcb(into, x, 2, (1, 8))"]
    assert listing(check_spread("row", FP32, 12, 64)) == [
        "Brcb(scratch, x, 2, (1, 8))",
        "Copy(into, scratch, 64, 12, (1, 0, 8, 1))",
    ]
    assert listing(check_spread("col", FP16, 20, 128)) == ["Copy(into, x, 128, 20, (1, 1, 8, 0))"]


def test_formulas_find_both_orders() -> None:
    for sign, plain, reverse in (("-", "sub", "rsub"), ("/", "div", "rdiv")):
        for axis in AXES:
            straight, turned = form(sign, "tile", axis), form(sign, axis, "tile")
            assert straight is not None
            assert turned is not None
            assert (straight.defn.name, straight.fields) == (f"{axis}_expand_{plain}", ("x", "v"))
            assert (turned.defn.name, turned.fields) == (f"{axis}_expand_{reverse}", ("v", "x"))
