"""Reductions: row_sum row_max row_min ([M, N] -> [M, 1]) and col_sum col_max col_min ([M, N] -> [1, N]).

The recipes are in `reduce_rows`, `reduce_cols` and `reduce_ints`. fp16 sums accumulate in fp32 and are rounded once
(hardware rule 8); int32 sums wrap around; max and min are exact in every dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.dtype import FP16, FP32, INT32, DType
from pypto_spec.ir.expr import Index
from pypto_spec.ir.instr import Ref, Step
from pypto_spec.ir.opdef import Inference, OpDef, Recipe
from pypto_spec.ir.types import Layout, TileType, ValueType
from pypto_spec.ops.build import INTO, NUMERIC, X, check_dtype, fresh, in_vec, shape_text, shaped
from pypto_spec.ops.reduce_cols import reduce_cols, sum_cols_wide
from pypto_spec.ops.reduce_ints import reduce_int_rows
from pypto_spec.ops.reduce_rows import reduce_rows, sum_rows_wide
from pypto_spec.ops.reduce_steps import Draft, Grid, Kind, cast_run, copy_run
from pypto_spec.ops.registry import define

Axis = Literal["row", "col"]


def infer_reduction(axis: Axis) -> Callable[[Inference], ValueType]:
    """The shape rule of a reduction along an axis."""

    def infer(inference: Inference) -> ValueType:
        (x,) = shaped(inference, "x")
        check_dtype(inference, x.dtype, "x")
        if len(x.shape) < 2:
            name = inference.operands["x"].name
            raise inference.fail(
                rules.SHAPE_MISMATCH,
                f"`{inference.defn.name}` needs rows and columns, `{name}` is {shape_text(x.shape)}",
                "x",
                label="one dimension",
                helps=(f"make it a row first: `- reshape: {{into: {name}_row, x: {name}, shape: [1, {x.shape[0]}]}}`",),
            )
        valid = x.valid if isinstance(x, TileType) else None
        along = -1 if axis == "row" else -2
        return fresh(x, shape=_reduced(x.shape, along), valid=None if valid is None else _reduced(valid, along))

    return infer


def _reduced(extent: tuple[Any, ...], along: int) -> tuple[Any, ...]:
    return tuple(1 if i == len(extent) + along else e for i, e in enumerate(extent))


# --- recipes --------------------------------------------------------------------------------------------------------


def defined(tile: TileType) -> tuple[int, int, Index | None]:
    """Rows and columns to work on, and the run-time number of defined rows where it is one.

    Of a run-time number of elements along the axis that is joined FillReductionTails has made a whole axis.
    """
    if tile.valid is None:
        return tile.rows, tile.cols, None
    rows, cols = tile.valid[-2:]
    assert isinstance(cols, int)
    return (rows, cols, None) if isinstance(rows, int) else (tile.rows, cols, rows)


def _widened(draft: Draft, x: TileType, kind: Kind) -> tuple[Ref, DType]:
    """The operand; a product of fp16 is made of a copy of it in fp32."""
    if x.dtype != FP16 or kind != "prod":
        return Ref("x"), x.dtype
    copy = draft.area(x.span_elements, FP32)
    draft.add(cast_run(copy, Ref("x"), "CAST_NONE", x.span_elements))
    return copy, FP32


def _rows(of: Recipe, kind: Kind) -> Draft:
    x = of.tile("x")
    draft = Draft()
    rows, cols, draft.live = defined(x)
    if x.order is Layout.DN:
        draft.add(copy_run(Ref("into"), Ref("x"), rows, x.dtype))
        return draft
    source, dtype = _widened(draft, x, kind)
    grid = Grid(source, dtype, rows, cols, x.row_pitch)
    _narrowed(draft, kind, grid, x.dtype)
    return draft


def _narrowed(draft: Draft, kind: Kind, grid: Grid, dtype: DType) -> None:
    """The reductions of the grid's rows in the dtype of the result."""
    if dtype == grid.dtype:
        _reduce(draft, kind, grid, Ref("into"))
        return
    totals = draft.area(grid.rows, grid.dtype)
    _reduce(draft, kind, grid, totals)
    draft.add(cast_run(Ref("into"), totals, "CAST_RINT", grid.rows))


def _reduce(draft: Draft, kind: Kind, grid: Grid, into: Ref) -> None:
    if grid.dtype == INT32 or kind == "prod":
        reduce_int_rows(draft, kind, grid, into)
    elif grid.dtype == FP16 and kind == "sum":
        sum_rows_wide(draft, grid, into)
    else:
        reduce_rows(draft, kind, grid, into)


def _cols(of: Recipe, kind: Kind) -> Draft:
    x = of.tile("x")
    draft = Draft()
    if x.order is Layout.DN:
        # One dense column is one dense row: its reduction is a row reduction with one result.
        rows = x.rows if x.valid is None else x.valid[-2]
        assert isinstance(rows, int)
        source, dtype = _widened(draft, x, kind)
        _narrowed(draft, kind, Grid(source, dtype, 1, rows, rows), x.dtype)
        return draft
    # Lanes past the valid columns flow lane by lane only.
    whole = x if x.valid is None else replace(x, valid=(x.valid[-2], x.cols))
    rows, cols, _ = defined(whole)
    source, dtype = _widened(draft, x, kind)
    grid = Grid(source, dtype, rows, cols, x.row_pitch)
    if dtype != x.dtype:
        totals = draft.area(cols, dtype)
        reduce_cols(draft, kind, grid, totals)
        draft.add(cast_run(Ref("into"), totals, "CAST_RINT", cols))
    elif x.dtype == FP16 and kind == "sum":
        sum_cols_wide(draft, grid, Ref("into"))
    else:
        reduce_cols(draft, kind, grid, Ref("into"))
    return draft


def _recipe(axis: Axis, kind: Kind) -> Callable[[Recipe], tuple[Step, ...]]:
    draft = _rows if axis == "row" else _cols
    return lambda of: tuple(draft(of, kind).steps)


def _scratch(axis: Axis, kind: Kind) -> Callable[[Recipe], tuple[int, ...]]:
    draft = _rows if axis == "row" else _cols
    return lambda of: tuple(draft(of, kind).areas)


# --- meaning --------------------------------------------------------------------------------------------------------


def _meaning(axis: Axis, kind: Kind) -> Callable[[Any, Mapping[str, Any], Mapping[str, Any]], Any]:
    along = -1 if axis == "row" else -2

    def meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
        x = inputs["x"]
        if kind == "prod":
            wide = x.to(torch.float32) if x.dtype == torch.float16 else x
            return wide.prod(dim=along, keepdim=True, dtype=wide.dtype).to(x.dtype)
        if kind != "sum":
            return (torch.amax if kind == "max" else torch.amin)(x, dim=along, keepdim=True)
        if x.dtype == torch.float16:
            return x.to(torch.float32).sum(dim=along, keepdim=True).to(torch.float16)
        return x.sum(dim=along, keepdim=True, dtype=x.dtype)

    return meaning


_NOTES: dict[Kind, str] = {
    "sum": " fp16 adds up in fp32 and rounds once.",
    "prod": " fp16 is multiplied in fp32 and rounded once; int32 wraps around.",
}


def define_reduction(axis: Axis, kind: Kind, word: str, family: str) -> None:
    """Add one reduction to the table."""
    name = f"{axis}_{kind}"
    line, result = ("row", "[M, 1]") if axis == "row" else ("column", "[1, N]")
    define(
        OpDef(
            name=name,
            family=family,
            doc=f"the {word} of each {line}: [M, N] becomes {result}.{_NOTES.get(kind, '')}",
            fields=(INTO, X),
            role="row_reduce" if axis == "row" else "col_reduce",
            pipe="v",
            infer=infer_reduction(axis),
            dtypes=NUMERIC,
            dtype_of="x",
            torch=_meaning(axis, kind),
            recipe=_recipe(axis, kind),
            scratch=_scratch(axis, kind),
            spaces=in_vec("into", "x"),
            no_alias=frozenset({"x"}),
            function=name,
            example=f"- {name}: {{into: r, x: t}}",
        )
    )


_WORDS: dict[Kind, str] = {"sum": "sum", "max": "largest element", "min": "smallest element"}

_AXES: tuple[Axis, ...] = ("row", "col")

for _axis in _AXES:
    for _kind, _word in _WORDS.items():
        define_reduction(_axis, _kind, _word, "reduce")
