"""Recipes of elementwise ops: goldens at the edges, and execution on a simulator against the plain meaning."""

from __future__ import annotations

import math
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.ir.dtype import BF16, FP16, FP32, INT32, DType
from pypto_spec.ir.nodes import Op
from pypto_spec.ir.types import TileType
from pypto_spec.ops.build import geometry
from pypto_spec.ops.registry import OPS
from tests.ops.machine import Machine
from tests.ops.making import make, recipe, scalar, scratch, text, tile


def steps(name: str, x: TileType, precision: Literal["exact", "fast"] = "exact", **attrs: Any) -> str:
    operands = {f.name: x for f in OPS[name].fields if f.kind == "tile"}
    return text(recipe(make(name, operands, **attrs), precision))


# --- goldens --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "count"),
    [((64, 128), 8192), ((255, 64), 16320), ((256, 64), 16384), ((4, 100), 416), ((1, 100), 100), ((100, 1), 100)],
)
def test_dense_tiles_are_one_call_by_count(shape: tuple[int, int], count: int) -> None:
    assert steps("exp", tile(FP32, *shape)) == f"Exp(into, x, {count})"
    assert steps("add", tile(FP32, *shape)) == f"Add(into, lhs, rhs, {count})"


WINDOW = {
    # rows, pitch in blocks: the calls
    (255, 16): "Abs(into, x, 64, 255, UnaryRepeatParams(1, 1, 8, 16))",
    (256, 16): "Abs(into, x, 64, 255, UnaryRepeatParams(1, 1, 8, 16))\n"
    "Abs(into[16320], x[32640], 64, 1, UnaryRepeatParams(1, 1, 8, 16))",
    (2, 255): "Abs(into, x, 64, 2, UnaryRepeatParams(1, 1, 8, 255))",
    (2, 256): "Abs(into, x, 64)\nAbs(into[64], x[2048], 64)",
}


@pytest.mark.parametrize(("rows", "blocks"), WINDOW)
def test_windows_go_by_chunks_of_repeats_or_row_by_row(rows: int, blocks: int) -> None:
    assert steps("abs", tile(FP32, rows, 64, pitch=blocks * 8)) == WINDOW[rows, blocks]


def test_last_chunk_is_masked() -> None:
    assert steps("exp", tile(FP16, 64, 200, pitch=256)) == (
        "Exp(into, x, 128, 64, UnaryRepeatParams(1, 1, 13, 16))\n"
        "Exp(into[128], x[128], 72, 64, UnaryRepeatParams(1, 1, 13, 16))"
    )


@pytest.mark.parametrize(
    ("count", "calls"),
    [
        (64, ["64, 1"]),
        (100, ["64, 1", "[64], 36, 1"]),
        (255 * 64, ["64, 255"]),
        (256 * 64, ["64, 255", "[16320], 64, 1"]),
        (255 * 64 + 5, ["64, 255", "[16320], 5, 1"]),
    ],
)
def test_exact_recip_divides_a_block_of_ones(count: int, calls: list[str]) -> None:
    lines = steps("recip", tile(FP32, 1, count)).split("\n")
    assert lines[0] == "Duplicate(scratch:fp32, 1.0:fp32, 8)"
    params = "BinaryRepeatParams(1, 0, 1, 8, 0, 8)"
    for line, call in zip(lines[1:], calls, strict=True):
        at, rest = call.split("], ") if call.startswith("[") else ("", call)
        where = f"{at}]" if at else ""
        assert line == f"Div(into{where}, scratch:fp32, x{where}, {rest}, {params})"


def test_exact_and_fast_roots() -> None:
    x = tile(FP16, 2, 128)
    assert steps("rsqrt", x) == (
        "Duplicate(scratch:fp16, 1.0:fp16, 16)\nSqrt(into, x, 256)\n"
        "Div(into, scratch:fp16, into, 128, 2, BinaryRepeatParams(1, 0, 1, 8, 0, 8))"
    )
    assert steps("rsqrt", x, "fast") == "Rsqrt(into, x, 256)"
    assert steps("recip", x, "fast") == "Reciprocal(into, x, 256)"
    op = make("rsqrt", {"x": x})
    assert (scratch(op), scratch(op, "fast")) == ((32,), ())


SCALARS = [
    ("adds", FP32, 1.5, "Adds(into, x, 1.5:fp32, 64)"),
    ("adds", FP16, 0.1, "Adds(into, x, 0.0999755859375:fp16, 64)"),
    ("adds", INT32, 3, "Adds(into, x, 3:int32, 64)"),
    ("subs", FP32, 1.5, "Adds(into, x, -1.5:fp32, 64)"),
    ("subs", INT32, -(2**31), "Adds(into, x, -2147483648:int32, 64)"),
    ("muls", FP32, 2, "Muls(into, x, 2.0:fp32, 64)"),
    ("divs", FP32, 8, "Muls(into, x, 0.125:fp32, 64)"),
    ("divs", FP16, -0.5, "Muls(into, x, -2.0:fp16, 64)"),
    (
        "divs", FP32, 3.0,
        "Duplicate(scratch:fp32, 3.0:fp32, 8)\n"
        "Div(into, x, scratch:fp32, 64, 1, BinaryRepeatParams(1, 1, 0, 8, 8, 0))",
    ),
    ("maximums", FP32, -math.inf, "Maxs(into, x, -inf:fp32, 64)"),
    ("minimums", INT32, 7, "Mins(into, x, 7:int32, 64)"),
    ("rsubs", FP32, 1, "Muls(into, x, -1.0:fp32, 64)\nAdds(into, into, 1.0:fp32, 64)"),
    (
        "rdivs", FP32, 1,
        "Duplicate(scratch:fp32, 1.0:fp32, 8)\n"
        "Div(into, scratch:fp32, x, 64, 1, BinaryRepeatParams(1, 0, 1, 8, 0, 8))",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "dtype", "value", "expected"), SCALARS)
def test_scalar_forms(name: str, dtype: DType, value: float, expected: str) -> None:
    assert steps(name, tile(dtype, 1, 64), scalar=value) == expected


def test_a_divisor_whose_inverse_is_subnormal_is_divided_by() -> None:
    assert steps("divs", tile(FP16, 1, 16), scalar=2.0**15).startswith("Duplicate")
    assert steps("divs", tile(FP16, 1, 16), scalar=2.0**14) == f"Muls(into, x, {2.0**-14}:fp16, 16)"


RUN_TIME = [
    ("adds", "Adds(into, x, scalar:fp16, 32)"),
    ("subs", "Duplicate(scratch"),
    ("divs", "Duplicate(scratch"),
    ("rsubs", "Muls(into, x, -1.0:fp16, 32)"),
]


@pytest.mark.parametrize(("name", "first"), RUN_TIME)
def test_run_time_scalars(name: str, first: str) -> None:
    op = make(name, {"x": tile(FP16, 2, 16), "scalar": scalar(FP32)})
    assert text(recipe(op)).startswith(first)
    assert bool(scratch(op)) == (first.startswith("Duplicate"))


def test_integers() -> None:
    x = tile(INT32, 2, 12)
    assert steps("neg", x) == "Muls(into, x, -1:int32, 32)"
    assert steps("abs", x) == "Muls(scratch:int32, x, -1:int32, 32)\nMax(into, x, scratch:int32, 32)"
    assert scratch(make("abs", {"x": x})) == (128,)
    assert steps("relu", x) == "Relu(into, x, 32)"


def test_casts() -> None:
    word = "RoundMode::CAST_"
    assert steps("cast", tile(FP32, 4, 64), dtype=BF16) == f"Cast(into, x, {word}RINT, 256)"
    assert steps("cast", tile(BF16, 4, 64), dtype=FP32) == f"Cast(into, x, {word}NONE, 256)"
    assert steps("cast", tile(FP32, 4, 64), dtype=INT32) == f"Cast(into, x, {word}TRUNC, 256)"
    assert steps("cast", tile(FP32, 4, 64), dtype=INT32, mode="floor") == f"Cast(into, x, {word}FLOOR, 256)"
    assert steps("cast", tile(INT32, 100, 1), dtype=FP32) == f"Cast(into, x, {word}RINT, 100)"
    # Rows of 24 fp32 take 3 blocks; rows of 24 fp16 take 2 of 16: the row distances differ.
    assert steps("cast", tile(FP32, 4, 24), dtype=FP16) == (
        f"Cast(into, x, {word}RINT, 24, 4, UnaryRepeatParams(1, 1, 2, 3))"
    )
    assert steps("cast", tile(FP32, 4, 64), dtype=FP32) == "DataCopy(into, x, DataCopyParams(1, 32, 0, 0))"


# --- execution ------------------------------------------------------------------------------------------------------


def places(of: TileType) -> list[int]:
    """Element offsets of a tile's elements, row by row."""
    rows, cols, pitch = geometry(of)
    return [r * pitch + c for r in range(rows) for c in range(cols)]


def execute(op: Op, inputs: dict[str, list[float]], **scalars: float) -> list[Any]:
    """Run an op's recipe on its operands' elements and give the result's."""
    memory: dict[str, list[Any]] = {}
    dtypes: dict[str, DType] = {}
    into = op.result.type
    assert isinstance(into, TileType)
    for name, value in {**op.operands, "into": op.result}.items():
        kind = value.type
        if isinstance(kind, TileType):
            memory[name] = [0] * (kind.span_elements + 8 * kind.dtype.block)
            dtypes[name] = kind.dtype
            for place, element in zip(places(kind), inputs.get(name, ()), strict=False):
                memory[name][place] = element
    for number, size in enumerate(scratch(op)):
        memory["scratch" if number == 0 else f"scratch.{number}"] = [None] * (size // into.dtype.bytes)
    machine = Machine(memory, dtypes, scalars=scalars)
    machine.run(recipe(op))
    return [memory["into"][p] for p in places(into)]


@st.composite
def tiles(draw: st.DrawFn, dtype: DType) -> TileType:
    rows, cols = draw(st.integers(1, 20)), draw(st.integers(2, 150))
    extra = draw(st.integers(0, 300)) * dtype.block
    pitch = -(-cols // dtype.block) * dtype.block + extra
    return tile(dtype, rows, cols, pitch=pitch if extra and rows > 1 else None)


MEANING: dict[str, Any] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "maximum": max,
    "adds": lambda a: a + 3,
    "subs": lambda a: a - 3,
    "divs": lambda a: a / 3,
    "rsubs": lambda a: 3 - a,
    "rdivs": lambda a: 3 / a,
    "recip": lambda a: 1 / a,
    "rsqrt": lambda a: 1 / math.sqrt(a),
    "neg": lambda a: -a,
    "abs": abs,
    "move": lambda a: a,
}


@given(st.sampled_from(sorted(MEANING)), st.sampled_from([FP32, FP16, INT32]), st.data())
def test_recipes_cover_every_element_once(name: str, dtype: DType, data: st.DataObject) -> None:
    defn = OPS[name]
    if dtype not in defn.dtypes:
        return
    first = data.draw(tiles(dtype))
    other = data.draw(st.sampled_from([None, first.pitch]))
    fields = [f.name for f in defn.fields if f.kind == "tile"]
    kinds = [first, tile(dtype, *first.shape, pitch=other)]
    operands = dict(zip(fields, kinds, strict=False))
    attrs: dict[str, Any] = {"scalar": 3} if any(f.name == "scalar" for f in defn.fields) else {}
    size = first.rows * first.cols
    inputs = {f: [float(k * 7 % 64 + 1 + n) for k in range(size)] for n, f in enumerate(fields)}
    found = execute(make(name, operands, **attrs), inputs)
    assert found == [MEANING[name](*row) for row in zip(*inputs.values(), strict=True)]


@given(st.sampled_from([(FP32, FP16), (FP16, FP32), (BF16, INT32)]), st.data())
def test_casts_cover_every_element_once(pair: tuple[DType, DType], data: st.DataObject) -> None:
    x = data.draw(tiles(pair[0]))
    values = [float(k) for k in range(x.rows * x.cols)]
    assert execute(make("cast", {"x": x}, dtype=pair[1]), {"x": values}) == values


@pytest.mark.parametrize("rows", [2, 248, 249, 600])
def test_a_column_of_a_wider_tile_is_made_dense(rows: int) -> None:
    column = make("slice", {"x": tile(FP32, rows, 24)}, at=(0, 8), shape=(rows, 1)).result.type
    assert isinstance(column, TileType)
    values = [float(k) for k in range(rows)]
    assert execute(make("move", {"from": column}), {"from": values}) == values


@pytest.mark.parametrize("rows", [4095, 4096])
def test_moves_of_many_rows_are_split(rows: int) -> None:
    column = tile(FP32, rows, 8, pitch=16)
    values = [float(k) for k in range(rows * 8)]
    op = make("move", {"from": column})
    assert len(recipe(op)) == 1 + (rows > 4095)
    assert execute(op, {"from": values}) == values
