"""Operators that bring elements to other places: extract, assemble and concat.

Windows that start and end on 32 B boundaries are copied block by block; any other is gathered (see `shuffle`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod
from typing import Any

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.dtype import BLOCK_BYTES, INT32, DType
from pypto_spec.ir.expr import Index, add, maximum, minimum, mod, mul, sub, to_text
from pypto_spec.ir.instr import Step
from pypto_spec.ir.layouts import CUBE_MEMORIES
from pypto_spec.ir.opdef import Field, Inference, OpDef, Recipe
from pypto_spec.ir.types import Layout, Memory, TileType, ValueType, round_up
from pypto_spec.ops.build import ANY, INTO, LHS, X, in_vec, same_dtype, shape_text, static_shape, torch_dtype
from pypto_spec.ops.cube.copies import WITHIN, check_copy, check_start, cube_copy, stored_as
from pypto_spec.ops.cube.fixpipe import to_mat
from pypto_spec.ops.cube.leaving import PHASE, RELU, left, way_to_mat
from pypto_spec.ops.ramp import ramp
from pypto_spec.ops.reduce_steps import Draft, Grid
from pypto_spec.ops.registry import define
from pypto_spec.ops.shuffle import GATHERED, copy_blocks, gather, grid_of, moved, shuffle, units
from pypto_spec.ops.view import check_rows
from pypto_spec.ops.window import check_bounds, check_rank


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


def _column(tile: TileType, at: tuple[Index, ...]) -> Index:
    """Where a window starts along the rows as they are stored, in elements."""
    return at[-2] if tile.order is Layout.DN else at[-1]


def _unaligned(inference: Inference, field: str, tile: TileType, start: Index) -> CompileError:
    block = tile.dtype.block
    return inference.fail(
        rules.UNALIGNED_SLICE,
        f"`{inference.defn.name}` of {tile.dtype} starts at a multiple of {block} elements ({BLOCK_BYTES} B), found "
        f"{to_text(start)}",
        field,
        label="inside a block of 32 B",
        helps=("cast the tile to a type of 16 bits or more first, of which any element can be reached",)
        if tile.dtype.bytes == 1
        else (f"make the start a multiple of {block}, e.g. `i * {block}`, or a number known at compile time",),
    )


# --- extract --------------------------------------------------------------------------------------------------------


def _infer_extract(inference: Inference) -> ValueType:
    (x,) = on_chip(inference, "x")
    shape, at = static_shape(inference, "shape"), inference.attr("at")
    check_rank(inference, x.shape, at=at, shape=shape)
    check_bounds(inference, x.shape, at, shape)
    valid: tuple[Index, ...] | None = None
    if x.valid is not None:
        valid = tuple(minimum(n, maximum(0, sub(v, a))) for n, v, a in zip(shape, x.valid, at, strict=True))
        valid = None if valid == shape else valid
    memory: Memory | None = inference.attr("memory")
    if x.is_boxed or memory in CUBE_MEMORIES:
        return _cube_window(inference, x, shape, at, valid)
    check_rows(inference, x, shape)
    column = x.order is not Layout.DN and shape[-1] == 1 and prod(shape) > 1
    if x.dtype.bytes not in GATHERED and not column and mod(_column(x, at), x.dtype.block) != 0:
        raise _unaligned(inference, "at", x, _column(x, at))
    if column and x.dtype.bytes not in (2, 4):
        raise inference.fail(
            rules.COLUMN_WINDOW,
            f"one column of a wider {x.dtype} tile cannot be made dense; that exists for 16 and 32 bits",
            "shape",
            helps=(f"take {x.dtype.block} columns",),
        )
    return TileType(x.dtype, shape, memory or x.memory, valid=valid)


def _cube_window(
    inference: Inference,
    x: TileType,
    shape: tuple[int, ...],
    at: tuple[Index, ...],
    valid: tuple[Index, ...] | None,
) -> TileType:
    """The window of a tile in a memory of the cube, or bound for one."""
    memory: Memory | None = inference.attr("memory")
    dtype: DType = inference.attr("dtype") or x.dtype
    two_axes(inference, "x")
    check_copy(inference, "x", x, memory, dtype, at)
    layout = None if memory is None else stored_as(x, memory, shape[0])
    return TileType(dtype, shape, memory, layout, valid)


def _extract(of: Recipe) -> Draft:
    draft = Draft()
    if of.tile("x").is_boxed:
        draft.steps.extend(cube_copy(of, "x", of.attr("at")))
        return draft
    into, src = grid_of(of, "into", draft), grid_of(of, "x", draft)
    x, at = of.tile("x"), of.attr("at")
    row, col = (0, at[-2]) if x.order is Layout.DN else (at[-2], at[-1])
    start = mul(col, units(x.dtype)[1])
    target = of.tile("into")
    if target.order is Layout.DN and x.order is not Layout.DN:
        _one_column(draft, into, src, row, start)
    elif mod(start, into.dtype.block) == 0:
        ref = moved(src.ref, add(mul(row, src.pitch), start))
        copy_blocks(draft, into, replace(src, ref=ref, rows=into.rows, cols=into.cols))
    else:
        shuffle(draft, into, src, (), column=start, row=row)
    return draft


def _one_column(draft: Draft, into: Grid, src: Grid, row: Index, col: Index) -> None:
    """One column of a wider tile as a dense vector."""
    size = into.dtype.bytes
    offsets = draft.area(into.cols, INT32)
    ramp(draft, offsets, INT32, into.cols, src.pitch * size)
    reach = into.cols * src.pitch
    gather(draft, into.ref, moved(src.ref, mul(row, src.pitch)), offsets, mul(col, size), into.cols, reach)


def _window(at: Any, shape: Any) -> tuple[slice, ...]:
    return tuple(slice(a, a + n) for a, n in zip(at, shape, strict=True))


def _extract_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    made, dtype = inputs["x"][_window(attrs["at"], attrs["shape"])].clone(), attrs["dtype"]
    return made if dtype is None else made.to(torch_dtype(torch, dtype))


def steps_of(draft: Callable[[Recipe], Draft]) -> Callable[[Recipe], tuple[Step, ...]]:
    """The recipe of an op whose calls and scratch a draft tells."""
    return lambda of: tuple(draft(of).steps)


def areas_of(draft: Callable[[Recipe], Draft]) -> Callable[[Recipe], tuple[int, ...]]:
    """The scratch areas of such an op."""
    return lambda of: tuple(draft(of).areas)


define(
    OpDef(
        name="extract",
        family="rearrange",
        doc="copy a window of a tile into a new dense tile; unlike a slice it may start at any column (8-bit types: at "
        "every 32nd)",
        fields=(
            INTO,
            X,
            Field(name="at", kind="exprs", doc="first row and column of the window", examples=([0, 3],)),
            Field(name="shape", kind="ints", doc="rows and columns of the window", examples=([64, 64],)),
            Field(
                name="memory",
                kind="memory",
                doc="where the copy lives: of a tile in `mat` also `left` and `right`, of an accumulator `mat`; by "
                "default what its uses ask for",
                required=False,
            ),
            Field(
                name="dtype",
                kind="dtype",
                doc="what an accumulator is rounded to on its way to `mat`; by default the tile's own",
                required=False,
            ),
        ),
        role="rearrange",
        pipe="v",
        infer=_infer_extract,
        dtypes=ANY,
        dtype_of="x",
        torch=_extract_meaning,
        recipe=steps_of(_extract),
        scratch=areas_of(_extract),
        spaces={
            "into": (Memory.VEC, Memory.LEFT, Memory.RIGHT, Memory.BIAS, Memory.MAT),
            "x": (Memory.VEC, Memory.MAT, Memory.ACC),
        },
        pipes=WITHIN,
        no_alias=frozenset({"x"}),
        function="extract",
        example="- extract: {into: y, x: a, at: [0, 3], shape: [64, 64]}",
    )
)


# --- assemble -------------------------------------------------------------------------------------------------------


def _infer_assemble(inference: Inference) -> ValueType:
    target, x = two_axes(inference, "target", "x")
    at = inference.attr("at")
    if x.memory is not Memory.ACC:
        same_dtype(inference, "target", "x")
    check_rank(inference, target.shape, "target", at=at)
    check_bounds(inference, target.shape, at, x.shape, "target")
    if x.memory is Memory.ACC:
        check_copy(inference, "x", x, target.memory or Memory.MAT, target.dtype)
        if target.memory is Memory.MAT:
            check_start(inference, target, at, "target")
        return replace(target, memory=target.memory)
    if x.valid is not None:
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"`assemble` of a tile of which {shape_text(x.valid)} of {shape_text(x.shape)} is valid: the rest would "
            "overwrite the target with nothing defined",
            "x",
            helps=("fill it first with `fillpad`, or `extract` the valid part where it is known at compile time",),
        )
    start = _column(target, at)
    exact = mod(start, target.dtype.block) == 0 and _whole(target, x, start)
    if not exact and (target.dtype.bytes not in GATHERED or not isinstance(start, int)):
        raise _unaligned(inference, "at", target, start)
    _check_column(inference, "x", x, target)
    return TileType(target.dtype, target.shape, target.memory, valid=target.valid)


def _whole(target: TileType, x: TileType, start: Index) -> bool:
    """Whether a window ends with a block, or with the row."""
    length, full = (x.rows, target.rows) if target.order is Layout.DN else (x.cols, target.cols)
    return length % target.dtype.block == 0 or add(start, length) == full


def _check_column(inference: Inference, field: str, x: TileType, beside: TileType) -> None:
    """Refuse a dense column that has to be spread over rows, where its dtype has no instruction for that."""
    if x.order is Layout.DN and beside.order is not Layout.DN and x.dtype.bytes not in (2, 4):
        raise inference.fail(
            rules.COLUMN_WINDOW,
            f"`{inference.defn.name}` cannot spread a column of {x.dtype} over rows; that exists for 16 and 32 bits",
            field,
            helps=("cast it to fp32 first",),
        )


def _assemble(of: Recipe) -> Draft:
    draft = Draft()
    target, at = of.tile("target"), of.attr("at")
    if of.tile("x").memory is Memory.ACC:
        draft.steps.extend(to_mat(of.tile("x"), target, at[0], at[1], way_to_mat(of), "x"))
        return draft
    column = target.order is Layout.DN
    into, src = grid_of(of, "into", draft), grid_of(of, "x", draft, as_rows=not column)
    row, start = (0, at[-2]) if column else (at[-2], at[-1])
    start = mul(start, units(target.dtype)[1])
    into = replace(into, ref=moved(into.ref, mul(row, into.pitch)), rows=src.rows)
    if mod(start, into.dtype.block) == 0 and _whole(target, of.tile("x"), _column(target, at)):
        copy_blocks(draft, replace(into, ref=moved(into.ref, start)), src)
        return draft
    assert isinstance(start, int)
    both = _beside(draft, into, src)
    jump = into.pitch - start
    shuffle(draft, into, both, ((start, jump), (start + src.cols, -jump)))
    return draft


def _beside(draft: Draft, first: Grid, second: Grid) -> Grid:
    """The rows of two tiles one behind the other in scratch, the second from the next block on."""
    block = first.dtype.block
    gap = round_up(first.cols, block)
    pitch = gap + round_up(second.cols, block)
    both = Grid(draft.area(first.rows * pitch, first.dtype), first.dtype, first.rows, pitch, pitch)
    copy_blocks(draft, replace(both, cols=first.cols), first)
    copy_blocks(draft, replace(both, ref=moved(both.ref, gap), cols=second.cols), second)
    return both


def _assemble_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    made, x = inputs["target"].clone(), inputs["x"]
    made[_window(attrs["at"], x.shape)] = left(torch, x, {}, attrs, made.dtype)
    return made


define(
    OpDef(
        name="assemble",
        family="rearrange",
        doc="write a tile into a window of another one; the result is the other one, changed in place",
        fields=(
            INTO,
            Field(name="target", kind="tile", doc="the tile to change", examples=("a",)),
            Field(name="x", kind="tile", doc="the tile to write into it", examples=("b",)),
            Field(name="at", kind="exprs", doc="first row and column of the window", examples=([0, 3],)),
            RELU,
            PHASE,
        ),
        role="rearrange",
        pipe="v",
        infer=_infer_assemble,
        dtypes=ANY,
        dtype_of="target",
        torch=_assemble_meaning,
        recipe=steps_of(_assemble),
        scratch=areas_of(_assemble),
        spaces={
            "into": (Memory.VEC, Memory.MAT),
            "target": (Memory.VEC, Memory.MAT),
            "x": (Memory.VEC, Memory.ACC),
        },
        pipes=WITHIN,
        no_alias=frozenset({"x"}),
        reuses="target",
        function="assemble",
        example="- assemble: {into: y, target: a, x: b, at: [0, 0]}",
    )
)


# --- concat ---------------------------------------------------------------------------------------------------------


def _infer_concat(inference: Inference) -> ValueType:
    lhs, rhs = two_axes(inference, "lhs", "rhs")
    same_dtype(inference, "lhs", "rhs")
    if lhs.rows != rhs.rows:
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"`concat` of {shape_text(lhs.shape)} and {shape_text(rhs.shape)}: columns are put behind columns, so both "
            "have as many rows",
            "rhs",
            label=f"{rhs.rows} rows here, {lhs.rows} in `lhs`",
            helps=("to put rows below rows, `assemble` both into a tile from `create_tile`",),
        )
    valid = _concat_valid(inference, lhs, rhs)
    if lhs.cols % lhs.dtype.block and lhs.dtype.bytes not in GATHERED:
        raise _unaligned(inference, "rhs", lhs, lhs.cols)
    shape = (lhs.rows, lhs.cols + rhs.cols)
    result = TileType(lhs.dtype, shape, lhs.memory, valid=valid)
    for field, tile in (("lhs", lhs), ("rhs", rhs)):
        _check_column(inference, field, tile, result)
    return result


def _concat_valid(inference: Inference, lhs: TileType, rhs: TileType) -> tuple[Index, ...] | None:
    if lhs.valid is None and rhs.valid is None:
        return None
    left, right = (t.valid or t.shape for t in (lhs, rhs))
    if left[1] != lhs.cols:
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"`concat` behind a tile of which {to_text(left[1])} of {lhs.cols} columns are valid would leave a hole",
            "lhs",
            helps=("fill the rest first with `fillpad`, or `extract` the valid columns",),
        )
    return minimum(left[0], right[0]), add(lhs.cols, right[1])


def _concat(of: Recipe) -> Draft:
    draft = Draft()
    into = grid_of(of, "into", draft)
    lhs, rhs = (grid_of(of, field, draft, as_rows=True) for field in ("lhs", "rhs"))
    if lhs.cols % into.dtype.block == 0:
        copy_blocks(draft, replace(into, cols=lhs.cols), lhs)
        copy_blocks(draft, replace(into, ref=moved(into.ref, lhs.cols), cols=rhs.cols), rhs)
        return draft
    both = _beside(draft, lhs, rhs)
    shuffle(draft, into, both, ((lhs.cols, round_up(lhs.cols, into.dtype.block) - lhs.cols),))
    return draft


def _concat_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    return torch.cat((inputs["lhs"], inputs["rhs"]), dim=-1)


define(
    OpDef(
        name="concat",
        family="rearrange",
        doc="put the columns of a tile behind those of another: [M, A] and [M, B] become [M, A + B]",
        fields=(
            INTO,
            LHS,
            Field(name="rhs", kind="tile", doc="right operand, of as many rows and the same dtype", examples=("b",)),
        ),
        role="rearrange",
        pipe="v",
        infer=_infer_concat,
        dtypes=ANY,
        dtype_of="lhs",
        torch=_concat_meaning,
        recipe=steps_of(_concat),
        scratch=areas_of(_concat),
        spaces=in_vec("into", "lhs", "rhs"),
        no_alias=frozenset({"lhs", "rhs"}),
        function="concat",
        example="- concat: {into: y, lhs: a, rhs: b}",
    )
)
