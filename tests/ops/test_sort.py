"""Sorting: recipes and refusals, meanings against values written by hand, and the grids that calls need."""

from __future__ import annotations

from typing import Any

import pytest

from pypto_spec.ir.dtype import FP16, FP32, INT16, INT32, DType
from pypto_spec.ir.expr import Sym, sym
from pypto_spec.ir.instr import Instr, Ref
from pypto_spec.ir.recipe import OpRecipe
from pypto_spec.ops.instructions import decode
from pypto_spec.ops.registry import OPS
from tests.ops.making import dtype_of, infer, make, memory_of, recipe, refused, text, tile

torch: Any = pytest.importorskip("torch")


def test_equal_elements_keep_their_order() -> None:
    x = torch.tensor([[1.0, 3.0, 3.0, -float("inf"), 2.0]])
    made = OPS["topk"].torch(torch, {"x": x}, {"k": 4})
    assert made[0, 0::2].tolist() == [3, 3, 2, 1]
    assert made.view(torch.int32)[0, 1::2].tolist() == [1, 2, 4, 0]


def test_one_call_sorts_and_one_merges_all_rows_of_128() -> None:
    lines = text(recipe(make("mrgsort", {"x": tile(FP32, 8, 256)}, run=32))).splitlines()
    assert len(lines) == 1
    assert "MergeInfo(32, 32, 32, 32, 4, 8)" in lines[0]


@pytest.mark.parametrize("dtype", [FP32, FP16])
@pytest.mark.parametrize("cols", [1, 31, 33, 100, 200, 600])
def test_declared_grids_cover_those_of_the_calls(dtype: DType, cols: int) -> None:
    op = make("topk", {"x": tile(dtype, 1 if cols == 1 else 7, cols)}, k=1)
    asked = op.defn.alignment(OpRecipe(op, "exact"))
    for step in recipe(op):
        assert isinstance(step, Instr)
        for name, grid in decode(step, dtype_of(op), memory_of(op)).grids:
            assert grid <= 32 or asked["scratch" if name.startswith("scratch") else name] % grid == 0


def test_refusals() -> None:
    row = {"x": tile(FP32, 4, 40)}
    assert refused("topk", row, k=41).rule.code == "PS3001"
    assert refused("topk", row, k=0).rule.code == "PS3001"
    assert refused("topk", {"x": tile(INT32, 4, 40)}, k=1).rule.code == "PS3003"
    assert refused("sort", {"x": tile(FP32, 4, 1)}).rule.code == "PS3007"
    assert refused("sort", {"x": tile(FP32, 1, 8193)}).rule.code == "PS3001"
    assert refused("sort32", {**row, "index": tile(INT32, 4, 40)}).rule.code == "PS3001"
    assert refused("sort32", {"x": tile(FP32, 4, 32), "index": tile(INT16, 4, 32)}).rule.code == "PS3002"
    assert "run: 4" in refused("mrgsort", {"x": tile(FP32, 4, 16)}, run=5).helps[0]
    cols = sym(Sym("i", "loop", 1, 9))
    assert "fillpad" in refused("sort", {"x": tile(FP32, 4, 40, valid=(4, cols))}).helps[0]


def test_run_time_rows_stay() -> None:
    rows = sym(Sym("i", "loop", 1, 4))
    assert infer("topk", {"x": tile(FP32, 4, 40, valid=(rows, 40))}, k=3) == tile(FP32, 4, 6, valid=(rows, 6))


def test_a_ref_is_needed_on_its_grid() -> None:
    step = Instr("Sort32", (Ref("into"), Ref("x"), Ref("index"), 1))
    op = make("sort32", {"x": tile(FP16, 1, 32), "index": tile(INT32, 1, 32)})
    assert dict(decode(step, dtype_of(op), memory_of(op)).grids) == {"into": 256, "x": 64, "index": 128}
