"""arange, extract, assemble and concat: values written by hand, refusals, and recipes on the simulator."""

from __future__ import annotations

from typing import Any

import pytest

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.ir.dtype import FP16, FP32, INT8, INT16, INT32, INT64, UINT16, DType
from pypto_spec.ir.expr import Sym, sym
from pypto_spec.ir.nodes import Op
from pypto_spec.ir.types import TileType
from pypto_spec.ops.registry import OPS
from tests.ops.machine import Machine
from tests.ops.making import dtype_of, infer, make, memory_of, recipe, refused, scalar, scratch, tile

torch: Any = pytest.importorskip("torch")


def run(op: Op, **memory: list[Any]) -> list[Any]:
    """What the recipe leaves in the result; memory that is not given is undefined."""
    kind = op.result.type
    assert isinstance(kind, TileType)
    names = {"into": [None] * (kind.bytes // kind.dtype.bytes), **memory}
    dtypes = {"into": kind.dtype, **{n: v.type.dtype for n, v in op.operands.items()}}
    for number, size in enumerate(scratch(op)):
        name = f"scratch.{number}" if number else "scratch"
        unit = kind.dtype if op.name == "transpose" else FP32
        names[name] = [None] * (size // unit.bytes)
        dtypes[name] = unit
    machine = Machine(names, dtypes)
    machine.run(recipe(op))
    return machine.memory["into"]


def rows(memory: list[Any], count: int, width: int, pitch: int) -> list[list[Any]]:
    """The rows of a tile in memory."""
    return [memory[n * pitch : n * pitch + width] for n in range(count)]


def filled(count: int, width: int, pitch: int, first: int = 0) -> list[Any]:
    """A tile that counts, with padding behind each row."""
    made: list[Any] = []
    for n in range(count):
        made += [first + n * width + i for i in range(width)] + [None] * (pitch - width)
    return made


# --- arange ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "start", "step", "expected"),
    [
        ((1, 4), 0, 1, [[0, 1, 2, 3]]),
        ((2, 3), 5, 1, [[5, 6, 7], [8, 9, 10]]),
        ((2, 2), 3, -1, [[3, 2], [1, 0]]),
        ((3, 1), 10, 10, [[10], [20], [30]]),
    ],
)
def test_arange_counts_row_by_row(shape: tuple[int, int], start: int, step: int, expected: list[list[int]]) -> None:
    made = OPS["arange"].torch(torch, {}, {"shape": shape, "start": start, "dtype": INT32, "step": step})
    assert made.tolist() == expected


@pytest.mark.parametrize("dtype", [FP32, INT32])
@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (1, 100), (5, 9), (70, 1), (3, 64)])
def test_arange_recipe(dtype: DType, shape: tuple[int, int]) -> None:
    op = make("arange", {}, shape=shape, start=-3, dtype=dtype, step=2)
    count, width = shape
    if width == 1:
        count, width = 1, count
    pitch = -(-width // 8) * 8
    expected = [[-3 + 2 * (r * width + c) for c in range(width)] for r in range(count)]
    assert rows(run(op), count, width, pitch) == expected


def test_arange_starts_at_a_run_time_scalar() -> None:
    assert infer("arange", {"start": scalar(INT32)}, shape=(1, 8), dtype=INT32, step=1) == TileType(INT32, (1, 8))


@pytest.mark.parametrize(
    ("dtype", "attrs", "words"),
    [
        (FP16, {"shape": (1, 2050), "start": 0}, "0 to 2049 in fp16"),
        (INT16, {"shape": (1, 10), "start": 32760}, "32760 to 32769 in int16"),
        (UINT16, {"shape": (1, 10), "start": 0, "step": -1}, "-9 to 0 in uint16"),
        (FP32, {"shape": (1, 10), "start": 0.5}, "whole numbers, found 0.5"),
    ],
)
def test_arange_refuses_what_it_cannot_count(dtype: DType, attrs: dict[str, Any], words: str) -> None:
    found = refused("arange", {}, dtype=dtype, **attrs)
    assert found.rule.code == "PS3003"
    assert words in found.message


def test_arange_of_floats_from_a_scalar_is_refused() -> None:
    assert refused("arange", {"start": scalar(FP32)}, shape=(1, 8), dtype=FP32).rule.code == "PS3003"
    assert (
        refused("arange", {}, shape=(1, 8), start=0, dtype=INT32, step=sym(Sym("i", "loop", 0, 4))).rule.code
        == "PS3010"
    )


def test_arange_makes_no_array() -> None:
    with pytest.raises(CompileError, match="whole arrays"):
        infer("arange", {}, "array", shape=(1, 8), start=0, dtype=INT32)


# --- extract --------------------------------------------------------------------------------------------------------


def test_extract_means_a_copy_of_the_window() -> None:
    x = torch.arange(12).reshape(3, 4)
    assert OPS["extract"].torch(torch, {"x": x}, {"at": (1, 1), "shape": (2, 2), "dtype": None}).tolist() == [
        [5, 6],
        [9, 10],
    ]


@pytest.mark.parametrize(("at", "shape"), [((1, 3), (4, 10)), ((0, 8), (6, 8)), ((2, 5), (1, 3)), ((1, 4), (5, 1))])
def test_extract_recipe(at: tuple[int, int], shape: tuple[int, int]) -> None:
    op = make("extract", {"x": tile(INT32, 6, 20)}, at=at, shape=shape)
    made = run(op, x=filled(6, 20, 24))
    expected = [[r * 20 + c for c in range(at[1], at[1] + shape[1])] for r in range(at[0], at[0] + shape[0])]
    if shape[1] == 1:
        assert made[: shape[0]] == [row[0] for row in expected]
    else:
        assert rows(made, *shape, -(-shape[1] // 8) * 8) == expected


def test_extract_at_a_column_known_at_run_time() -> None:
    symbol = Sym("i", "loop", 0, 4)
    index = sym(symbol)
    op = make("extract", {"x": tile(INT32, 2, 20)}, at=(0, index), shape=(2, 10))
    names = {"into": [None] * 32, "x": filled(2, 20, 24)}
    dtypes = {"into": INT32, "x": INT32}
    for number, size in enumerate(scratch(op)):
        name = f"scratch.{number}" if number else "scratch"
        names[name], dtypes[name] = [None] * (size // 4), FP32
    machine = Machine(names, dtypes, {symbol: 3})
    machine.run(recipe(op))
    assert rows(machine.memory["into"], 2, 10, 16) == [list(range(3, 13)), list(range(23, 33))]


def test_extract_keeps_the_valid_extent() -> None:
    made = infer("extract", {"x": tile(FP32, 8, 16, valid=(6, 10))}, at=(4, 3), shape=(4, 8))
    assert made == TileType(FP32, (4, 8), made.memory, valid=(2, 7))  # type: ignore[union-attr]


def test_extract_refuses_bytes_inside_a_block() -> None:
    assert refused("extract", {"x": tile(INT8, 8, 64)}, at=(0, 3), shape=(8, 32)).rule.code == "PS3005"
    assert refused("extract", {"x": tile(INT64, 8, 64)}, at=(0, 3), shape=(8, 1)).rule.code == "PS3007"
    assert refused("extract", {"x": tile(FP32, 8, 64)}, at=(0, 60), shape=(8, 8)).rule.code == "PS3004"


# --- assemble -------------------------------------------------------------------------------------------------------


def test_assemble_means_the_target_with_the_window_replaced() -> None:
    inputs = {"target": torch.zeros(2, 3), "x": torch.ones(1, 2)}
    assert OPS["assemble"].torch(torch, inputs, {"at": (1, 1)}).tolist() == [[0, 0, 0], [0, 1, 1]]
    assert inputs["target"].sum() == 0


@pytest.mark.parametrize(
    ("at", "shape"), [((1, 3), (2, 4)), ((0, 8), (3, 8)), ((1, 16), (2, 4)), ((0, 0), (4, 1)), ((0, 19), (4, 1))]
)
def test_assemble_recipe(at: tuple[int, int], shape: tuple[int, int]) -> None:
    op = make("assemble", {"target": tile(INT32, 4, 20), "x": tile(INT32, *shape)}, at=at)
    column = shape[1] == 1
    x = filled(1, shape[0], 8, 900) if column else filled(*shape, 8, 900)
    made = run(op, into=filled(4, 20, 24), x=x)
    expected = [[r * 20 + c for c in range(20)] for r in range(4)]
    for r in range(shape[0]):
        for c in range(shape[1]):
            expected[at[0] + r][at[1] + c] = 900 + r * shape[1] + c
    assert rows(made, 4, 20, 24) == expected


def test_assemble_refusals() -> None:
    target = tile(FP32, 8, 64)
    assert refused("assemble", {"target": target, "x": tile(FP32, 8, 8)}, at=(0, 60)).rule.code == "PS3004"
    assert refused("assemble", {"target": target, "x": tile(FP16, 8, 8)}, at=(0, 0)).rule.code == "PS3002"
    index = sym(Sym("i", "loop", 0, 4))
    assert refused("assemble", {"target": target, "x": tile(FP32, 8, 8)}, at=(0, index)).rule.code == "PS3005"
    partial = tile(FP32, 8, 8, valid=(3, 8))
    assert "fillpad" in refused("assemble", {"target": target, "x": partial}, at=(0, 0)).helps[0]


# --- concat ---------------------------------------------------------------------------------------------------------


def test_concat_puts_columns_behind_columns() -> None:
    inputs = {"lhs": torch.tensor([[1, 2], [3, 4]]), "rhs": torch.tensor([[5], [6]])}
    assert OPS["concat"].torch(torch, inputs, {}).tolist() == [[1, 2, 5], [3, 4, 6]]


@pytest.mark.parametrize(("left", "right"), [(8, 4), (5, 6), (1, 7), (7, 1), (1, 1), (16, 16)])
def test_concat_recipe(left: int, right: int) -> None:
    op = make("concat", {"lhs": tile(INT32, 9, left), "rhs": tile(INT32, 9, right)})
    memory = {
        name: filled(1, 9, 16, first) if width == 1 else filled(9, width, -(-width // 8) * 8, first)
        for name, width, first in (("lhs", left, 0), ("rhs", right, 900))
    }
    made = run(op, **memory)
    expected = [[r * left + c for c in range(left)] + [900 + r * right + c for c in range(right)] for r in range(9)]
    assert rows(made, 9, left + right, -(-(left + right) // 8) * 8) == expected


def test_concat_refusals_and_valid_extent() -> None:
    assert refused("concat", {"lhs": tile(FP32, 8, 8), "rhs": tile(FP32, 4, 8)}).rule.code == "PS3001"
    assert refused("concat", {"lhs": tile(INT8, 8, 8), "rhs": tile(INT8, 8, 8)}).rule.code == "PS3005"
    hole = tile(FP32, 8, 8, valid=(8, 5))
    assert "hole" in refused("concat", {"lhs": hole, "rhs": tile(FP32, 8, 8)}).message
    made = infer("concat", {"lhs": tile(FP32, 8, 8), "rhs": hole})
    assert isinstance(made, TileType)
    assert made.valid == (8, 13)


def test_every_access_is_declared() -> None:
    op = make("concat", {"lhs": tile(INT32, 9, 5), "rhs": tile(INT32, 9, 6)})
    from pypto_spec.ops.instructions import effects

    for found in effects(recipe(op), dtype_of(op), memory_of(op)):
        assert found is not None
        assert found.regions
