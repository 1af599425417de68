"""Loads and stores: which copies they become, what they copy, and what is refused."""

from __future__ import annotations

from math import prod
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto_spec.ir.dtype import BF16, FP16, FP32, INT8, INT64
from pypto_spec.ir.expr import Index, Sym, minimum, mul, sub, sym
from pypto_spec.ir.instr import Instr
from pypto_spec.ir.nodes import Op
from pypto_spec.ir.types import Access, Layout, Memory, TensorType, TileType
from pypto_spec.ops.instructions import effects
from tests.ops.machine import Machine
from tests.ops.making import dtype_of, infer, make, memory_of, recipe, refused, tensor, text, tile

PAD = "DataCopyPadExtParams<float>(False, 0, 0, 0)"


def load(source: TensorType, at: tuple[Index, ...], shape: tuple[int, ...], **attrs: Any) -> str:
    return text(recipe(make("load", {"from": source}, at=at, shape=shape, **attrs)))


def test_contiguous_rows_are_one_copy_by_count() -> None:
    i = Sym("i", "loop", 0, 7)
    x = tensor(FP32, 512, 128)
    assert load(x, (mul(sym(i), 64), 0), (64, 128)) == "DataCopy(into, from[i * 8192], 8192)"
    assert load(tensor(FP32, 3, 512, 128), (1, 64, 0), (1, 64, 128)) == "DataCopy(into, from[73728], 8192)"
    assert load(tensor(FP32, 3, 64, 128), (1, 0, 0), (2, 64, 128)) == "DataCopy(into, from[8192], 16384)"
    assert load(tensor(FP32, 512), (8,), (64,)) == "DataCopy(into, from[8], 64)"


def test_windows_are_padded_copies() -> None:
    assert load(tensor(FP32, 512, 128), (0, 32), (64, 64)) == (
        f"DataCopyPad(into, from[32], DataCopyExtParams(64, 256, 256, 0, 0), {PAD})"
    )
    assert load(tensor(FP32, 512, 100), (8, 0), (64, 100)) == (
        f"DataCopyPad(into, from[800], DataCopyExtParams(64, 400, 0, 0, 0), {PAD})"
    )
    assert load(tensor(FP32, 512, 100), (8, 0), (1, 100)) == (
        f"DataCopyPad(into, from[800], DataCopyExtParams(1, 400, 0, 0, 0), {PAD})"
    )


def test_outer_axes_that_lie_apart_are_copied_one_by_one() -> None:
    assert load(tensor(FP32, 4, 100, 8), (0, 0, 0), (2, 64, 8)) == (
        "DataCopy(into, from, 512)\nDataCopy(into[512], from[800], 512)"
    )


@pytest.mark.parametrize(("rows", "counts"), [(4095, [4095]), (4096, [4095, 1])])
def test_many_rows_are_split(rows: int, counts: list[int]) -> None:
    lines = load(tensor(FP32, rows, 16), (0, 0), (rows, 8)).split("\n")
    assert [
        f"DataCopyExtParams({n}, 32, {32 if n > 1 else 0}, 0, 0)" in line for n, line in zip(counts, lines, strict=True)
    ]
    if rows > 4095:
        assert lines[1].startswith("DataCopy(into[32760], from[65520], 8)")


def test_no_copy_of_nothing() -> None:
    assert load(tensor(FP32, 5, 16), (0, 0), (4096, 8), valid=(5, 8)) == (
        f"DataCopyPad(into, from, DataCopyExtParams(5, 32, 32, 0, 0), {PAD})"
    )


def test_partly_valid_tiles() -> None:
    i, m = Sym("i", "loop", 0), Sym("M", "dim", 1, 100_000)
    left = minimum(64, sub(sym(m), mul(sym(i), 64)))
    x = tensor(FP32, sym(m), 256)
    assert load(x, (mul(sym(i), 64), 0), (64, 256), valid=(left, 256)) == (
        "DataCopy(into, from[i * 16384], min(M - i * 64, 64) * 256)"
    )
    assert load(x, (mul(sym(i), 64), 0), (64, 250), valid=(left, 250)) == (
        "DataCopyPad(into, from[i * 16384], DataCopyExtParams(min(M - i * 64, 64), 1000, 24, 0, 0), " + PAD + ")"
    )
    n = Sym("n", "scalar", 1, 64)
    assert load(tensor(FP32, 8, 64), (0, 0), (8, 64), valid=(8, sym(n))) == (
        "DataCopyPad(into, from, DataCopyExtParams(8, n * 4, -n * 4 + 256, -((n * 4 + 31) // 32) + 8, 0), " + PAD + ")"
    )


def test_columns() -> None:
    assert load(tensor(FP32, 512, 1), (64, 0), (64, 1)) == "DataCopy(into, from[64], 64)"
    assert load(tensor(FP32, 512, 1), (64, 0), (63, 1)) == (
        f"DataCopyPad(into, from[64], DataCopyExtParams(1, 252, 0, 0, 0), {PAD})"
    )
    found = refused("load", {"from": tensor(FP32, 512, 128)}, at=(0, 5), shape=(64, 1), memory=Memory.VEC)
    assert found.rule.code == "PS3007"
    assert "valid: [64, 1]" in found.helps[0]
    wide = make("load", {"from": tensor(FP32, 512, 128)}, at=(0, 5), shape=(64, 8), valid=(64, 1))
    assert "DataCopyExtParams(64, 4, 508, 0, 0)" in text(recipe(wide))


def store(source: TileType, to: TensorType, at: tuple[Index, ...], **attrs: Any) -> str:
    return text(recipe(make("store", {"from": source, "to": to}, at=at, **attrs)))


def test_stores() -> None:
    out = tensor(FP32, 512, 128)
    assert store(tile(FP32, 64, 128), out, (64, 0)) == "DataCopy(to[8192], from, 8192)"
    assert store(tile(FP32, 64, 64, pitch=128), out, (64, 0)) == (
        "DataCopyPad(to[8192], from, DataCopyExtParams(64, 256, 8, 256, 0))"
    )
    n = Sym("n", "scalar", 1, 64)
    assert store(tile(FP32, 64, 128, valid=(sym(n), 128)), out, (0, 0)) == "DataCopy(to, from, n * 128)"
    assert store(tile(FP32, 64, 1, valid=(sym(n), 1)), tensor(FP32, 512, 1), (0, 0)) == (
        "DataCopyPad(to, from, DataCopyExtParams(1, n * 4, 0, 0, 0))"
    )
    assert store(tile(FP32, 1, 512), tensor(FP32, 512), (0,)) == "DataCopy(to, from, 512)"
    assert store(tile(FP32, 128, 64), tensor(FP32, 4, 64, 64), (2, 0, 0), shape=(2, 64, 64)) == (
        "DataCopy(to[8192], from, 8192)"
    )
    column = tile(FP32, 64, 1, layout=Layout.ND, pitch=24)
    assert store(column, out, (0, 7)) == "DataCopyPad(to[7], from, DataCopyExtParams(64, 4, 2, 508, 0))"


def test_atomic_store() -> None:
    op = make("store", {"from": tile(BF16, 16, 16), "to": tensor(BF16, 16, 16)}, at=(0, 0), atomic="add")
    assert text(recipe(op)) == "SetAtomicAdd<bfloat16_t>()\nDataCopy(to, from, 256)\nSetAtomicNone()"
    assert [e.atomic for e in effects(recipe(op), dtype_of(op), memory_of(op)) if e is not None] == [False, True, False]


# --- execution ------------------------------------------------------------------------------------------------------


@st.composite
def windows(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """A tensor's shape, and a window in it: at, shape, valid."""
    rank = draw(st.integers(1, 3))
    extents = (*(draw(st.integers(1, 5)) for _ in range(rank - 1)), draw(st.integers(2, 40)))
    shape = (*(draw(st.integers(1, n)) for n in extents[:-1]), draw(st.integers(2, extents[-1])))
    at = tuple(draw(st.integers(0, n - s)) for n, s in zip(extents, shape, strict=True))
    valid = list(shape)
    valid[-1] = draw(st.integers(1, shape[-1]))
    outer = next((axis for axis, n in enumerate(shape[:-1]) if n > 1), None)
    if outer is not None and draw(st.booleans()):
        valid[outer] = draw(st.integers(1, shape[outer]))
    return extents, at, shape, tuple(valid)


def element(extents: tuple[int, ...], index: tuple[int, ...]) -> int:
    place = 0
    for extent, k in zip(extents, index, strict=True):
        place = place * extent + k
    return place


def indices(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [()]
    for extent in shape:
        found = [(*front, k) for front in found for k in range(extent)]
    return found


@given(windows(), st.sampled_from([FP32, FP16, INT8, INT64]))
def test_loads_and_stores_copy_exactly_the_valid_elements(
    window: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]], dtype: Any
) -> None:
    extents, at, shape, valid = window
    loaded = make("load", {"from": tensor(dtype, *extents)}, at=at, shape=shape, valid=valid)
    kind = loaded.result.type
    assert isinstance(kind, TileType)
    gm = list(range(prod(extents)))
    chip: list[Any] = [None] * (kind.span_elements + kind.dtype.block)
    Machine({"from": gm, "into": chip}, {"from": dtype, "into": dtype}).run(recipe(loaded))
    for index in indices(shape):
        place = element(shape[:-1], index[:-1]) * kind.row_pitch + index[-1]
        inside = all(k < n for k, n in zip(index, valid, strict=True))
        where = element(extents, tuple(a + k for a, k in zip(at, index, strict=True)))
        assert chip[place] == where if inside else chip[place] in (None, "padding")
    stored = make("store", {"from": kind, "to": tensor(dtype, *extents)}, at=at)
    made: list[Any] = [None] * prod(extents)
    Machine({"to": made, "from": chip}, {"to": dtype, "from": dtype}).run(recipe(stored))
    expected = {element(extents, tuple(a + k for a, k in zip(at, index, strict=True))) for index in indices(valid)}
    assert made == [n if n in expected else None for n in gm]


# --- what is refused ------------------------------------------------------------------------------------------------


def codes(name: str, operands: Any, **attrs: Any) -> str:
    return refused(name, operands, **attrs).rule.code


def test_refusals() -> None:
    x = tensor(FP32, 512, 128)
    assert codes("load", {"from": x}, at=(0,), shape=(64, 128)) == "PS3001"
    assert codes("load", {"from": x}, at=(449, 0), shape=(64, 128)) == "PS3004"
    assert codes("load", {"from": x}, at=(-1, 0), shape=(64, 128)) == "PS3004"
    assert codes("load", {"from": x}, at=(0, 0), shape=(64, 128), valid=(65, 128)) == "PS3004"
    assert codes("load", {"from": x}, at=(0, 0), shape=(sym(Sym("n", "scalar")), 128)) == "PS3010"
    assert codes("load", {"from": tile(FP32, 8, 8)}, at=(0, 0), shape=(8, 8)) == "PS3011"
    m = sym(Sym("m", "scalar", 1, 4))
    assert (
        codes(
            "load", {"from": tensor(FP32, 4, 9, 8)}, at=(0, 0, 0), shape=(4, 4, 8), valid=(m, 4, 8), memory=Memory.VEC
        )
        == "PS3001"
    )
    assert (
        codes(
            "load", {"from": tensor(FP32, 4, 9, 8)}, at=(0, 0, 0), shape=(4, 4, 8), valid=(4, m, 8), memory=Memory.VEC
        )
        == "PS3001"
    )
    y = tile(FP32, 64, 128)
    assert codes("store", {"from": y, "to": tensor(FP16, 64, 128)}, at=(0, 0)) == "PS3002"
    assert codes("store", {"from": y, "to": tensor(FP32, 64, 128, access=Access.IN)}, at=(0, 0)) == "PS3012"
    assert codes("store", {"from": y, "to": tensor(FP32, 64, 64)}, at=(0, 0)) == "PS3004"
    assert codes("store", {"from": y, "to": tensor(FP32, 8192)}, at=(0,)) == "PS3001"
    assert codes("store", {"from": tile(FP32, 64, 1), "to": x}, at=(0, 0)) == "PS3007"
    assert codes("store", {"from": tile(INT64, 8, 8), "to": tensor(INT64, 8, 8)}, at=(0, 0), atomic="add") == "PS3003"
    assert codes("store", {"from": x, "to": x}, at=(0, 0)) == "PS3011"
    assert codes("move", {"from": x}) == "PS3011"


def test_bounds_that_only_some_iterations_break_are_left_to_the_run() -> None:
    i = Sym("i", "loop", 0, 8)
    assert infer("load", {"from": tensor(FP32, 512, 128)}, at=(mul(sym(i), 64), 0), shape=(64, 128)) is not None


def test_store_of_a_loaded_tile_needs_no_more_than_its_op() -> None:
    op: Op = make("load", {"from": tensor(FP32, 8, 8)}, at=(0, 0), shape=(8, 8))
    assert all(isinstance(step, Instr) for step in recipe(op))
