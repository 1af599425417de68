"""Reductions: every recipe executed and compared with torch, at the sizes where forms change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch")

import torch

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.diagnostics.span import NOWHERE, Loc
from pypto_spec.ir.dtype import FP16, FP32, INT32, DType
from pypto_spec.ir.expr import Expr, Sym, evaluate, sym, symbols
from pypto_spec.ir.instr import Instr, Ref, Struct, Word
from pypto_spec.ir.nodes import Value
from pypto_spec.ir.opdef import Inference, OpDef
from pypto_spec.ir.types import ArrayType, Layout, TileType, ValueType
from pypto_spec.ops.reduce_rows import choose
from pypto_spec.ops.reduce_steps import Grid, Kind
from pypto_spec.ops.registry import OPS
from tests.ops.reduce_machine import TORCH, OneOp, Outcome, run

NAMES = ("row_sum", "row_max", "row_min", "col_sum", "col_max", "col_min")
ROWS = (1, 2, 7, 8, 9, 254, 255, 256, 257)
COLS = (1, 7, 8, 9, 63, 64, 65, 127, 128, 129, 255, 256, 1000)
UB = 188_416


def infer_any(defn: OpDef, x: ValueType) -> ValueType:
    found = defn.infer(Inference(defn, {"x": Value("t", x)}, {}, Loc(NOWHERE)))
    assert found is not None
    return found


def infer(defn: OpDef, x: TileType) -> TileType:
    found = infer_any(defn, x)
    assert isinstance(found, TileType)
    return found


def values(shape: tuple[int, ...], dtype: DType, seed: int = 0) -> torch.Tensor:
    source = torch.Generator().manual_seed(seed)
    if dtype == INT32:
        return torch.randint(-(2**31), 2**31 - 1, shape, dtype=torch.int32, generator=source)
    return torch.randn(shape, generator=source).to(TORCH[dtype.name])


def check(name: str, dtype: DType, rows: int, cols: int, layout: Layout | None = None) -> Outcome:
    defn = OPS[name]
    tile = TileType(dtype, (rows, cols), layout=layout)
    x = values((rows, cols), dtype)
    out = run(defn, infer(defn, tile), {"x": tile}, {"x": x})
    expected = defn.torch(torch, {"x": x}, {})
    assert out.result.shape == expected.shape
    assert sum(out.scratch) <= 48 * 1024
    if dtype == INT32 or not name.endswith("sum"):
        assert torch.equal(out.result, expected)
    else:
        exact = x.to(torch.float64).sum(dim=-1 if name.startswith("row") else -2, keepdim=True)
        scale = x.to(torch.float64).abs().sum(dim=-1 if name.startswith("row") else -2, keepdim=True)
        # fp32: a tree of at most a dozen levels; fp16: one rounding of a sum that is exact to fp32.
        bound = scale * 2e-6 if dtype == FP32 else exact.abs() * 2**-11 + scale * 2e-6 + 2**-25
        assert ((out.result.to(torch.float64) - exact).abs() <= bound).all()
    return out


def fits(dtype: DType, rows: int, cols: int) -> bool:
    return TileType(dtype, (rows, cols)).bytes <= UB


@pytest.mark.parametrize("dtype", [FP32, FP16, INT32], ids=str)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rows", ROWS)
def test_every_size_where_forms_change(name: str, dtype: DType, rows: int) -> None:
    for cols in COLS:
        if fits(dtype, rows, cols):
            check(name, dtype, rows, cols)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("dtype", "cols"),
    [(d, blocks * d.block + more) for d in (FP32, FP16, INT32) for blocks in (255, 256) for more in (-1, 0, 1)],
    ids=str,
)
def test_pitches_around_the_longest_stride(name: str, dtype: DType, cols: int) -> None:
    for rows in (1, 2, 3, 11, 22):
        if fits(dtype, rows, cols):
            check(name, dtype, rows, cols)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("dtype", "rows", "cols"),
    [
        (FP32, 1, 47_104),
        (FP32, 1, 47_000),
        (FP32, 3, 15_000),
        (FP32, 5, 8_192),
        (FP16, 1, 90_000),
        (FP16, 5, 16_000),
        (FP16, 2, 20_481),
        (INT32, 1, 40_000),
        (INT32, 4, 10_000),
        (FP32, 5_000, 8),
        (FP32, 5_800, 3),
        (INT32, 5_000, 2),
        (FP16, 3_000, 16),
        (FP16, 700, 100),
        (FP32, 500, 65),
        (FP32, 256, 128),
        (FP32, 60, 640),
        (FP16, 60, 700),
    ],
)
def test_extreme_shapes(name: str, dtype: DType, rows: int, cols: int) -> None:
    check(name, dtype, rows, cols)


@pytest.mark.parametrize("dtype", [FP32, FP16, INT32], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_one_column_in_either_layout(name: str, dtype: DType) -> None:
    for rows in (2, 9, 100, 257):
        check(name, dtype, rows, 1)
        check(name, dtype, rows, 1, layout=Layout.ND)


@given(st.sampled_from(NAMES), st.sampled_from([FP32, FP16, INT32]), st.integers(1, 300), st.integers(1, 2100))
def test_any_shape(name: str, dtype: DType, rows: int, cols: int) -> None:
    if fits(dtype, rows, cols):
        check(name, dtype, rows, cols)


@pytest.mark.parametrize("dtype", [FP32, FP16, INT32], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_only_the_valid_part_is_reduced(name: str, dtype: DType) -> None:
    defn = OPS[name]
    for shape, valid in (((16, 200), (5, 130)), ((16, 200), (16, 3)), ((9, 64), (9, 33)), ((300, 40), (260, 40))):
        tile = TileType(dtype, shape, valid=valid)
        into = infer(defn, tile)
        assert into.valid == ((valid[0], 1) if name.startswith("row") else (1, valid[1])) or into.valid is None
        x = values(shape, dtype)
        out = run(defn, into, {"x": tile}, {"x": x})
        expected = defn.torch(torch, {"x": x[: valid[0], : valid[1]]}, {})
        got = out.result[:, : valid[1]] if name.startswith("col") else out.result[: valid[0]]
        torch.testing.assert_close(got, expected, rtol=2e-3 if dtype == FP16 else 1e-5, atol=1e-3)


def test_int32_sums_wrap_around() -> None:
    x = torch.full((1, 3), 2**30, dtype=torch.int32)
    tile = TileType(INT32, (1, 3))
    assert run(OPS["row_sum"], TileType(INT32, (1, 1)), {"x": tile}, {"x": x}).result.item() == 3 * 2**30 - 2**32


def test_fp16_sums_do_not_round_on_the_way() -> None:
    x = torch.ones((1, 4096), dtype=torch.float16)
    tile = TileType(FP16, (1, 4096))
    # In fp16, 2048 + 1 stays 2048.
    assert run(OPS["row_sum"], TileType(FP16, (1, 1)), {"x": tile}, {"x": x}).result.item() == 4096
    column = TileType(FP16, (4096, 1), layout=Layout.ND)
    down = run(OPS["col_sum"], TileType(FP16, (1, 1)), {"x": column}, {"x": x.reshape(4096, 1)})
    assert down.result.item() == 4096


def test_shapes_of_results() -> None:
    assert infer_any(OPS["row_sum"], ArrayType(FP32, (4, 6, 8))) == ArrayType(FP32, (4, 6, 1))
    assert infer_any(OPS["col_max"], ArrayType(FP32, (6, 8))) == ArrayType(FP32, (1, 8))
    assert infer(OPS["row_max"], TileType(FP32, (6, 8))).order is Layout.DN


def test_one_dimension_is_refused() -> None:
    with pytest.raises(CompileError, match=r"`row_sum` needs rows and columns, `t` is \[8\]"):
        infer_any(OPS["row_sum"], ArrayType(FP32, (8,)))


# --- what the recipes cost and how they look --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "dtype", "shape", "steps", "barriers"),
    [
        ("row_max", FP32, (64, 64), 1, 0),
        ("row_sum", FP32, (64, 64), 1, 0),
        ("row_sum", FP32, (32, 64), 1, 0),
        ("row_sum", FP32, (64, 100), 3, 1),
        ("row_sum", FP32, (64, 128), 2, 1),
        ("row_sum", FP32, (64, 256), 4, 2),
        ("row_sum", FP32, (16, 1024), 3, 1),
        ("row_max", FP32, (300, 64), 2, 0),
        ("row_max", FP16, (64, 128), 1, 0),
        ("row_sum", FP16, (64, 64), 3, 2),
        ("row_max", INT32, (64, 64), 15, 10),
        ("col_sum", FP32, (64, 64), 6, 5),
        ("col_max", FP32, (9, 64), 4, 3),
        ("col_sum", FP16, (64, 64), 8, 7),
        ("col_sum", INT32, (2, 8), 1, 0),
    ],
)
def test_calls_and_barriers(name: str, dtype: DType, shape: tuple[int, int], steps: int, barriers: int) -> None:
    out = check(name, dtype, *shape)
    assert (len(out.steps), out.barriers) == (steps, barriers)


@given(st.sampled_from(["sum", "max"]), st.integers(1, 300), st.integers(1, 2100))
def test_the_chosen_way_costs_what_it_was_chosen_for(kind: Kind, rows: int, cols: int) -> None:
    if not fits(FP32, rows, cols):
        return
    tile = TileType(FP32, (rows, cols))
    way = choose(Grid(Ref("x"), FP32, rows, cols, tile.row_pitch if rows > 1 else cols), kind)
    out = check(f"row_{kind}", FP32, rows, cols)
    if cols > 1 or rows == 1:
        assert len(out.steps) == way.calls
        assert out.barriers <= way.barriers
        assert sum(out.scratch) <= way.scratch + 32


def text(arg: object) -> str:
    if isinstance(arg, Ref):
        return arg.name + (f"[{arg.offset}]" if arg.offset else "")
    if isinstance(arg, Struct):
        return f"{arg.name}({', '.join(map(text, arg.args))})"
    return arg.text if isinstance(arg, Word) else str(arg)


def listing(name: str, dtype: DType, rows: int, cols: int) -> list[str]:
    made = check(name, dtype, rows, cols).steps
    return [f"{s.call}({', '.join(map(text, s.args))})" for s in made if isinstance(s, Instr)]


def test_the_look_of_a_folded_row_maximum() -> None:
    assert listing("row_max", FP32, 64, 130) == [
        "Max(scratch, x, x[64], 64, 64, BinaryRepeatParams(1, 1, 1, 8, 17, 17))",
        "Max(scratch, scratch, x[128], 2, 64, BinaryRepeatParams(1, 1, 1, 8, 8, 17))",
        "WholeReduceMax(into, scratch, 64, 64, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE)",
    ]


def test_the_look_of_two_uneven_chunks() -> None:
    assert listing("row_sum", FP32, 300, 65) == [
        "WholeReduceSum(scratch, x, 64, 248, 1, 1, 9)",
        "WholeReduceSum(scratch[248], x[17856], 64, 52, 1, 1, 9)",
        "WholeReduceSum(scratch[304], x[64], 1, 248, 1, 1, 9)",
        "WholeReduceSum(scratch[552], x[17920], 1, 52, 1, 1, 9)",
        "Add(into, scratch, scratch[304], 300)",
    ]


def test_the_look_of_few_long_rows() -> None:
    assert listing("row_sum", FP32, 2, 1000) == [
        "WholeReduceSum(scratch, x, 64, 15, 1, 1, 8)",
        "WholeReduceSum(scratch[16], x[1000], 64, 15, 1, 1, 8)",
        "WholeReduceSum(scratch[15], x[960], 40, 2, 16, 1, 125)",
        "WholeReduceSum(into, scratch, 16, 2, 1, 1, 2)",
    ]


def test_the_look_of_an_fp16_sum() -> None:
    assert listing("row_sum", FP16, 64, 64) == [
        "Cast(scratch.1, x, RoundMode::CAST_NONE, 4096)",
        "WholeReduceSum(scratch, scratch.1, 64, 64, 1, 1, 8)",
        "Cast(into, scratch, RoundMode::CAST_RINT, 64)",
    ]


def test_the_look_of_an_integer_row_sum() -> None:
    assert listing("row_sum", INT32, 16, 16) == [
        "Add(scratch, x, x[8], 8, 16, BinaryRepeatParams(1, 1, 1, 1, 2, 2))",
        "Brcb(scratch.1, scratch, 16, BrcbRepeatParams(16, 1))",
        "Add(scratch.1, scratch.1, scratch.1[512], 512)",
        "Add(scratch.1, scratch.1, scratch.1[256], 256)",
        "Add(scratch.1, scratch.1, scratch.1[128], 128)",
        "Copy(into, scratch.1[56], 8, 2, CopyRepeatParams(1, 1, 1, 8))",
        "Copy(scratch.1[40], scratch.1[32], 5, 2, CopyRepeatParams(1, 1, 8, 8))",
        "Copy(scratch.1[24], scratch.1[16], 3, 2, CopyRepeatParams(1, 1, 8, 8))",
        "Copy(scratch.1[8], scratch.1, 1, 2, CopyRepeatParams(1, 1, 8, 8))",
        "Copy(into, scratch.1[48], 7, 2, CopyRepeatParams(1, 1, 1, 8))",
        "Copy(scratch.1[24], scratch.1[8], 2, 2, CopyRepeatParams(1, 1, 8, 8))",
        "Copy(into, scratch.1[40], 6, 2, CopyRepeatParams(1, 1, 1, 8))",
        "Copy(into, scratch.1[24], 4, 2, CopyRepeatParams(1, 1, 1, 8))",
    ]


def test_the_look_of_a_column_sum() -> None:
    assert listing("col_sum", FP32, 5, 10) == [
        "Add(scratch, x, x[32], 32)",
        "DataCopy(scratch[32], x[64], DataCopyParams(1, 2, 0, 0))",
        "Add(scratch, scratch, scratch[32], 16)",
        "Add(into, scratch, scratch[16], 10)",
    ]


def test_a_runtime_row_count_limits_the_reductions() -> None:
    """Rows past the count hold undefined lanes, which must not enter a reduction."""
    count = sym(Sym("m", "dim", 1, 16))
    for name, cols in (("row_max", 64), ("row_max", 300), ("row_sum", 1024)):
        tile = TileType(FP32, (16, cols), valid=(count, cols))
        into = infer(OPS[name], tile)
        assert into.valid == (count, 1)
        for step in OPS[name].recipe(OneOp({"into": into, "x": tile}, {})):  # type: ignore[arg-type]
            if isinstance(step, Instr) and step.call.startswith("Whole"):
                repeat = step.args[3]
                assert isinstance(repeat, Expr)
                assert evaluate(repeat, {next(iter(symbols(repeat))): 0}) == 0


def test_a_runtime_extent_along_the_reduction_is_joined() -> None:
    count = sym(Sym("m", "dim", 1, 16))
    made = infer(OPS["col_sum"], TileType(FP32, (16, 64), valid=(count, 40)))
    assert isinstance(made, TileType)
    assert (made.shape, made.valid) == ((1, 64), (1, 40))
