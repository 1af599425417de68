"""Comparisons and choices: cmp cmps (bits), sel sels (choice by bits), select selects (both in one).

A predicate is a uint8 tile, one bit an element, the lowest bit first; a row of N columns takes ceil(N / 8) bytes, which
are the valid ones, of roundup(ceil(N / 8), 32). The bits behind the last column in its byte hold nothing defined.

`select` is what `where(a > b, x, y)` becomes: it keeps its bits in scratch, without rows, so that whole tiles take one
Compare and one Select. Select moves the bits of any 16- or 32-bit dtype; it is called on half or float (an assumption:
that it copies payloads of NaN and subnormals as they are).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.dtype import BF16, FP16, FP32, INT16, INT32, UINT8, UINT16, UINT32
from pypto_spec.ir.expr import ceil_div
from pypto_spec.ir.instr import Instr, Number, Ref, ScalarRef, Step
from pypto_spec.ir.opdef import Field, Inference, OpDef, Recipe
from pypto_spec.ir.types import ArrayType, Layout, TileType, ValueType
from pypto_spec.ops.build import (
    INTO,
    LHS,
    RHS,
    SCALAR,
    Shaped,
    X,
    check_dtype,
    common_valid,
    fresh,
    in_vec,
    listing,
    same_dtype,
    same_shape,
    shape_text,
    shaped,
)
from pypto_spec.ops.compare_steps import (
    COMPARED,
    GROUP,
    Comparison,
    Second,
    at,
    mask_area,
    moved,
    packed_cols,
    select,
    stretches,
)
from pypto_spec.ops.numbers import check_scalar, number_arg, torch_number
from pypto_spec.ops.reduce_steps import Draft
from pypto_spec.ops.registry import define
from pypto_spec.ops.steps import Part, calls, part, scratch_like

MODES = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
"""Words of a comparison, and its sign in a formula."""
MOVABLE = (FP32, FP16, BF16, INT32, INT16, UINT32, UINT16)
MODE = Field(
    name="cmp_type",
    kind="word",
    doc="what is asked of lhs and rhs",
    words=tuple(MODES),
    meanings={word: f"lhs {sign} rhs" for word, sign in MODES.items()},
    examples=("gt",),
)
COMPARE_LEFT = Field(name="lhs", kind="tile", doc="what is compared", examples=("s",))
COMPARE_RIGHT = Field(name="rhs", kind="tile", doc="what it is compared with, of the same shape and dtype")
MASK = Field(name="mask", kind="tile", doc="a predicate of the operands' columns, uint8, from `cmp`")
FIRST = Field(name="a", kind="tile", doc="taken where the condition holds")
OTHER = Field(name="b", kind="tile", doc="taken where it does not hold, of the same shape and dtype as a")


# --- shapes ---------------------------------------------------------------------------------------------------------


def _compared(inference: Inference, field: str) -> Shaped:
    (lhs,) = shaped(inference, field)
    if lhs.dtype not in COMPARED:
        name = inference.operands[field].name
        raise inference.fail(
            rules.DTYPE_UNSUPPORTED,
            f"`{inference.defn.name}` cannot compare {lhs.dtype}; it compares {listing([d.name for d in COMPARED])}",
            field,
            label=f"{lhs.dtype} here",
            helps=(f"cast it first: `- cast: {{into: {name}_fp32, x: {name}, dtype: fp32}}`",),
        )
    return lhs


def _one_matrix(inference: Inference, field: str) -> TileType:
    """A tile of rows: predicates have no form for whole arrays and for dense columns."""
    (found,) = shaped(inference, field)
    name = inference.operands[field].name
    if isinstance(found, ArrayType):
        raise inference.fail(
            rules.LEVEL_MIX,
            f"`{inference.defn.name}` works with packed bits, which only tiles have; `{name}` is a whole array",
            field,
            label="a whole array",
            helps=("choose in one step: `- let: y = where(s > t, a, b)`", f"`load` tiles of `{name}` first"),
        )
    if found.order is Layout.DN:
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"`{inference.defn.name}` packs the bits of rows, and `{name}` is a column {shape_text(found.shape)}",
            field,
            label="a column",
            helps=(f"make it a row first: `- reshape: {{into: {name}_row, x: {name}, shape: [1, {found.rows}]}}`",),
        )
    return found


def _infer_cmp(inference: Inference) -> ValueType:
    field = "lhs" if "lhs" in inference.operands else "x"
    lhs = _compared(inference, field)
    tile = _one_matrix(inference, field)
    if field == "lhs":
        same_dtype(inference, "lhs", "rhs")
        same_shape(inference, "lhs", "rhs")
        valid = common_valid(lhs, *shaped(inference, "rhs"))
    else:
        check_scalar(inference, "scalar", lhs.dtype)
        valid = common_valid(lhs)
    shape = (*tile.shape[:-1], packed_cols(tile.cols))
    extent = valid or tile.shape
    return fresh(tile, shape=shape, dtype=UINT8, valid=(*extent[:-1], ceil_div(extent[-1], 8)))


def _infer_sel(inference: Inference) -> ValueType:
    field = "a" if "a" in inference.operands else "x"
    a = _one_matrix(inference, field)
    check_dtype(inference, a.dtype, field)
    others = []
    if field == "a":
        same_dtype(inference, "a", "b")
        same_shape(inference, "a", "b")
        others = [*shaped(inference, "b")]
    else:
        check_scalar(inference, "scalar", a.dtype)
    mask = _one_matrix(inference, "mask")
    wanted = (*a.shape[:-1], packed_cols(a.cols))
    if mask.dtype != UINT8 or mask.shape != wanted:
        raise _wrong_mask(inference, mask, a, wanted)
    return fresh(a, valid=common_valid(a, *others))


def _wrong_mask(inference: Inference, mask: TileType, a: TileType, wanted: tuple[int, ...]) -> CompileError:
    return inference.fail(
        rules.SHAPE_MISMATCH,
        f"the predicate of {a} is uint8{shape_text(wanted)}, found {mask}",
        "mask",
        label=str(mask),
        helps=("`cmp` and `cmps` of tiles of that shape make one",),
    )


def _infer_select(inference: Inference) -> ValueType:
    lhs = _compared(inference, "lhs")
    a, b = shaped(inference, "a", "b")
    shaped(inference, "lhs", "a")
    if "rhs" in inference.operands:
        same_dtype(inference, "lhs", "rhs")
        same_shape(inference, "lhs", "rhs")
        (rhs,) = shaped(inference, "rhs")
    else:
        check_scalar(inference, "scalar", lhs.dtype)
        rhs = lhs
    check_dtype(inference, a.dtype, "a")
    same_dtype(inference, "a", "b")
    same_shape(inference, "a", "b")
    same_shape(inference, "lhs", "a")
    return fresh(a, valid=common_valid(lhs, rhs, a, b))


# --- recipes --------------------------------------------------------------------------------------------------------


def _second(of: Recipe, lhs: Part, by_number: bool) -> Second:
    return number_arg(of, "scalar", lhs.tile.dtype) if by_number else part(of, "rhs")


def _cmp(of: Recipe, by_number: bool) -> Draft:
    draft = Draft()
    lhs = part(of, "x" if by_number else "lhs")
    compared = Comparison(draft, of.attr("cmp_type"), lhs, _second(of, lhs, by_number))
    into = of.tile("into")
    mask = Ref("into")
    rows = list(stretches([p.tile for p in compared.operands]))
    whole = lhs.tile.cols % GROUP == 0 and len(rows) == 1
    if whole or lhs.tile.rows == 1:
        compared.write(mask, rows[0].offsets, rows[0].length)
    else:
        pitches = [p.tile.row_pitch for p in compared.operands]
        for row in range(lhs.tile.rows):
            compared.write(at(mask, row * into.row_pitch), [row * p for p in pitches], lhs.tile.cols)
    if compared.negated:
        bits = Ref("into", 0, UINT16)
        draft.add(Instr("Not", (bits, bits, into.span_elements // 2)))
    return draft


def _sel(of: Recipe, by_number: bool) -> Draft:
    draft = Draft()
    into, a = moved(part(of, "into")), moved(part(of, "x" if by_number else "a"))
    b = _chosen_number(of, draft) if by_number else moved(part(of, "b"))
    mask = of.tile("mask")
    tiles = [into, a, *([b] if isinstance(b, Part) else [])]
    found = list(stretches([p.tile for p in tiles]))
    if a.tile.cols % GROUP == 0 and len(found) == 1:
        select(draft, into.ref, Ref("mask"), a.ref, b.ref if isinstance(b, Part) else b, found[0].length)
        return draft
    pitches = [p.tile.row_pitch for p in tiles]
    for row in range(a.tile.rows):
        target, first, *rest = (at(p.ref, row * pitch) for p, pitch in zip(tiles, pitches, strict=True))
        other = rest[0] if rest else b
        assert not isinstance(other, Part)
        select(draft, target, at(Ref("mask"), row * mask.row_pitch), first, other, a.tile.cols)
    return draft


def _chosen_number(of: Recipe, draft: Draft) -> Part | Number | ScalarRef:
    """The number to choose: as it is, or where Select cannot take it in that dtype, a tile filled with it."""
    x = of.tile("x")
    number = number_arg(of, "scalar", x.dtype)
    if x.dtype in (FP32, FP16):
        return number
    filled = scratch_like(x)
    draft.area(filled.tile.span_elements, x.dtype)
    draft.add(*calls("Duplicate", filled, extra=(number,)))
    return moved(filled)


def _select(of: Recipe, by_number: bool) -> Draft:
    draft = Draft()
    lhs = part(of, "lhs")
    compared = Comparison(draft, of.attr("cmp_type"), lhs, _second(of, lhs, by_number))
    into, a, b = (moved(part(of, name)) for name in ("into", "a", "b"))
    if compared.negated:
        a, b = b, a
    tiles = (*compared.operands, into, a, b)
    found = list(stretches([p.tile for p in tiles]))
    mask = mask_area(draft, max(s.length for s in found))
    for offsets, count in found:
        *asked, i, j, k = offsets
        compared.write(mask, asked, count)
        select(draft, at(into.ref, i), mask, at(a.ref, j), at(b.ref, k), count)
    return draft


Make = Callable[[Recipe, bool], Draft]


def _recipe(make: Make, by_number: bool) -> Callable[[Recipe], tuple[Step, ...]]:
    return lambda of: tuple(make(of, by_number).steps)


def _scratch(make: Make, by_number: bool) -> Callable[[Recipe], tuple[int, ...]]:
    return lambda of: tuple(make(of, by_number).areas)


# --- meaning --------------------------------------------------------------------------------------------------------


def _holds(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any], left: str) -> Any:
    lhs = inputs[left]
    rhs = inputs["rhs"] if "rhs" in inputs else torch_number(torch, inputs, attrs, "scalar", lhs.dtype)
    return getattr(torch, attrs["cmp_type"])(lhs, rhs)


def _cmp_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    held = _holds(torch, inputs, attrs, "lhs" if "lhs" in inputs else "x")
    wide = packed_cols(held.shape[-1]) * 8
    bits = torch.zeros((*held.shape[:-1], wide), dtype=torch.int32)
    bits[..., : held.shape[-1]] = held.to(torch.int32)
    weights = 2 ** torch.arange(8, dtype=torch.int32)
    return (bits.reshape(*held.shape[:-1], wide // 8, 8) * weights).sum(-1).to(torch.uint8)


def _sel_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    a = inputs["a"] if "a" in inputs else inputs["x"]
    b = inputs["b"] if "b" in inputs else torch_number(torch, inputs, attrs, "scalar", a.dtype).expand_as(a)
    mask = inputs["mask"].to(torch.int32)
    bits = (mask.unsqueeze(-1) >> torch.arange(8, dtype=torch.int32)) & 1
    chosen = bits.reshape(*mask.shape[:-1], -1)[..., : a.shape[-1]] != 0
    return _either(torch, chosen, a, b)


def _either(torch: Any, chosen: Any, a: Any, b: Any) -> Any:
    if a.dtype in (torch.uint16, torch.uint32):
        return torch.where(chosen, a.to(torch.int64), b.to(torch.int64)).to(a.dtype)
    return torch.where(chosen, a, b)


def _select_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    return _either(torch, _holds(torch, inputs, attrs, "lhs"), inputs["a"], inputs["b"])


# --- definitions ----------------------------------------------------------------------------------------------------


def _define(
    name: str,
    doc: str,
    fields: tuple[Field, ...],
    make: Make,
    infer: Callable[[Inference], ValueType],
    meaning: Callable[[Any, Mapping[str, Any], Mapping[str, Any]], Any],
    example: str,
) -> None:
    tiles = [f.name for f in fields if f.kind == "tile"]
    by_number = any(f.kind == "number" for f in fields)
    comparing = name.startswith("cmp")
    kept = {"mask"} if "mask" in tiles else {n for n in tiles if comparing or n in ("lhs", "rhs")}
    define(
        OpDef(
            name=name,
            family="compare",
            doc=doc,
            fields=(INTO, *fields),
            role="elementwise",
            pipe="v",
            infer=infer,
            dtypes=COMPARED if comparing else MOVABLE,
            dtype_of=tiles[0] if comparing else ("x" if "x" in tiles else "a"),
            torch=meaning,
            recipe=_recipe(make, by_number),
            scratch=_scratch(make, by_number),
            spaces=in_vec("into", *tiles),
            no_alias=frozenset(kept),
            example=f"- {name}: {{into: y, {example}}}",
        )
    )


_define(
    "cmp",
    "one bit for each element: whether lhs and rhs compare so. int32 is exact over its full range",
    (LHS, RHS, MODE),
    _cmp,
    _infer_cmp,
    _cmp_meaning,
    "lhs: s, rhs: t, cmp_type: gt",
)
_define(
    "cmps",
    "one bit for each element: whether x and a number compare so",
    (X, SCALAR, MODE),
    _cmp,
    _infer_cmp,
    _cmp_meaning,
    "x: s, scalar: 0.5, cmp_type: ge",
)
_define(
    "sel",
    "a where the bit of the predicate is set, else b",
    (MASK, FIRST, OTHER),
    _sel,
    _infer_sel,
    _sel_meaning,
    "mask: m, a: p, b: q",
)
_define(
    "sels",
    "x where the bit of the predicate is set, else a number",
    (MASK, X, SCALAR),
    _sel,
    _infer_sel,
    _sel_meaning,
    "mask: m, x: p, scalar: 0.0",
)
_define(
    "select",
    "a where lhs and rhs compare so, else b, element by element",
    (COMPARE_LEFT, COMPARE_RIGHT, MODE, FIRST, OTHER),
    _select,
    _infer_select,
    _select_meaning,
    "lhs: s, rhs: t, cmp_type: gt, a: p, b: q",
)
_define(
    "selects",
    "a where lhs and a number compare so, else b, element by element",
    (COMPARE_LEFT, SCALAR, MODE, FIRST, OTHER),
    _select,
    _infer_select,
    _select_meaning,
    "lhs: s, scalar: 0.0, cmp_type: lt, a: p, b: q",
)
