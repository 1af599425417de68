"""The passes from tensors to tiles that the instructions take, on real operators."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.ir.dtype import BF16, FP16, FP32, INT8
from pypto_spec.ir.expr import Sym, minimum, mul, sub, sym
from pypto_spec.ir.nodes import BufferRef, Op, Program, Region
from pypto_spec.ir.types import Layout, Memory, TileType
from pypto_spec.passes.convert_tensor_to_tile_ops import CONVERT_TENSOR_TO_TILE_OPS
from pypto_spec.passes.flatten_tile_nd_to_2d import FLATTEN_TILE_ND_TO_2D
from pypto_spec.passes.infer_tile_memory_space import INFER_TILE_MEMORY_SPACE
from pypto_spec.passes.legalize_tile_cast import LEGALIZE_TILE_CAST
from pypto_spec.passes.resolve_backend_op_layouts import RESOLVE_BACKEND_OP_LAYOUTS
from pypto_spec.targets.a2a3 import A2A3
from pypto_spec.targets.a5 import A5
from pypto_spec.targets.model import route
from tests.passes.build import Build, passed, text
from tests.passes.toys import context

TO_FLAT = (CONVERT_TENSOR_TO_TILE_OPS, FLATTEN_TILE_ND_TO_2D)
TO_LAYOUT = (*TO_FLAT, LEGALIZE_TILE_CAST, INFER_TILE_MEMORY_SPACE, RESOLVE_BACKEND_OP_LAYOUTS)
INDEX = Sym("i", "loop", 0, 7)


def front(**tensors: tuple[int, ...]) -> Build:
    build = Build()
    for name, shape in tensors.items():
        build.tensor(name, *shape)
    return build


# ConvertTensorToTileOps


def test_whole_arrays_are_loaded_once() -> None:
    build = front(x=(8, 64), out=(8, 64))
    build.op("mul", "y", lhs="x", rhs="x")
    build.op("add", "z", lhs="y", rhs="x")
    build.store("z", "out")
    assert text(passed(build.program(), CONVERT_TENSOR_TO_TILE_OPS)) == [
        "x_tile.1: fp32[8, 64] = load(x, at=[0, 0], shape=[8, 64])",
        "y.1: fp32[8, 64] = mul(x_tile.1, x_tile.1)",
        "z.1: fp32[8, 64] = add(y.1, x_tile.1)",
        "store(z.1, out, at=[0, 0])",
    ]


def test_a_tensor_that_is_stored_is_loaded_again() -> None:
    build = front(x=(8, 64), y=(8, 64))
    build.op("exp", "a", x="x")
    build.op("exp", "b", x="x")
    build.op("add", "c", lhs="a", rhs="b")
    build.store("c", "x")
    build.op("exp", "d", x="x")
    build.store("d", "y")
    assert text(passed(build.program(), CONVERT_TENSOR_TO_TILE_OPS), types=False) == [
        "x_tile.1 = load(x, at=[0, 0], shape=[8, 64])", "a.1 = exp(x_tile.1)", "b.1 = exp(x_tile.1)",
        "c.1 = add(a.1, b.1)", "store(c.1, x, at=[0, 0])",
        "x_tile.2 = load(x, at=[0, 0], shape=[8, 64])", "d.1 = exp(x_tile.2)", "store(d.1, y, at=[0, 0])",
    ]  # fmt: skip


def test_what_a_loop_only_reads_is_loaded_before_it() -> None:
    build = front(x=(8, 64), w=(8, 64), out=(64, 64))
    build.op("exp", "acc", x="x")
    with build.loop(INDEX, 8):
        build.op("mul", "acc", lhs="acc", rhs="w")
        build.store("acc", "out", at=(mul(sym(INDEX), 8), 0))
    assert text(passed(build.program(), CONVERT_TENSOR_TO_TILE_OPS)) == [
        "x_tile.1: fp32[8, 64] = load(x, at=[0, 0], shape=[8, 64])",
        "acc.1: fp32[8, 64] = exp(x_tile.1)",
        "w_tile.1: fp32[8, 64] = load(w, at=[0, 0], shape=[8, 64])",
        "for i [acc.4 = acc.2 <- acc.1, acc.3]",
        "  acc.3: fp32[8, 64] = mul(acc.2, w_tile.1)",
        "  store(acc.3, out, at=[i * 8, 0])",
    ]


def test_a_slice_of_a_tensor_is_a_load() -> None:
    build = front(x=(64, 64), out=(8, 64))
    with build.loop(INDEX, 8):
        build.op("slice", "s", x="x", at=(mul(sym(INDEX), 8), 0), shape=(8, 64))
        build.op("exp", "y", x="s")
        build.store("y", "out")
    assert text(passed(build.program(), CONVERT_TENSOR_TO_TILE_OPS), types=False)[1:3] == [
        "  s.1 = load(x, at=[i * 8, 0], shape=[8, 64])", "  y.1 = exp(s.1)",
    ]  # fmt: skip


def test_tiles_stay_as_they_are() -> None:
    build = front(x=(8, 64), out=(8, 64))
    build.load("t", "x", 8, 64)
    build.op("exp", "y", x="t")
    build.store("y", "out")
    made = passed(build.program())
    assert passed(made, *TO_FLAT, LEGALIZE_TILE_CAST) is made


# FlattenTileNdTo2D


def test_three_dimensions() -> None:
    build = front(x=(4, 16, 64), out=(4, 16, 64))
    build.load("t", "x", 2, 16, 64)
    build.op("full", "f", shape=(2, 16, 64), value=0, dtype=FP32)
    build.op("add", "y", lhs="t", rhs="f")
    build.op("row_max", "r", x="y")
    build.op("row_expand_sub", "z", x="y", v="r")
    build.op("reshape", "w", x="z", shape=(32, 1, 64))
    build.op("reshape", "w", x="w", shape=(2, 16, 64))
    build.store("w", "out", at=(2, 0, 0))
    assert text(passed(build.program(), *TO_FLAT)) == [
        "t.1: fp32[32, 64] = load(x, at=[0, 0, 0], shape=[2, 16, 64])",
        "f.1: fp32[32, 64] = full(shape=[32, 64], value=0, dtype=fp32)",
        "y.1: fp32[32, 64] = add(t.1, f.1)",
        "r.1: fp32[32, 1] = row_max(y.1)",
        "z.1: fp32[32, 64] = row_expand_sub(y.1, r.1)",
        "w.1: fp32[32, 64] vec = reshape(z.1, shape=[32, 64])".replace(" vec", ""),
        "w.2: fp32[32, 64] = reshape(w.1, shape=[32, 64])",
        "store(w.2, out, at=[2, 0, 0], shape=[2, 16, 64])",
    ]


def test_one_dimension_and_slices() -> None:
    build = front(x=(64,), z=(4, 16, 64), out=(2, 16, 64), flat=(64,))
    build.load("t", "x", 64)
    build.store("t", "flat")
    build.load("u", "z", 4, 16, 64)
    build.op("slice", "s", x="u", at=(1, 0, 0), shape=(2, 16, 64))
    build.store("s", "out")
    assert text(passed(build.program(), *TO_FLAT), types=False) == [
        "t.1 = load(x, at=[0], shape=[64])", "store(t.1, flat, at=[0])",
        "u.1 = load(z, at=[0, 0, 0], shape=[4, 16, 64])", "s.1 = slice(u.1, at=[16, 0], shape=[32, 64])",
        "store(s.1, out, at=[0, 0, 0], shape=[2, 16, 64])",
    ]  # fmt: skip


def test_valid_rows_are_merged() -> None:
    build = front(x=(4, 16, 64), out=(4, 16, 64))
    part = minimum(2, sub(4, sym(INDEX)))
    with build.loop(INDEX, 4):
        build.load("t", "x", 2, 16, 64, at=(sym(INDEX), 0, 0), valid=(part, 16, 64))
        build.store("t", "out", at=(sym(INDEX), 0, 0))
    first = text(passed(build.program(), *TO_FLAT))[1]
    assert first.startswith("  t.1: fp32[32, 64] valid [min(-i + 4, 2) * 16, 64]")


def test_several_matrices_have_no_column_sum() -> None:
    build = front(x=(4, 16, 64), out=(4, 1, 64))
    build.load("t", "x", 4, 16, 64)
    build.op("col_sum", "s", x="t")
    build.store("s", "out")
    with pytest.raises(CompileError, match="PS3021: `col_sum` works on the rows of one matrix, and `t` is 4 of them"):
        passed(build.program(), *TO_FLAT)


# LegalizeTileCast


def test_cast_chain() -> None:
    build = Build()
    build.tensor("x", 8, 64)
    build.tensor("out", 8, 64, dtype=INT8)
    build.load("t", "x", 8, 64)
    build.op("cast", "y", x="t", dtype=INT8, mode="floor")
    build.store("y", "out")
    assert text(passed(build.program(), *TO_FLAT, LEGALIZE_TILE_CAST))[1:3] == [
        "y_fp16.1: fp16[8, 64] = cast(t.1, dtype=fp16, mode=floor)",
        "y.1: int8[8, 64] = cast(y_fp16.1, dtype=int8, mode=floor)",
    ]


def test_native_cast_stays() -> None:
    build = Build()
    build.tensor("x", 8, 64, dtype=BF16)
    build.tensor("out", 8, 64)
    build.load("t", "x", 8, 64)
    build.op("cast", "y", x="t", dtype=FP32)
    build.store("y", "out")
    assert text(passed(build.program(), *TO_FLAT, LEGALIZE_TILE_CAST))[1] == "y.1: fp32[8, 64] = cast(t.1, dtype=fp32)"


# InferTileMemorySpace


def test_everything_is_placed() -> None:
    build = front(x=(8, 64), out=(8, 64))
    build.op("full", "acc", shape=(8, 64), value=0, dtype=FP32)
    with build.loop(INDEX, 8):
        build.load("t", "x", 8, 64)
        build.op("add", "acc", lhs="acc", rhs="t")
    build.op("reshape", "acc", x="acc", shape=(64, 8))
    build.op("reshape", "acc", x="acc", shape=(8, 64))
    build.store("acc", "out")
    made = passed(build.program(), *TO_FLAT, LEGALIZE_TILE_CAST, INFER_TILE_MEMORY_SPACE)
    assert text(made)[:4] == [
        "acc.1: fp32[8, 64] vec = full(shape=[8, 64], value=0, dtype=fp32)",
        "for i [acc.4 = acc.2 <- acc.1, acc.3]",
        "  t.1: fp32[8, 64] vec = load(x, at=[0, 0], shape=[8, 64], memory=vec)",
        "  acc.3: fp32[8, 64] vec = add(acc.2, t.1)",
    ]


def test_a_result_in_a_memory_it_cannot_reach() -> None:
    build = front(x=(8, 64), out=(8, 64))
    build.load("t", "x", 8, 64, memory=Memory.MAT)
    build.op("exp", "y", x="t")
    build.store("y", "out")
    with pytest.raises(CompileError, match="PS4020"):
        passed(build.program(), *TO_FLAT, LEGALIZE_TILE_CAST, INFER_TILE_MEMORY_SPACE)


def test_an_operand_that_stands_elsewhere() -> None:
    build = front(x=(8, 64), out=(8, 64))
    build.load("t", "x", 8, 64)
    build.op("exp", "y", x="t")
    build.store("y", "out")
    made = passed(build.program(), *TO_FLAT, LEGALIZE_TILE_CAST)
    (only,) = made.body
    assert isinstance(only, Region)
    load, exp, store = only.body
    assert isinstance(load, Op)
    assert isinstance(exp, Op)
    tile = load.result
    moved = type(tile)(tile.name, replace(tile.type, memory=Memory.ACC))  # type: ignore[arg-type]
    body = (replace(exp, operands={"x": moved}), store)
    with pytest.raises(CompileError) as error:
        INFER_TILE_MEMORY_SPACE.run(replace(made, body=(replace(only, body=body),)), context())
    (found,) = error.value.diagnostics
    assert found.message == "no path from `acc` to `vec`: `exp` takes `x` from `vec`, and `t` is in `acc`"
    assert found.notes == ("the way from `acc` to `vec` on a2a3 is `acc` -> `gm` -> `vec`",)


def test_routes() -> None:
    assert route(A2A3, Memory.GM, Memory.LEFT) == (Memory.GM, Memory.MAT, Memory.LEFT)
    assert route(A2A3, Memory.MAT, Memory.VEC) is None
    assert route(A5, Memory.ACC, Memory.VEC) == (Memory.ACC, Memory.VEC)


# ResolveBackendOpLayouts


def test_softmax_columns_become_rows() -> None:
    build = front(x=(64, 64), m=(64, 1), out=(64, 64))
    build.load("t", "x", 64, 64)
    build.load("old", "m", 64, 1)
    build.op("row_max", "r", x="t")
    build.op("maximum", "n", lhs="r", rhs="old")
    build.op("exp", "e", x="n")
    build.op("row_expand_sub", "y", x="t", v="e")
    build.store("y", "out")
    assert text(passed(build.program(), *TO_LAYOUT))[2:] == [
        "r.1: fp32[64, 1] vec = row_max(t.1)",
        "r_row.1: fp32[1, 64] vec = reshape(r.1, shape=[1, 64])",
        "old_row.1: fp32[1, 64] vec = reshape(old.1, shape=[1, 64])",
        "n_row.1: fp32[1, 64] vec = maximum(r_row.1, old_row.1)",
        "e_row.1: fp32[1, 64] vec = exp(n_row.1)",
        "e.1: fp32[64, 1] vec = reshape(e_row.1, shape=[64, 1])",
        "y.1: fp32[64, 64] vec = row_expand_sub(t.1, e.1)",
        "store(y.1, out, at=[0, 0])",
    ]


def column(build: Build) -> None:
    build.tensor("x", 64, 1)
    build.load("t", "x", 64, 1)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("add", "add(t_row.1, t_row.1)"), ("rsub", "sub(t_row.1, t_row.1)"), ("max", "maximum(t_row.1, t_row.1)"),
        ("expdif", "col_expand_expdif(t_row.1, t_row.1)"),
    ],
)  # fmt: skip
def test_row_expand_of_a_column(name: str, expected: str) -> None:
    build = front(out=(64, 1))
    column(build)
    build.op(f"row_expand_{name}", "y", **({"v": "t", "x": "t"} if name == "rsub" else {"x": "t", "v": "t"}))
    build.store("y", "out")
    lines = text(passed(build.program(), *TO_LAYOUT), types=False)
    assert lines[1:3] == ["t_row.1 = reshape(t.1, shape=[1, 64])", f"y_row.1 = {expected}"]


def test_expands_of_a_column_by_one_element() -> None:
    build = front(s=(1, 1), out=(64, 1))
    column(build)
    build.load("one", "s", 1, 1)
    build.op("col_expand_mul", "y", x="t", v="one")
    build.op("row_expand_add", "z", x="y", v="one")
    build.store("z", "out")
    assert text(passed(build.program(), *TO_LAYOUT), types=False)[2:] == [
        "t_row.1 = reshape(t.1, shape=[1, 64])", "y_row.1 = row_expand_mul(t_row.1, one.1)",
        "z_row.1 = row_expand_add(y_row.1, one.1)", "z.1 = reshape(z_row.1, shape=[64, 1])",
        "store(z.1, out, at=[0, 0])",
    ]  # fmt: skip


def test_reductions_of_vectors() -> None:
    build = front(a=(64, 1), b=(1, 64), one=(1, 1))
    column(build)
    build.op("row_max", "r", x="t")
    build.store("r", "a")
    build.op("col_sum", "s", x="r")
    build.store("s", "one")
    build.op("reshape", "u", x="t", shape=(1, 64))
    build.op("col_min", "v", x="u")
    build.store("v", "b")
    assert text(passed(build.program(), *TO_LAYOUT))[1:] == [
        "store(t.1, a, at=[0, 0])",
        "t_row.1: fp32[1, 64] vec = reshape(t.1, shape=[1, 64])",
        "s.1: fp32[1, 1] vec = row_sum(t_row.1)",
        "store(s.1, one, at=[0, 0])",
        "u.1: fp32[1, 64] vec = reshape(t.1, shape=[1, 64])",
        "store(u.1, b, at=[0, 0])",
    ]


def test_a_reduction_of_nothing_into_a_buffer_is_a_copy() -> None:
    build = front(a=(64, 1))
    column(build)
    build.op("row_max", "r", x="t")
    build.store("r", "a")
    made = pinned(build.program(), "row_max", BufferRef("ub"))
    lines = text(passed(made, *TO_LAYOUT), types=False)
    assert lines[1:] == ["r.1 = move(t.1, memory=vec)", "store(r.1, a, at=[0, 0])"]


def pinned(made: Program, name: str, buffer: BufferRef) -> Program:
    (only,) = made.body
    assert isinstance(only, Region)
    body = [
        replace(s, results=(replace(s.result, buffer=buffer),)) if isinstance(s, Op) and s.name == name else s
        for s in only.body
    ]
    return replace(made, body=(replace(only, body=tuple(body)),))


def test_windows_are_made_dense() -> None:
    build = front(x=(64, 128), out=(64, 64), c=(64, 1))
    build.load("t", "x", 64, 128)
    build.op("slice", "s", x="t", at=(0, 64), shape=(64, 64))
    build.op("exp", "y", x="s")
    build.op("add", "z", lhs="y", rhs="s")
    build.store("z", "out")
    build.op("slice", "k", x="t", at=(0, 8), shape=(64, 1))
    build.op("exp", "e", x="k")
    build.store("e", "c")
    made = passed(build.program(), *TO_LAYOUT)
    assert text(made, types=False)[1:] == [
        "s.1 = slice(t.1, at=[0, 64], shape=[64, 64])", "s_dense.1 = move(s.1, memory=vec)", "y.1 = exp(s_dense.1)",
        "z.1 = add(y.1, s_dense.1)", "store(z.1, out, at=[0, 0])", "k.1 = slice(t.1, at=[0, 8], shape=[64, 1])",
        "k_dense.1 = move(k.1, memory=vec)", "k_dense_row.1 = reshape(k_dense.1, shape=[1, 64])",
        "e_row.1 = exp(k_dense_row.1)", "e.1 = reshape(e_row.1, shape=[64, 1])", "store(e.1, c, at=[0, 0])",
    ]  # fmt: skip
    (only,) = made.body
    assert isinstance(only, Region)
    kinds = {s.result.name: s.result.type for s in only.body if isinstance(s, Op) and s.results}
    assert kinds["s.1"] == TileType(FP32, (64, 64), Memory.VEC, pitch=128)
    assert kinds["s_dense.1"] == TileType(FP32, (64, 64), Memory.VEC)
    assert kinds["k_dense.1"].order is Layout.DN  # type: ignore[union-attr]


def test_columns_across_a_loop() -> None:
    build = front(x=(64, 64), out=(64, 1))
    build.op("full", "m", shape=(64, 1), value=0, dtype=FP32)
    with build.loop(INDEX, 8):
        build.load("t", "x", 64, 64)
        build.op("row_max", "r", x="t")
        build.op("maximum", "m", lhs="m", rhs="r")
    build.store("m", "out")
    assert text(passed(build.program(), *TO_LAYOUT), types=False) == [
        "m.1 = full(shape=[64, 1], value=0, dtype=fp32)",
        "m_row.1 = reshape(m.1, shape=[1, 64])",
        "for i [m_row.4 = m_row.2 <- m_row.1, m_row.3]",
        "  t.1 = load(x, at=[0, 0], shape=[64, 64], memory=vec)",
        "  r.1 = row_max(t.1)",
        "  r_row.1 = reshape(r.1, shape=[1, 64])",
        "  m_row.3 = maximum(m_row.2, r_row.1)",
        "m.4 = reshape(m_row.4, shape=[64, 1])",
        "store(m.4, out, at=[0, 0])",
    ]


def test_scalars_and_dtypes_ride_along() -> None:
    build = Build()
    build.scalar("eps")
    build.tensor("x", 64, 1)
    build.tensor("out", 64, 1, dtype=FP16)
    build.load("t", "x", 64, 1)
    build.op("adds", "y", x="t", scalar="eps")
    build.op("cast", "z", x="y", dtype=FP16)
    build.store("z", "out")
    assert text(passed(build.program(), *TO_LAYOUT), types=False)[2:4] == [
        "y_row.1 = adds(t_row.1, eps)", "z_row.1 = cast(y_row.1, dtype=fp16)",
    ]  # fmt: skip
