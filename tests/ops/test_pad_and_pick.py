"""fillpad, set_validshape, transpose, gather, gather_mask and tri: values written by hand, refusals, recipes."""

from __future__ import annotations

from typing import Any

import pytest

from pypto_spec.ir.dtype import BF16, FP16, FP32, INT8, INT16, INT32, UINT16, DType
from pypto_spec.ir.expr import Sym, sym
from pypto_spec.ir.types import TileType
from pypto_spec.ops.pad import pad_value
from pypto_spec.ops.registry import OPS
from tests.ops.making import infer, make, recipe, refused, scratch, text, tile
from tests.ops.test_rearrange import filled, rows, run

torch: Any = pytest.importorskip("torch")
INF = float("inf")


# --- fillpad --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pad", "expected"),
    [("zero", [[1, 2, 0], [0, 0, 0]]), ("min", [[1, 2, -INF], [-INF] * 3]), ("max", [[1, 2, INF], [INF] * 3])],
)
def test_fillpad_keeps_the_valid_part(pad: str, expected: list[list[float]]) -> None:
    x = torch.tensor([[1.0, 2.0, float("nan")], [float("nan")] * 3])
    for name in ("fillpad", "fillpad_inplace"):
        assert OPS[name].torch(torch, {"x": x}, {"pad": pad, "valid": (1, 2)}).tolist() == expected


def test_fillpad_expand_puts_the_valid_part_into_the_corner() -> None:
    x = torch.tensor([[1, 2]], dtype=torch.int32)
    made = OPS["fillpad_expand"].torch(torch, {"x": x}, {"pad": "max", "shape": (2, 3), "valid": (1, 1)})
    top = 2**31 - 1
    assert made.tolist() == [[1, top, top], [top] * 3]


@pytest.mark.parametrize(
    ("dtype", "low", "high"), [(FP32, -INF, INF), (INT16, -32768, 32767), (UINT16, 0, 65535), (BF16, -INF, INF)]
)
def test_a_pad_is_what_no_element_is_beyond(dtype: DType, low: float, high: float) -> None:
    assert (pad_value("zero", dtype), pad_value("min", dtype), pad_value("max", dtype)) == (0, low, high)


def test_fillpad_is_a_fill_and_a_copy_of_the_valid_lanes() -> None:
    op = make("fillpad", {"x": tile(INT16, 3, 20, valid=(2, 5))}, pad="min")
    assert text(recipe(op)).splitlines() == [
        "Duplicate(into:int16, -32768:int16, 96)",
        "Or(into:int16, x:int16, x:int16, 5, 2, BinaryRepeatParams(1, 1, 1, 2, 2, 2))",
    ]


def test_lengths_known_at_run_time_reach_the_calls() -> None:
    index = sym(Sym("i", "loop", 0, 9))
    by_rows = text(recipe(make("fillpad", {"x": tile(FP32, 8, 16, valid=(index, 16))}, pad="zero")))
    assert by_rows.splitlines()[-1].startswith("Duplicate(into:fp32[")
    by_cols = text(recipe(make("fillpad", {"x": tile(FP32, 2, 16, valid=(2, index))}, pad="zero")))
    assert by_cols.count("Or(") == 2


def test_in_place_writes_only_whole_rows_behind_the_last_valid_one() -> None:
    op = make("fillpad_inplace", {"x": tile(FP32, 8, 16, valid=(5, 16))}, pad="max")
    assert scratch(op) == ()
    assert text(recipe(op)) == "Duplicate(into:uint32[80], 2139095040:uint32, 48)"
    assert recipe(make("fillpad_inplace", {"x": tile(FP32, 8, 16)}, pad="max")) == ()
    assert scratch(make("fillpad_inplace", {"x": tile(FP32, 8, 16, valid=(5, 3))}, pad="max")) == (512,)


def test_fillpad_refusals() -> None:
    assert refused("fillpad", {"x": tile(INT8, 8, 32)}, pad="zero").rule.code == "PS3003"
    assert refused("fillpad_expand", {"x": tile(FP32, 8, 32)}, shape=(8, 16), pad="zero").rule.code == "PS3001"
    assert refused("fillpad_expand", {"x": tile(FP32, 8, 1)}, shape=(8, 16), pad="zero").rule.code == "PS3007"


# --- set_validshape -------------------------------------------------------------------------------------------------


def test_set_validshape_says_what_is_valid() -> None:
    made = infer("set_validshape", {"x": tile(FP32, 8, 16)}, valid=(3, 16))
    assert made == tile(FP32, 8, 16, valid=(3, 16))
    assert infer("set_validshape", {"x": tile(FP32, 8, 16)}, valid=(8, 16)) == tile(FP32, 8, 16)


@pytest.mark.parametrize("valid", [(9, 16), (0, 16), (8, 17)])
def test_set_validshape_stays_inside(valid: tuple[int, int]) -> None:
    assert refused("set_validshape", {"x": tile(FP32, 8, 16)}, valid=valid).rule.code == "PS3004"
    assert refused("set_validshape", {"x": tile(FP32, 8, 16, valid=(4, 16))}, valid=(5, 16)).rule.code == "PS3004"


# --- transpose ------------------------------------------------------------------------------------------------------


def test_transpose_means_columns_as_rows() -> None:
    x = torch.tensor([[1, 2, 3], [4, 5, 6]])
    assert OPS["transpose"].torch(torch, {"x": x}, {}).tolist() == [[1, 4], [2, 5], [3, 6]]


@pytest.mark.parametrize("shape", [(3, 5), (9, 16), (16, 2), (1, 7), (7, 1), (70, 9)])
def test_transpose_recipe(shape: tuple[int, int]) -> None:
    count, width = shape
    op = make("transpose", {"x": tile(INT32, *shape)})
    made = run(op, x=filled(1, count, count + 8) if width == 1 else filled(*shape, -(-width // 8) * 8))
    expected = [[r * width + c for r in range(count)] for c in range(width)]
    if count == 1:
        assert made[:width] == list(range(width))
    else:
        assert rows(made, width, count, -(-count // 8) * 8) == expected


@pytest.mark.parametrize("shape", [(16, 16), (3, 5), (33, 20), (20, 33)])
def test_transpose_of_16_bits_goes_by_blocks(shape: tuple[int, int]) -> None:
    count, width = shape
    op = make("transpose", {"x": tile(INT16, *shape)})
    assert {line.split("(")[0] for line in text(recipe(op)).splitlines()} == {"DataCopy", "Transpose"}
    made = run(op, x=filled(*shape, -(-width // 16) * 16))
    expected = [[r * width + c for r in range(count)] for c in range(width)]
    assert rows(made, width, count, -(-count // 16) * 16) == expected


def test_a_large_transpose_of_16_bits_is_gathered() -> None:
    assert "Gather" in text(recipe(make("transpose", {"x": tile(INT16, 256, 128)})))


def test_transpose_turns_the_valid_extent() -> None:
    made = infer("transpose", {"x": tile(FP16, 8, 16, valid=(3, 9))})
    assert isinstance(made, TileType)
    assert (made.shape, made.valid) == ((16, 8), (9, 3))
    assert refused("transpose", {"x": tile(INT8, 8, 32)}).rule.code == "PS3003"


# --- gather ---------------------------------------------------------------------------------------------------------


def test_gather_picks_by_number_in_each_row() -> None:
    inputs = {"x": torch.tensor([[10, 20, 30], [40, 50, 60]]), "index": torch.tensor([[2, 0], [1, 1]])}
    assert OPS["gather"].torch(torch, inputs, {}).tolist() == [[30, 10], [50, 50]]


@pytest.mark.parametrize(("count", "width", "picked"), [(3, 9, 5), (6, 9, 8), (9, 10, 1), (1, 4, 20)])
def test_gather_recipe(count: int, width: int, picked: int) -> None:
    op = make("gather", {"x": tile(INT32, count, width), "index": tile(INT32, count, picked)})
    index = [[(3 * r + 5 * c) % width for c in range(picked)] for r in range(count)]
    pitch = 1 if picked == 1 < count else -(-picked // 8) * 8
    laid = [v for row in index for v in [*row, *[None] * (pitch - picked)]]
    made = run(op, x=filled(count, width, -(-width // 8) * 8), index=laid + [None] * 8)
    assert rows(made, count, picked, pitch) == [[r * width + c for c in index[r]] for r in range(count)]


def test_gather_refusals() -> None:
    x, index = tile(FP32, 8, 16), tile(INT32, 8, 4)
    assert refused("gather", {"x": x, "index": tile(INT16, 8, 4)}).rule.code == "PS3002"
    assert refused("gather", {"x": x, "index": tile(INT32, 4, 4)}).rule.code == "PS3001"
    assert refused("gather", {"x": tile(FP32, 8, 1), "index": index}).rule.code == "PS3001"
    partial = tile(INT32, 8, 4, valid=(sym(Sym("n", "loop", 1, 8)), 4))
    assert refused("gather", {"x": x, "index": partial}).rule.code == "PS3010"


# --- gather_mask ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("p0101", [0, 2, 4, 6]),
        ("p1010", [1, 3, 5, 7]),
        ("p0001", [0, 4]),
        ("p0010", [1, 5]),
        ("p0100", [2, 6]),
        ("p1000", [3, 7]),
        ("p1111", list(range(8))),
    ],
)
def test_gather_mask_patterns(pattern: str, expected: list[int]) -> None:
    assert OPS["gather_mask"].torch(torch, {"x": torch.arange(8)[None]}, {"pattern": pattern}).tolist() == [expected]
    op = make("gather_mask", {"x": tile(INT32, 2, 8)}, pattern=pattern)
    made = run(op, x=filled(2, 8, 8))
    second = [8 + n for n in expected]
    assert rows(made, 2, len(expected), 8) == [expected, second]


def test_gather_mask_of_partly_valid_columns() -> None:
    made = infer("gather_mask", {"x": tile(FP32, 8, 16, valid=(8, 6))}, pattern="p0010")
    assert isinstance(made, TileType)
    assert made.valid == (8, 2)
    nothing = tile(FP32, 8, 16, valid=(8, 3))
    assert refused("gather_mask", {"x": nothing}, pattern="p1000").rule.code == "PS3001"
    assert refused("gather_mask", {"x": tile(FP32, 8, 6)}, pattern="p1000").rule.code == "PS3001"


# --- tri ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "diagonal", "expected"),
    [
        ("lower", 0, [[1, 0, 0], [1, 1, 0]]),
        ("lower", 1, [[1, 1, 0], [1, 1, 1]]),
        ("upper", 0, [[1, 1, 1], [0, 1, 1]]),
        ("upper", 9, [[0, 0, 0], [0, 0, 0]]),
        ("lower", -1, [[0, 0, 0], [1, 0, 0]]),
    ],
)
def test_tri(part: str, diagonal: int, expected: list[list[int]]) -> None:
    attrs: dict[str, Any] = {"shape": (2, 3), "dtype": INT32, "diagonal": diagonal, "part": part}
    assert OPS["tri"].torch(torch, {}, attrs).tolist() == expected
    assert rows(run(make("tri", {}, **attrs)), 2, 3, 8) == expected


def test_tri_refusals() -> None:
    assert refused("tri", {}, shape=(8, 2000), dtype=FP32).rule.code == "PS3001"
    assert refused("tri", {}, shape=(8, 8), dtype=FP32, diagonal=sym(Sym("i", "loop", 0, 4))).rule.code == "PS3010"
    assert refused("tri", {}, shape=(8, 8), dtype=UINT16).rule.code == "PS3003"
