"""What products of matrices refuse, and the way out of it."""

from __future__ import annotations

from dataclasses import replace

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.expr import Index, bounds, minimum, sub, to_text
from pypto_spec.ir.naming import split
from pypto_spec.ir.opdef import Inference
from pypto_spec.ir.types import Memory, TileType
from pypto_spec.ops.build import listing, on_chip, shape_text
from pypto_spec.ops.cube.fixpipe import TO_MAT, Way, mode
from pypto_spec.ops.cube.mmad import MAX_EXTENT, OPERANDS
from pypto_spec.ops.window import reached_low

_WHOLE = {
    "a_trans": "see the tile with its axes exchanged: `- transpose_view: {{into: {lhs}_t, x: {lhs}}}`",
    "b_trans": "see the tile with its axes exchanged: `- transpose_view: {{into: {rhs}_t, x: {rhs}}}`",
    "dtype": "leave `dtype` out: an accumulator is rounded as it leaves `acc`, to its tensor's dtype",
}
"""The way out of a field that is for whole arrays."""


def check_level(inference: Inference) -> None:
    """Refuse fields that products of tiles do not have."""
    for field, way_out in _WHOLE.items():
        if any(f.name == field for f in inference.defn.fields) and inference.attr(field):
            raise inference.fail(
                rules.LEVEL_MIX,
                f"`{field}` is for products of whole arrays",
                field,
                label="not of tiles",
                helps=(way_out.format(**{side: name_of(inference, side) for side in ("lhs", "rhs")}),),
            )


def name_of(inference: Inference, field: str) -> str:
    """What the author calls an operand."""
    return split(inference.operands[field].name)[0]


def matrices(inference: Inference, *fields: str) -> tuple[TileType, ...]:
    """The operands as tiles of rows and columns; stacks of them are for `batch_matmul`."""
    tiles = on_chip(inference, *fields)
    for field, tile in zip(fields, tiles, strict=True):
        if len(tile.shape) != 2:
            raise inference.fail(
                rules.SHAPE_MISMATCH,
                f"`{inference.defn.name}` is of matrices; `{name_of(inference, field)}` is {shape_text(tile.shape)}",
                field,
                label=f"{len(tile.shape)} dimensions",
                helps=(
                    f"declare its tensor as a row and load it so: `shape: [1, {tile.shape[0]}]`"
                    if len(tile.shape) == 1
                    else "use `batch_matmul`, which multiplies each pair of matrices",
                ),
            )
    return tiles


def check_operands(inference: Inference, lhs: TileType, rhs: TileType) -> None:
    """Refuse dtypes that the cube does not multiply."""
    for field, tile in (("lhs", lhs), ("rhs", rhs)):
        if tile.memory is Memory.ACC and lhs.dtype is not rhs.dtype:
            raise accumulator_as_operand(inference, field, tile)
        if tile.dtype not in OPERANDS:
            raise inference.fail(
                rules.DTYPE_UNSUPPORTED,
                f"`{inference.defn.name}` does not exist for {tile.dtype}; "
                f"it takes {listing([d.name for d in OPERANDS])}",
                field,
                label=f"{tile.dtype} here",
                helps=(
                    "declare its tensor as one of these, or cast it in a region of its own: the vector core casts, "
                    "and the cube core multiplies",
                ),
            )
    if lhs.dtype is not rhs.dtype:
        left, right = name_of(inference, "lhs"), name_of(inference, "rhs")
        raise inference.fail(
            rules.DTYPE_MISMATCH,
            f"`{inference.defn.name}` of {lhs.dtype} `{left}` and {rhs.dtype} `{right}`; both must have one dtype",
            "rhs",
            label=f"{rhs.dtype} here, {lhs.dtype} in `lhs`",
            helps=(
                f"declare both tensors as {lhs.dtype} or as {rhs.dtype}, or cast one in a region of its own: "
                "the vector core casts, and the cube core multiplies",
            ),
        )


def accumulator_as_operand(inference: Inference, field: str, tile: TileType) -> CompileError:
    """The error for an operand that is a product, and has not come back to `mat`."""
    name, other = name_of(inference, field), inference.type("rhs" if field == "lhs" else "lhs").dtype
    fits = [d for d in OPERANDS if d in TO_MAT and mode(tile.dtype, d, Way()) is not None]
    dtype = other if other in fits else fits[0] if fits else None
    helps = ["store it to a tensor, and let a region behind this one load that"]
    if dtype is not None:
        more = "" if other is dtype else f", and declare the other operand as {dtype}"
        move = f"- move: {{into: {name}_l1, from: {name}, memory: mat, dtype: {dtype}}}"
        helps = [f"bring it back first: `{move}`{more}"]
    return inference.fail(
        rules.DTYPE_MISMATCH,
        f"`{name}` is an accumulator of {tile.dtype}, and operands come from `mat`, where accumulators "
        f"{'are rounded to' if fits else 'would be'} {listing([d.name for d in fits] or ['int8'])}"
        + ("" if fits else " by a scale"),
        field,
        label=f"an accumulator of {tile.dtype}",
        helps=tuple(helps),
    )


def added(inference: Inference, made: TileType) -> TileType:
    """The type of a sum, which is defined where both are."""
    acc = inference.type("acc")
    assert isinstance(acc, TileType)
    if acc.valid is None:
        return made
    both = tuple(minimum(one, other) for one, other in zip(acc.valid, valid_of(made), strict=True))
    return replace(made, valid=None if both == made.shape else both)


def valid_of(tile: TileType) -> tuple[Index, Index]:
    """The valid rows and columns of a tile."""
    return (tile.rows, tile.cols) if tile.valid is None else (tile.valid[0], tile.valid[1])


def check_extents(inference: Inference, lhs: TileType, rhs: TileType, vector: bool) -> None:
    """Refuse matrices that do not fit each other; `vector` wants one row on the left."""
    left, right = (name_of(inference, f) for f in ("lhs", "rhs"))
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
            label=f"{lhs.rows} rows",
            helps=(f"use `{inference.defn.name.replace('gemv', 'matmul')}`",),
        )
    for name, extent in (("M", lhs.rows), ("N", rhs.cols), ("K", lhs.cols)):
        if extent > MAX_EXTENT and lhs.memory is Memory.LEFT and rhs.memory is Memory.RIGHT:
            raise inference.fail(
                rules.SHAPE_MISMATCH,
                f"{name} of one product is {extent}; the cube takes {MAX_EXTENT} at most",
                "rhs" if name == "N" else "lhs",
                label=f"{name} is {extent} here",
                helps=("do it in a loop over blocks, with `matmul_acc` where it is K that is divided",),
            )


def _check_depth(inference: Inference, lhs: TileType, rhs: TileType) -> None:
    """Refuse columns of the left operand that are valid and meet rows of the right one that may not be."""
    left, right = (name_of(inference, f) for f in ("lhs", "rhs"))
    have, need = valid_of(rhs)[0], valid_of(lhs)[1]
    low = need if isinstance(need, int) else reached_low(need, inference.walked)
    if low is not None and low < 1:
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"K of the product is {to_text(need)}, which comes down to {low}: a product of no columns writes nothing",
            "lhs",
            label=f"{to_text(need)} columns are valid",
            helps=(f"let it be 1 at least: `min: 1` where the symbol is declared, or `max({to_text(need)}, 1)`",),
        )
    least = bounds(sub(have, need))[0]
    if have == rhs.rows or (least is not None and least >= 0):
        return
    raise inference.fail(
        rules.SHAPE_MISMATCH,
        f"{to_text(need)} columns of `{left}` are valid and {to_text(have)} rows of `{right}`: "
        "each column must meet a row that is",
        "rhs",
        label=f"{to_text(have)} rows here, {to_text(need)} columns in `{left}`",
        helps=(f"load `{left}` with `valid: [{to_text(valid_of(lhs)[0])}, {to_text(have)}]`",),
    )


def _mismatch_help(lhs: TileType, rhs: TileType, left: str, right: str) -> str:
    if lhs.cols == rhs.cols:
        return f"if `{right}` is stored [N, K], see it transposed: `- transpose_view: {{into: {right}_t, x: {right}}}`"
    if lhs.rows == rhs.rows:
        return f"if `{left}` is stored [K, M], see it transposed: `- transpose_view: {{into: {left}_t, x: {left}}}`"
    return "load windows whose inner extents agree"


def check_acc(inference: Inference, made: TileType) -> None:
    """Refuse an accumulator that is not of the product's dtype and shape."""
    (acc,) = matrices(inference, "acc")
    name, dtype = name_of(inference, "acc"), inference.type("lhs").dtype
    if acc.dtype is not made.dtype:
        raise inference.fail(
            rules.DTYPE_MISMATCH,
            f"the accumulator `{name}` is {acc.dtype}; products of {dtype} add up in {made.dtype}",
            "acc",
            label=f"{acc.dtype} here",
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


def check_bias(inference: Inference, made: TileType) -> None:
    """Refuse a bias that is not one row of the product's dtype."""
    (bias,) = matrices(inference, "bias")
    name = name_of(inference, "bias")
    if bias.dtype is not made.dtype:
        raise inference.fail(
            rules.DTYPE_MISMATCH,
            f"the bias `{name}` is {bias.dtype}; it is added to accumulators, which are {made.dtype}",
            "bias",
            label=f"{bias.dtype} here",
            helps=(f"declare its tensor as {made.dtype}",),
        )
    if bias.shape != (1, made.cols):
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"the bias `{name}` is {shape_text(bias.shape)}, one row of the product is [1, {made.cols}]",
            "bias",
            label=shape_text(bias.shape),
            helps=(f"load it as one row: `shape: [1, {made.cols}]`",),
        )
