"""Where extreme elements are: row_argmax row_argmin ([M, N] -> [M, 1]) and col_argmax col_argmin ([M, N] -> [1, N]).

Results are int32, and among equal elements the first. Positions are kept in fp32, which holds them up to 2^24. NaN has
no place among the others: where there is one the result is any position.

* rows: WholeReduce gives value and position within each 256 B chunk of columns. Chunks are gone through in order; the
  best so far stays where it is not worse than that of the next chunk.
* columns: the same, row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.dtype import FP32, INT32, DType
from pypto_spec.ir.instr import Instr, Number, Ref, Word
from pypto_spec.ir.opdef import Inference, OpDef, Recipe
from pypto_spec.ir.types import ArrayType, TileType, ValueType, round_up
from pypto_spec.ops.build import FLOATS, INTO, X, fresh, in_vec
from pypto_spec.ops.compare_steps import GROUP, Comparison, mask_area, select
from pypto_spec.ops.reduce import Axis, defined, infer_reduction
from pypto_spec.ops.reduce_steps import (
    COMBINE,
    ONLY_VALUE,
    WHOLE,
    Draft,
    Grid,
    cast_run,
    combine_run,
    copy_run,
    shift,
    whole_shares,
)
from pypto_spec.ops.registry import define
from pypto_spec.ops.steps import Part

Extreme = Literal["max", "min"]

KEEPS: dict[Extreme, str] = {"max": "ge", "min": "le"}
"""How the best so far compares with the next where it stays."""
ONLY_INDEX = Word("ReduceOrder::ORDER_ONLY_INDEX")


def _line(ref: Ref, dtype: DType, length: int) -> Part:
    return Part(ref, TileType(dtype, (1, length)))


def _rows(of: Recipe, kind: Extreme) -> Draft:
    x = of.tile("x")
    draft = Draft()
    rows, cols, draft.live = defined(x)
    grid = Grid(Ref("x"), x.dtype, rows, cols, x.row_pitch)
    length = round_up(rows, GROUP)
    best, value = draft.area(length, x.dtype), draft.area(length, x.dtype)
    found, place, index = draft.area(length, INT32), draft.area(length, FP32), draft.area(length, FP32)
    mask = mask_area(draft, length)
    compared = Comparison(draft, KEEPS[kind], _line(best, x.dtype, length), _line(value, x.dtype, length))
    for chunk in range(grid.chunks):
        first = chunk * x.dtype.lanes
        _extremes(draft, kind, grid, first, value if chunk else best, found)
        draft.add(cast_run(place if chunk else index, found, "CAST_NONE", rows))
        if chunk:
            draft.add(Instr("Adds", (place, place, Number(float(first), FP32), rows)))
            compared.write(mask, (0, 0), rows)
            select(draft, index, mask, index, place, rows)
            draft.add(combine_run(COMBINE[kind], best, best, value, rows))
    draft.add(cast_run(Ref("into"), index, "CAST_RINT", rows))
    return draft


def _extremes(draft: Draft, kind: Extreme, grid: Grid, first: int, value: Ref, found: Ref) -> None:
    """Value and position of the extreme of one chunk of every row."""
    mask = min(grid.dtype.lanes, grid.cols - first)
    width = INT32.bytes // grid.dtype.bytes  # positions are 32-bit numbers, whatever the dtype of the tensor
    bits = Ref(found.name, 0, grid.dtype)
    for row, count in whole_shares(grid.rows, grid.dtype):
        source, repeats = grid.at(row, first), draft.defined(row, count)
        for target, order in ((shift(value, row), ONLY_VALUE), (shift(bits, row * width), ONLY_INDEX)):
            draft.add(Instr(WHOLE[kind], (target, source, mask, repeats, 1, 1, grid.step, order)))


def _cols(of: Recipe, kind: Extreme) -> Draft:
    x = of.tile("x")
    draft = Draft()
    rows = x.rows if x.valid is None else x.valid[-2]
    assert isinstance(rows, int)
    grid = Grid(Ref("x"), x.dtype, rows, x.cols, x.row_pitch)
    length = round_up(grid.cols, GROUP)
    best, index = draft.area(length, x.dtype), draft.area(length, FP32)
    mask = mask_area(draft, length)
    compared = Comparison(draft, KEEPS[kind], _line(best, x.dtype, length), Part(grid.ref, x))
    draft.add(copy_run(best, grid.ref, grid.cols, x.dtype), Instr("Duplicate", (index, Number(0.0, FP32), grid.cols)))
    for row in range(1, rows):
        compared.write(mask, (0, row * grid.pitch), grid.cols)
        select(draft, index, mask, index, Number(float(row), FP32), grid.cols)
        draft.add(combine_run(COMBINE[kind], best, best, grid.at(row), grid.cols))
    draft.add(cast_run(Ref("into"), index, "CAST_RINT", grid.cols))
    return draft


# --- shapes and meaning ---------------------------------------------------------------------------------------------


def _infer(axis: Axis) -> Callable[[Inference], ValueType]:
    reduced = infer_reduction(axis)

    def infer(inference: Inference) -> ValueType:
        made = reduced(inference)
        name = inference.operands["x"].name
        if not isinstance(made, TileType):
            assert isinstance(made, ArrayType)
            raise inference.fail(
                rules.LEVEL_MIX,
                f"`{inference.defn.name}` works on tiles, and `{name}` is a whole array",
                "x",
                label="a whole array",
                helps=(f"`load` tiles of `{name}` with all of the {'columns' if axis == 'row' else 'rows'} first",),
            )
        x = inference.type("x")
        assert isinstance(x, TileType)
        if axis == "row" and x.cols == 1 and x.rows > 1:
            raise inference.fail(
                rules.SHAPE_MISMATCH,
                f"`{inference.defn.name}` of one column, where every position is 0",
                "x",
                label=f"{x}",
                helps=(f"`col_{inference.defn.name[4:]}` finds the place in the column",),
            )
        return fresh(made, dtype=INT32, valid=made.valid)

    return infer


def _meaning(axis: Axis, kind: Extreme) -> Callable[[Any, Mapping[str, Any], Mapping[str, Any]], Any]:
    along = -1 if axis == "row" else -2

    def meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
        find = torch.argmax if kind == "max" else torch.argmin
        return find(inputs["x"], dim=along, keepdim=True).to(torch.int32)

    return meaning


def _define(axis: Axis, kind: Extreme) -> None:
    name = f"{axis}_arg{kind}"
    make = _rows if axis == "row" else _cols
    define(
        OpDef(
            name=name,
            family="arg",
            doc=f"the position of the {'largest' if kind == 'max' else 'smallest'} element of each "
            f"{'row' if axis == 'row' else 'column'}, int32; the first of equal ones. NaN gives any position",
            fields=(INTO, X),
            role="row_reduce" if axis == "row" else "col_reduce",
            pipe="v",
            infer=_infer(axis),
            dtypes=FLOATS,
            dtype_of="x",
            torch=_meaning(axis, kind),
            recipe=lambda of: tuple(make(of, kind).steps),
            scratch=lambda of: tuple(make(of, kind).areas),
            spaces=in_vec("into", "x"),
            no_alias=frozenset({"x"}),
            function=name,
            example=f"- {name}: {{into: r, x: t}}",
        )
    )


for _axis in ("row", "col"):
    _define(_axis, "max")
    _define(_axis, "min")
