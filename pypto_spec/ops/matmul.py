"""Products of matrices on the cube: matmul, matmul_acc, matmul_bias and the GEMV forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.expr import Index, bounds, minimum, sub, to_text
from pypto_spec.ir.instr import Step
from pypto_spec.ir.opdef import Field, Inference, OpDef, Recipe
from pypto_spec.ir.types import Memory, TileType, ValueType
from pypto_spec.ops.build import INTO, check_dtype, no_scratch, same_dtype, shape_text, torch_dtype, two_axes
from pypto_spec.ops.cube.leaving import FINAL, PHASE, flag_of, is_distance
from pypto_spec.ops.cube.mmad import ACCUMULATOR, MAX_EXTENT, OPERANDS, mmad
from pypto_spec.ops.matmul_arrays import infer_arrays
from pypto_spec.ops.registry import define

LHS = Field(name="lhs", kind="tile", doc="left operand [M, K]", examples=("a",))
RHS = Field(name="rhs", kind="tile", doc="right operand [K, N], of the same dtype", examples=("b",))
ACC = Field(name="acc", kind="tile", doc="the accumulator [M, N] to add to, changed in place", examples=("c",))
BIAS = Field(name="bias", kind="tile", doc="one row [1, N] of the accumulator's dtype", examples=("d",))
INIT = Field(
    name="init",
    kind="condition",
    doc="when to start from zero instead of adding to `acc`",
    required=False,
    examples=("k == 0",),
)
A_TRANS = Field(name="a_trans", kind="flag", doc="`lhs` is [K, M] (whole arrays only)", required=False, default=False)
B_TRANS = Field(name="b_trans", kind="flag", doc="`rhs` is [N, K] (whole arrays only)", required=False, default=False)
DTYPE = Field(
    name="dtype",
    kind="dtype",
    doc="dtype of the result (whole arrays only); by default the accumulator's, fp32 or int32",
    required=False,
)

SPACES: Mapping[str, tuple[Memory, ...]] = {
    "into": (Memory.ACC,),
    "lhs": (Memory.LEFT,),
    "rhs": (Memory.RIGHT,),
    "acc": (Memory.ACC,),
    "bias": (Memory.BIAS,),
}


def _infer(vector: bool, inference: Inference) -> ValueType:
    if not vector and not isinstance(inference.type("lhs"), TileType):
        return infer_arrays(inference)
    lhs, rhs = two_axes(inference, "lhs", "rhs")
    for field in ("a_trans", "b_trans", "dtype"):
        if not vector and any(f.name == field for f in inference.defn.fields) and inference.attr(field):
            name = inference.operands["lhs" if field == "a_trans" else "rhs"].name
            raise inference.fail(
                rules.LEVEL_MIX,
                f"`{field}` is for products of whole arrays",
                field,
                helps=(
                    "accumulators are rounded as they leave `acc`: leave `dtype` out"
                    if field == "dtype"
                    else f"see the tile with its axes exchanged: `- transpose_view: {{into: {name}_t, x: {name}}}`",
                ),
            )
    check_dtype(inference, lhs.dtype, "lhs")
    same_dtype(inference, "lhs", "rhs")
    _check_extents(inference, lhs, rhs, vector)
    acc = ACCUMULATOR[lhs.dtype]
    shape = (lhs.rows, rhs.cols)
    valid: tuple[Index, Index] = (_valid(lhs)[0], _valid(rhs)[1])
    made = TileType(acc, shape, Memory.ACC, valid=None if valid == shape else valid)
    if "acc" in inference.operands:
        _check_acc(inference, made)
        made = _added(inference, made)
    if "bias" in inference.operands:
        _check_bias(inference, made)
    _check_final(inference)
    return made


def _check_final(inference: Inference) -> None:
    """A unit flag known at run time only is computed from indices."""
    final = inference.attr("final")
    if final is None:
        return
    if inference.attr("phase") != "partial":
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            "`final` says when a `phase: partial` is the last one after all",
            "final",
            helps=("write `phase: partial` beside it, or leave `final` out",),
        )
    if not is_distance(final):
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            "`final` is one `==`, or several joined by `and`",
            "final",
            helps=("compare the index with its last value, such as `k == 448`",),
        )


def _added(inference: Inference, made: TileType) -> TileType:
    """The type of a sum, which is defined where both are."""
    acc = inference.type("acc")
    assert isinstance(acc, TileType)
    if acc.valid is None:
        return made
    both = tuple(minimum(one, other) for one, other in zip(acc.valid, _valid(made), strict=True))
    return replace(made, valid=None if both == made.shape else both)


def _valid(tile: TileType) -> tuple[Index, Index]:
    return (tile.rows, tile.cols) if tile.valid is None else (tile.valid[0], tile.valid[1])


def _check_extents(inference: Inference, lhs: TileType, rhs: TileType, vector: bool) -> None:
    left, right = (inference.operands[f].name for f in ("lhs", "rhs"))
    if lhs.cols != rhs.rows:
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"`{inference.defn.name}` of {shape_text(lhs.shape)} `{left}` and {shape_text(rhs.shape)} `{right}`: "
            f"the {lhs.cols} columns of the left one must be the {rhs.rows} rows of the right one",
            "rhs",
            label=f"{rhs.rows} rows here, {lhs.cols} columns in `{left}`",
            helps=(_mismatch_help(lhs, rhs, left, right),),
        )
    _check_depth(inference, lhs, rhs)
    if vector and lhs.rows != 1:
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"`{inference.defn.name}` takes one row [1, K] as `lhs`; `{left}` is {shape_text(lhs.shape)}",
            "lhs",
            helps=(f"use `{inference.defn.name.replace('gemv', 'matmul')}`",),
        )
    for name, extent in (("M", lhs.rows), ("N", rhs.cols), ("K", lhs.cols)):
        if extent > MAX_EXTENT and lhs.memory is Memory.LEFT and rhs.memory is Memory.RIGHT:
            raise inference.fail(
                rules.SHAPE_MISMATCH,
                f"{name} of one product is {extent}; the cube takes {MAX_EXTENT} at most",
                "rhs" if name == "N" else "lhs",
                helps=("do it in a loop over blocks, with `matmul_acc` where it is K that is divided",),
            )


def _check_depth(inference: Inference, lhs: TileType, rhs: TileType) -> None:
    """Refuse columns of the left operand that are valid and meet rows of the right one that may not be."""
    left, right = (inference.operands[f].name for f in ("lhs", "rhs"))
    have, need = _valid(rhs)[0], _valid(lhs)[1]
    least = bounds(sub(have, need))[0]
    if have == rhs.rows or (least is not None and least >= 0):
        return
    raise inference.fail(
        rules.SHAPE_MISMATCH,
        f"{to_text(need)} columns of `{left}` are valid and {to_text(have)} rows of `{right}`: "
        "each column must meet a row that is",
        "rhs",
        label=f"{to_text(have)} rows here, {to_text(need)} columns in `{left}`",
        helps=(f"load `{left}` with `valid: [{to_text(_valid(lhs)[0])}, {to_text(have)}]`",),
    )


def _mismatch_help(lhs: TileType, rhs: TileType, left: str, right: str) -> str:
    if lhs.cols == rhs.cols:
        return f"if `{right}` is stored [N, K], see it transposed: `- transpose_view: {{into: {right}_t, x: {right}}}`"
    if lhs.rows == rhs.rows:
        return f"if `{left}` is stored [K, M], see it transposed: `- transpose_view: {{into: {left}_t, x: {left}}}`"
    return "load windows whose inner extents agree"


def _check_acc(inference: Inference, made: TileType) -> None:
    (acc,) = two_axes(inference, "acc")
    name, dtype = inference.operands["acc"].name, inference.type("lhs").dtype
    if acc.dtype is not made.dtype:
        raise inference.fail(
            rules.DTYPE_MISMATCH,
            f"the accumulator `{name}` is {acc.dtype}; products of {dtype} add up in {made.dtype}",
            "acc",
            helps=(f"create it as {made.dtype}",),
        )
    if acc.shape != made.shape:
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"the accumulator `{name}` is {shape_text(acc.shape)}, the product {shape_text(made.shape)}",
            "acc",
            label=shape_text(acc.shape),
            helps=(f"create it as {shape_text(made.shape)}",),
        )


def _check_bias(inference: Inference, made: TileType) -> None:
    (bias,) = two_axes(inference, "bias")
    name = inference.operands["bias"].name
    if bias.dtype is not made.dtype:
        raise inference.fail(
            rules.DTYPE_MISMATCH,
            f"the bias `{name}` is {bias.dtype}; it is added to accumulators, which are {made.dtype}",
            "bias",
            helps=(f"declare its tensor as {made.dtype}",),
        )
    if bias.shape != (1, made.cols):
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"the bias `{name}` is {shape_text(bias.shape)}, one row of the product is [1, {made.cols}]",
            "bias",
            helps=(f"load it as one row: `shape: [1, {made.cols}]`",),
        )


# --- recipes and meaning --------------------------------------------------------------------------------------------


def _recipe(of: Recipe) -> tuple[Step, ...]:
    init: Any = not of.has("acc")
    if of.has("acc") and of.attr("init") is not None:
        init = of.attr("init")
    flag = flag_of(of.attr("phase"), of.attr("final"))
    return tuple(mmad(of.tile("lhs"), of.tile("rhs"), init=init, bias=of.has("bias"), unit_flag=flag))


def product(torch: Any, lhs: Any, rhs: Any) -> Any:
    """The product in the accumulator's dtype; of fp32 operands exact products are summed with more than its bits."""
    if not lhs.dtype.is_floating_point:
        return torch.matmul(lhs.to(torch.int64), rhs.to(torch.int64)).to(torch.int32)
    return torch.matmul(lhs.to(torch.float64), rhs.to(torch.float64)).to(torch.float32)


def _meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    lhs, rhs = inputs["lhs"], inputs["rhs"]
    lhs = lhs.transpose(-1, -2) if attrs.get("a_trans") else lhs
    rhs = rhs.transpose(-1, -2) if attrs.get("b_trans") else rhs
    made = product(torch, lhs, rhs)
    if "bias" in inputs:
        made = made + inputs["bias"]
    if "acc" in inputs and not attrs.get("init"):
        made = made + inputs["acc"]
    dtype = attrs.get("dtype")
    return made if dtype is None else made.to(torch_dtype(torch, dtype))


def _define(name: str, doc: str, fields: tuple[Field, ...], example: str, function: str | None = None) -> None:
    vector = name.startswith("gemv")
    names = {f.name for f in fields}
    define(
        OpDef(
            name=name,
            family="matmul",
            doc=doc,
            fields=(*fields, PHASE, FINAL),
            role="matmul",
            pipe="m",
            infer=partial(_infer, vector),
            dtypes=OPERANDS,
            dtype_of="lhs",
            torch=_meaning,
            recipe=_recipe,
            scratch=no_scratch,
            spaces={field: spaces for field, spaces in SPACES.items() if field in names},
            reuses="acc" if "acc" in names else None,
            function=function,
            example=example,
        )
    )


_FORMS: tuple[tuple[str, tuple[Field, ...], str, str], ...] = (
    ("", (INTO, LHS, RHS), "{}, in a new accumulator", "into: c, lhs: a, rhs: b"),
    ("_acc", (INTO, ACC, LHS, RHS, INIT), "{}, added to an accumulator", "into: c, acc: c, lhs: a, rhs: b"),
    ("_bias", (INTO, LHS, RHS, BIAS), "{}, with a bias added to each row", "into: c, lhs: a, rhs: b, bias: d"),
)

for _suffix, _fields, _doc, _example in _FORMS:
    _more = (A_TRANS, B_TRANS, DTYPE) if not _suffix else ()
    _define(
        f"matmul{_suffix}",
        _doc.format("the product of two matrices"),
        (*_fields, *_more),
        f"- matmul{_suffix}: {{{_example}}}",
        "matmul" if not _suffix else None,
    )
for _suffix, _fields, _doc, _example in _FORMS:
    _define(
        f"gemv{_suffix}",
        _doc.format("the product of one row and a matrix, by the cube's vector form"),
        _fields,
        f"- gemv{_suffix}: {{{_example}}}",
    )
