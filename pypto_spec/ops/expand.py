"""Expands: a vector spread over a tile, `row_expand_*` with v [M, 1] and `col_expand_*` with v [1, N].

`row_expand` and `col_expand` spread a vector by itself. The recipes are in `expand_steps`. The result may take the
place of `x`; it never shares a buffer with `v`, which is read again while the result is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.dtype import BF16, FP16, FP32, INT16, INT32, UINT16, UINT32, DType
from pypto_spec.ir.expr import Index, minimum
from pypto_spec.ir.instr import Ref, Step
from pypto_spec.ir.opdef import Field, Inference, OpDef, Recipe
from pypto_spec.ir.types import Layout, TileType, ValueType
from pypto_spec.ops.build import (
    ARITHMETIC,
    FLOATS,
    INTO,
    Shaped,
    X,
    check_dtype,
    fresh,
    in_float32,
    in_vec,
    same_dtype,
    shape_text,
    shaped,
)
from pypto_spec.ops.expand_steps import (
    apply,
    apply_by_row,
    count_stretches,
    fill_cols,
    fill_rows,
    spread_cols,
    spread_one,
    spread_rows,
)
from pypto_spec.ops.reduce_steps import Draft, copy_run
from pypto_spec.ops.registry import define
from pypto_spec.ops.steps import Part, calls, part
from pypto_spec.records import dataclass

Axis = Literal["row", "col"]
MOVABLE = (FP32, FP16, BF16, INT32, INT16, UINT32, UINT16)
"""Dtypes that Brcb and Copy move: all of 16 and 32 bits."""

V: dict[Axis, Field] = {
    "row": Field(name="v", kind="tile", doc="[M, 1], one element for each row of x; or [1, 1]", examples=("r",)),
    "col": Field(name="v", kind="tile", doc="[1, N], one element for each column of x", examples=("c",)),
}


# --- shapes ---------------------------------------------------------------------------------------------------------


def _infer(axis: Axis) -> Callable[[Inference], ValueType]:
    def infer(inference: Inference) -> ValueType:
        x, v = shaped(inference, "x", "v")
        check_dtype(inference, x.dtype, "x")
        same_dtype(inference, "x", "v")
        ones = (1,) * (len(x.shape) - 1)
        wanted = (*x.shape[:-1], 1) if axis == "row" else (*ones, x.shape[-1])
        if len(x.shape) < 2 or v.shape not in (wanted, (*ones, 1) if axis == "row" else wanted):
            raise _wrong_vector(inference, axis, x, v, wanted)
        return fresh(x, valid=_valid(axis, x, v))

    return infer


def _valid(axis: Axis, x: Shaped, v: Shaped) -> tuple[Index, ...] | None:
    """Where both the tile and the vector are valid."""
    if not isinstance(x, TileType) or not isinstance(v, TileType):
        return None
    if x.valid is None and v.valid is None:
        return None
    mine, other = x.valid or x.shape, v.valid or v.shape
    if all(extent == 1 for extent in v.shape):
        return tuple(mine)
    if axis == "row":
        return (*(minimum(a, b) for a, b in zip(mine[:-1], other[:-1], strict=True)), mine[-1])
    return (*mine[:-1], minimum(mine[-1], other[-1]))


def _wrong_vector(inference: Inference, axis: Axis, x: Shaped, v: Shaped, wanted: tuple[int, ...]) -> Exception:
    name, vector = inference.operands["x"].name, inference.operands["v"].name
    rest = inference.defn.name.removeprefix(f"{axis}_expand_")
    other: Axis = "col" if axis == "row" else "row"
    helps: tuple[str, ...] = ()
    ones = (1,) * (len(x.shape) - 1)
    if v.shape == ((*ones, x.shape[-1]) if axis == "row" else (*x.shape[:-1], 1)):
        helps = (f"`{other}_expand_{rest}` spreads {shape_text(v.shape)} over {shape_text(x.shape)}",)
    elif v.shape == x.shape:
        helps = ("two operands of one shape need no expand: use the elementwise operator, or `let`",)
    return inference.fail(
        rules.SHAPE_MISMATCH,
        f"`{inference.defn.name}` spreads `v` of shape {shape_text(wanted)} over `{name}` {shape_text(x.shape)}; "
        f"`{vector}` is {shape_text(v.shape)}",
        "v",
        label=f"{shape_text(v.shape)} here, {shape_text(wanted)} needed",
        helps=helps,
    )


def _infer_spread(axis: Axis, width: str) -> Callable[[Inference], ValueType]:
    def infer(inference: Inference) -> ValueType:
        (x,) = shaped(inference, "x")
        check_dtype(inference, x.dtype, "x")
        count = inference.attr(width)
        at = -1 if axis == "row" else -2
        if len(x.shape) < 2 or x.shape[at] != 1:
            needed = "[M, 1]" if axis == "row" else "[1, N]"
            raise inference.fail(
                rules.SHAPE_MISMATCH,
                f"`{inference.defn.name}` spreads a vector {needed}; `{inference.operands['x'].name}` is "
                f"{shape_text(x.shape)}",
                "x",
                label=f"{needed} needed",
                helps=(
                    f"make one with `{'row' if axis == 'row' else 'col'}_sum` or its like, or cut it out with `slice`",
                ),
            )
        if not isinstance(count, int) or count < 1:
            raise inference.fail(
                rules.RUNTIME_EXTENT,
                f"`{width}` of `{inference.defn.name}` is {count}; tiles need a size from 1 up, known at compile time",
                width,
                helps=(f"write a number or a constant, and `valid` where fewer {width} are in use",),
            )
        valid = x.valid if isinstance(x, TileType) else None
        return fresh(x, shape=_with(x.shape, at, count), valid=None if valid is None else _with(valid, at, count))

    return infer


def _with(extent: tuple[Any, ...], at: int, count: int) -> tuple[Any, ...]:
    return tuple(count if i == len(extent) + at else e for i, e in enumerate(extent))


# --- recipes --------------------------------------------------------------------------------------------------------


def _expand(of: Recipe, axis: Axis, call: str, swapped: bool) -> Draft:
    x, v = of.tile("x"), of.tile("v")
    draft = Draft()
    if v.rows * v.cols == 1 < x.rows * x.cols:
        block = Part(spread_one(draft, x, "v").ref, x, block=True)
        _plain(draft, call, of, block, swapped)
    elif v.rows * v.cols == x.rows * x.cols:
        _plain(draft, call, of, Part(Ref("v"), x), swapped)
    elif axis == "row":
        spread = spread_rows(draft, x, "v")
        draft.add(*apply(call, x, spread, swapped))
    elif x.rows <= count_stretches(x):
        draft.add(*apply_by_row(call, x, "v", swapped))
    else:
        draft.add(*apply(call, x, spread_cols("v"), swapped))
    return draft


def _plain(draft: Draft, call: str, of: Recipe, vector: Part, swapped: bool) -> None:
    x = part(of, "x")
    draft.add(*calls(call, part(of, "into"), *((vector, x) if swapped else (x, vector))))


def _expdif(of: Recipe, axis: Axis) -> Draft:
    draft = _expand(of, axis, "Sub", False)
    into = part(of, "into")
    draft.add(*calls("Exp", into, into))
    return draft


def _spread(of: Recipe, axis: Axis) -> Draft:
    x, into = of.tile("x"), of.tile("into")
    draft = Draft()
    if x.rows * x.cols == into.rows * into.cols:
        draft.add(copy_run(Ref("into"), Ref("x"), x.span_elements, x.dtype))
    elif into.order is Layout.DN:
        # One element to a dense column: the column is one row.
        row = TileType(into.dtype, (1, into.rows), into.memory)
        fill_rows(draft, row, "x")
    elif axis == "row":
        fill_rows(draft, into, "x")
    else:
        fill_cols(draft, into, "x")
    return draft


# --- the table ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Row:
    suffix: str
    call: str
    torch: str
    text: str
    infix: str | None = None
    function: str | None = None
    dtypes: tuple[DType, ...] = ARITHMETIC
    swapped: bool = False


_TABLE = (
    _Row("add", "Add", "add", "x + v", infix="+"),
    _Row("sub", "Sub", "sub", "x - v", infix="-"),
    _Row("mul", "Mul", "mul", "x * v", infix="*"),
    _Row("div", "Div", "div", "x / v, correctly rounded", infix="/", dtypes=FLOATS),
    _Row("max", "Max", "maximum", "the larger of x and v", function="maximum"),
    _Row("min", "Min", "minimum", "the smaller of x and v", function="minimum"),
    _Row("rsub", "Sub", "sub", "v - x", infix="-", swapped=True),
    _Row("rdiv", "Div", "div", "v / x, correctly rounded", infix="/", dtypes=FLOATS, swapped=True),
)


def _meaning(name: str, swapped: bool) -> Callable[[Any, Mapping[str, Any], Mapping[str, Any]], Any]:
    def meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
        x = inputs["x"]
        v = inputs["v"].expand_as(x)
        return in_float32(torch, getattr(torch, name), *((v, x) if swapped else (x, v)))

    return meaning


def _expdif_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    x = inputs["x"]
    # Two instructions, two roundings.
    return in_float32(torch, torch.exp, in_float32(torch, torch.sub, x, inputs["v"].expand_as(x)))


def _spread_meaning(axis: Axis, width: str) -> Callable[[Any, Mapping[str, Any], Mapping[str, Any]], Any]:
    def meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
        x = inputs["x"]
        return x.expand(*_with(tuple(x.shape), -1 if axis == "row" else -2, attrs[width])).contiguous()

    return meaning


_Draft = Callable[[Recipe], Draft]


def _steps(draft: _Draft) -> Callable[[Recipe], tuple[Step, ...]]:
    return lambda of: tuple(draft(of).steps)


def _areas(draft: _Draft) -> Callable[[Recipe], tuple[int, ...]]:
    return lambda of: tuple(draft(of).areas)


def _define(axis: Axis, row: _Row) -> None:
    def draft(of: Recipe) -> Draft:
        return _expand(of, axis, row.call, row.swapped)

    name = f"{axis}_expand_{row.suffix}"
    fields = (INTO, V[axis], X) if row.swapped else (INTO, X, V[axis])
    written = ", ".join(f"{f.name}: {'y' if f is INTO else 't' if f is X else 'r'}" for f in fields)
    _one(
        axis,
        name,
        f"{row.text}, with v spread over {_LINES[axis]}",
        fields,
        row.dtypes,
        _meaning(row.torch, row.swapped),
        draft,
        _infer(axis),
        f"- {name}: {{{written}}}",
        "v",
        row.infix,
        row.function,
    )


def _one(
    axis: Axis,
    name: str,
    doc: str,
    fields: tuple[Field, ...],
    dtypes: tuple[DType, ...],
    torch: Callable[[Any, Mapping[str, Any], Mapping[str, Any]], Any],
    draft: _Draft,
    infer: Callable[[Inference], ValueType],
    example: str,
    keep: str,
    infix: str | None = None,
    function: str | None = None,
) -> None:
    define(
        OpDef(
            name=name,
            family="expand",
            doc=doc,
            fields=fields,
            role="row_expand" if axis == "row" else "col_expand",
            pipe="v",
            infer=infer,
            dtypes=dtypes,
            dtype_of="x",
            torch=torch,
            recipe=_steps(draft),
            scratch=_areas(draft),
            spaces=in_vec(*(f.name for f in fields if f.kind in ("bind", "tile"))),
            no_alias=frozenset({keep}),
            infix=infix,
            function=function,
            example=example,
        )
    )


_LINES: dict[Axis, str] = {"row": "the columns", "col": "the rows"}
_WIDTHS: dict[Axis, str] = {"row": "cols", "col": "rows"}


def _define_rest(axis: Axis) -> None:
    width = _WIDTHS[axis]
    _one(
        axis,
        f"{axis}_expand_expdif",
        f"exp(x - v), with v spread over {_LINES[axis]}",
        (INTO, X, V[axis]),
        FLOATS,
        _expdif_meaning,
        lambda of: _expdif(of, axis),
        _infer(axis),
        f"- {axis}_expand_expdif: {{into: y, x: t, v: r}}",
        "v",
    )
    shape, result = ("[M, 1]", "[M, cols]") if axis == "row" else ("[1, N]", "[rows, N]")
    size = Field(name=width, kind="expr", doc=f"{width} of the result, known at compile time", examples=(64,))
    _one(
        axis,
        f"{axis}_expand",
        f"a vector {shape} spread over {_LINES[axis]} of a tile {result}",
        (INTO, X, size),
        MOVABLE,
        _spread_meaning(axis, width),
        lambda of: _spread(of, axis),
        _infer_spread(axis, width),
        f"- {axis}_expand: {{into: y, x: r, {width}: 64}}",
        "x",
    )


_AXES: tuple[Axis, ...] = ("row", "col")
for _axis in _AXES:
    for _line in _TABLE:
        _define(_axis, _line)
    _define_rest(_axis)
