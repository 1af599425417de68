"""What the families share: common fields, and shape and dtype checks that explain themselves."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.dtype import DTYPES, FP16, FP32, INT16, INT32, DType
from pypto_spec.ir.expr import Index, minimum, to_text
from pypto_spec.ir.opdef import Field, Inference, Recipe
from pypto_spec.ir.types import ArrayType, Layout, Memory, TensorType, TileType, ValueType, round_up
from pypto_spec.ops.repairs import cast_first, load_first

Shaped = TileType | ArrayType
"""What arithmetic works on: a tile, or at tensor level a whole array."""

FLOATS = (FP32, FP16)
"""Dtypes of the vector unit's floating-point arithmetic."""
NUMERIC = (FP32, FP16, INT32)
"""Dtypes of reductions."""
ARITHMETIC = (*NUMERIC, INT16)
"""Dtypes of the vector unit's arithmetic that exists for integers too."""
ANY = tuple(DTYPES.values())

INTO = Field(name="into", kind="bind", doc="name of the result", examples=("y",))
X = Field(name="x", kind="tile", doc="the operand", examples=("x",))
LHS = Field(name="lhs", kind="tile", doc="left operand", examples=("a",))
RHS = Field(name="rhs", kind="tile", doc="right operand, of the same shape and dtype", examples=("b",))
SCALAR = Field(
    name="scalar",
    kind="number",
    doc="a number, a constant or a run-time scalar; rounded to the tile's dtype",
    examples=(2.0, "eps"),
)

VEC = (Memory.VEC,)


def in_vec(*fields: str) -> dict[str, tuple[Memory, ...]]:
    """Memory spaces of an op whose tile fields all live in `vec`."""
    return dict.fromkeys(fields, VEC)


def no_scratch(recipe: Recipe) -> tuple[int, ...]:
    """Scratch of an op that needs none."""
    return ()


def no_steps(recipe: Recipe) -> tuple[()]:
    """Recipe of an op that is a view or a declaration: no instruction."""
    return ()


# --- operands -------------------------------------------------------------------------------------------------------


def shaped(inference: Inference, *fields: str) -> tuple[Shaped, ...]:
    """Types of the operands, all tiles or all arrays; a whole tensor counts as an array of its shape."""
    found: list[ValueType] = [inference.type(name) for name in fields]
    whole = [name for name, t in zip(fields, found, strict=True) if not isinstance(t, TileType)]
    if whole and len(whole) < len(fields):
        raise _mixed(inference, whole[0])
    return tuple(_shaped(inference, name, t) for name, t in zip(fields, found, strict=True))


def _shaped(inference: Inference, field: str, found: ValueType) -> Shaped:
    if isinstance(found, TileType | ArrayType):
        return found
    if not isinstance(found, TensorType):
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"`{inference.defn.name}` needs a tile for `{field}`, found the scalar `{inference.operands[field].name}`",
            field,
            label="a scalar",
            helps=(
                f"spread it over a tile first: `- full: {{into: t, shape: [1, 8], value: {_name(inference, field)}, "
                f"dtype: {found.dtype}}}`",
            ),
        )
    extents = [extent for extent in found.shape if isinstance(extent, int)]
    if len(extents) != len(found.shape):
        raise inference.fail(
            rules.RUNTIME_EXTENT,
            f"`{_name(inference, field)}` has the run-time shape {shape_text(found.shape)}; statements on whole arrays "
            "need compile-time shapes",
            field,
            helps=("cut tiles of a fixed shape out of it with `load` (and `valid` for the last one) in a `for` loop",),
        )
    return ArrayType(found.dtype, tuple(extents))


def _mixed(inference: Inference, field: str) -> CompileError:
    found = inference.type(field)
    name = _name(inference, field)
    shape = shape_text(getattr(found, "shape", ()))
    zeros = ", ".join("0" for _ in getattr(found, "shape", ()))
    return inference.fail(
        rules.LEVEL_MIX,
        f"`{inference.defn.name}` mixes tiles with the whole array `{name}` {shape}",
        field,
        label="this is not a tile",
        helps=(f"bring it on chip first: `- load: {{into: {name}_t, from: {name}, at: [{zeros}], shape: {shape}}}`",),
        fixes=load_first(inference, field),
    )


def _name(inference: Inference, field: str) -> str:
    return inference.operands[field].name if field in inference.operands else field


def on_chip(inference: Inference, *fields: str) -> tuple[TileType, ...]:
    """The operands as tiles; refuses whole arrays and scalars."""
    found = []
    for field in fields:
        tile = inference.type(field)
        if not isinstance(tile, TileType):
            name = inference.operands[field].name
            raise inference.fail(
                rules.LEVEL_MIX,
                f"`{inference.defn.name}` works on tiles; `{name}` is not on chip",
                field,
                label="not a tile",
                helps=(f"bring it on chip with `- load: {{into: t, from: {name}, at: [...], shape: [...]}}`",),
                fixes=load_first(inference, field),
            )
        found.append(tile)
    return tuple(found)


def two_axes(inference: Inference, *fields: str) -> tuple[TileType, ...]:
    """The operands as tiles of rows and columns."""
    tiles = on_chip(inference, *fields)
    for field, tile in zip(fields, tiles, strict=True):
        if len(tile.shape) != 2:
            flat = shape_text((prod(tile.shape[:-1]), tile.shape[-1]))
            name = inference.operands[field].name
            raise inference.fail(
                rules.SHAPE_MISMATCH,
                f"`{inference.defn.name}` needs rows and columns, `{name}` is {shape_text(tile.shape)}",
                field,
                helps=(f"make it two-dimensional first: `- reshape: {{into: {name}_2d, x: {name}, shape: {flat}}}`",),
            )
    return tiles


def shape_text(shape: Sequence[Index]) -> str:
    """A shape as specs write it."""
    return "[" + ", ".join(to_text(extent) for extent in shape) + "]"


# --- checks ---------------------------------------------------------------------------------------------------------


def check_dtype(inference: Inference, dtype: DType, field: str | None = None) -> None:
    """Refuse a dtype that is not among the definition's; says what is allowed and how to get there."""
    allowed = inference.defn.dtypes
    if dtype in allowed:
        return
    field = field or inference.defn.dtype_of
    name = _name(inference, field)
    target = FP32 if FP32 in allowed else allowed[0]
    fresh = f"{name}_{target}"
    raise inference.fail(
        rules.DTYPE_UNSUPPORTED,
        f"`{inference.defn.name}` does not exist for {dtype}; it takes {listing([d.name for d in allowed])}",
        field,
        label=f"{dtype} here",
        helps=(
            f"cast it to {target} first: `- cast: {{into: {fresh}, x: {name}, dtype: {target}}}`, and the result back "
            f"if {dtype} is wanted",
        ),
        fixes=cast_first(inference, field, target) if field in inference.operands else (),
    )


def same_dtype(inference: Inference, first: str, second: str) -> DType:
    """The one dtype of two operands; refuses two different ones."""
    a, b = (inference.type(name).dtype for name in (first, second))
    if a is b or a == b:
        return a
    wide = a if (a.is_float, a.bytes) >= (b.is_float, b.bytes) else b
    narrow = second if wide is a else first
    name = _name(inference, narrow)
    raise inference.fail(
        rules.DTYPE_MISMATCH,
        f"`{inference.defn.name}` of {a} `{_name(inference, first)}` and {b} `{_name(inference, second)}`; "
        "both must have one dtype",
        second,
        label=f"{b} here, {a} in `{first}`",
        helps=(f"cast one of them first: `- cast: {{into: {name}_{wide}, x: {name}, dtype: {wide}}}`",),
        fixes=cast_first(inference, narrow, wide) if narrow in inference.operands else (),
    )


def same_shape(inference: Inference, first: str, second: str) -> None:
    """Refuse two operands of different shapes; names the expand that would fit."""
    a, b = shaped(inference, first, second)
    if a.shape == b.shape:
        return
    raise inference.fail(
        rules.SHAPE_MISMATCH,
        f"`{inference.defn.name}` of {shape_text(a.shape)} `{_name(inference, first)}` and {shape_text(b.shape)} "
        f"`{_name(inference, second)}`; both must have one shape",
        second,
        label=f"{shape_text(b.shape)} here, {shape_text(a.shape)} in `{first}`",
        helps=_expand_help(inference, first, second, a.shape, b.shape),
    )


_EXPANDS = {"add": "add", "sub": "sub", "mul": "mul", "div": "div", "maximum": "max", "minimum": "min"}


def _expand_help(
    inference: Inference, first: str, second: str, a: tuple[int, ...], b: tuple[int, ...]
) -> tuple[str, ...]:
    names = f"`{_name(inference, first)}` and `{_name(inference, second)}`"
    other = (
        f"make {names} of one shape: cut the larger one with `slice`, or load windows of one shape; only [M, 1] and "
        "[1, N] can be spread over [M, N]",
    )
    suffix = _EXPANDS.get(inference.defn.name)
    if suffix is None or len(a) != len(b) or len(a) < 2:
        return other
    for kind, spread in (("row", (*a[:-1], 1)), ("col", (*(1 for _ in a[:-1]), a[-1]))):
        if b == spread:
            return (
                f"to spread `{_name(inference, second)}` over `{_name(inference, first)}` use "
                f"`{kind}_expand_{suffix}`, or a formula: `- let: y = {_name(inference, first)} "
                f"{inference.defn.infix or suffix} {_name(inference, second)}`",
            )
    return other


def listing(words: Sequence[str], last: str = "or") -> str:
    """`a, b or c`."""
    *front, final = words
    return f"{', '.join(front)} {last} {final}" if front else final


# --- results --------------------------------------------------------------------------------------------------------


def fresh(
    like: Shaped,
    *,
    shape: tuple[int, ...] | None = None,
    dtype: DType | None = None,
    valid: tuple[Index, ...] | None = None,
) -> Shaped:
    """The type of a new value: a dense tile (its memory is decided later) or an array; full `valid` becomes None."""
    extent = like.shape if shape is None else shape
    kind = like.dtype if dtype is None else dtype
    if isinstance(like, ArrayType):
        return ArrayType(kind, extent)
    return TileType(kind, extent, valid=None if valid == extent else valid)


def common_valid(*operands: Shaped) -> tuple[Index, ...] | None:
    """The valid extent of an elementwise result: where every operand is valid."""
    partial = [t.valid for t in operands if isinstance(t, TileType) and t.valid is not None]
    if not partial:
        return None
    return tuple(minimum(*extents) for extents in zip(*partial, strict=True))


def infer_same(*fields: str) -> Any:
    """Shape rule of elementwise ops: one dtype, one shape, the result like the operands."""

    def infer(inference: Inference) -> ValueType:
        types = shaped(inference, *fields)
        check_dtype(inference, types[0].dtype, fields[0])
        for other in fields[1:]:
            same_dtype(inference, fields[0], other)
            same_shape(inference, fields[0], other)
        return fresh(types[0], valid=common_valid(*types))

    return infer


# --- geometry -------------------------------------------------------------------------------------------------------


def geometry(tile: TileType) -> tuple[int, int, int]:
    """(rows, columns, elements from row to row) of a tile as stored; a dense column vector is one row."""
    if tile.order is Layout.DN:
        return 1, tile.rows, round_up(tile.rows, tile.dtype.block)
    return tile.rows, tile.cols, tile.row_pitch


def torch_dtype(torch: Any, dtype: DType) -> Any:
    """The torch dtype of the same values."""
    return getattr(torch, _TORCH[dtype.name])


_TORCH = {
    "fp32": "float32",
    "fp16": "float16",
    "bf16": "bfloat16",
    "int8": "int8",
    "int16": "int16",
    "int32": "int32",
    "int64": "int64",
    "uint8": "uint8",
    "uint16": "uint16",
    "uint32": "uint32",
}


def dtype_of_torch(dtype: Any) -> DType | None:
    """The dtype of the same values; None for float64 and others that tiles do not have."""
    return next((DTYPES[ours] for ours, theirs in _TORCH.items() if str(dtype) == f"torch.{theirs}"), None)


def in_float32(torch: Any, compute: Any, *tensors: Any) -> Any:
    """`compute` with one rounding to the operands' dtype: 16-bit floats go through float32, which is exact enough.

    float32 has more than twice the bits of fp16 plus two, so for + - * / sqrt rounding twice equals rounding once.
    """
    dtype = tensors[0].dtype
    if dtype in (torch.float16, torch.bfloat16):
        return compute(*(t.to(torch.float32) for t in tensors)).to(dtype)
    return compute(*tensors)


def poison(torch: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Undefined contents: NaN, or the smallest integer."""
    value = float("nan") if dtype.is_floating_point else torch.iinfo(dtype).min
    return torch.full(shape, value, dtype=dtype)


def static_shape(inference: Inference, field: str) -> tuple[int, ...]:
    """The compile-time extents in a `shape` field, each at least 1."""
    written = inference.attr(field)
    extents = [e for e in written if isinstance(e, int)]
    if len(extents) != len(written):
        raise inference.fail(
            rules.RUNTIME_EXTENT,
            f"a tile's shape is compile-time, found {shape_text(written)}",
            field,
            helps=("give the largest extent as `shape`, and the run-time one as `valid` of a `load`",),
        )
    if not extents or min(extents) < 1:
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"a shape has one or more extents of at least 1, found {shape_text(written)}",
            field,
            helps=("give each dimension an extent of 1 or more",),
        )
    return tuple(extents)
