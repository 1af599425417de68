"""Move: a tile is copied to another memory, or within `vec` made dense."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.dtype import DType
from pypto_spec.ir.instr import Instr, Ref, Step, Word
from pypto_spec.ir.opdef import Field, Inference, OpDef, Recipe
from pypto_spec.ir.types import Layout, Memory, TileType, ValueType
from pypto_spec.ops.build import ANY, INTO, geometry, no_scratch, torch_dtype
from pypto_spec.ops.cube.copies import WITHIN, check_copy, cube_copy, stored_as
from pypto_spec.ops.cube.leaving import PHASE, RELU, left, way_to_mat
from pypto_spec.ops.data.load import LAYOUT, written_layout
from pypto_spec.ops.registry import define
from pypto_spec.ops.steps import copy_steps, part

REDUCED_ROWS = 248
"""Rows of one WholeReduceMax that makes a column dense: a multiple of 8, so that each call starts on a 32 B block."""


def _infer_move(inference: Inference) -> ValueType:
    tile = inference.type("from")
    if not isinstance(tile, TileType):
        name = inference.operands["from"].name
        raise inference.fail(
            rules.LEVEL_MIX,
            f"`move` takes a tile, found `{name}`, which is not on chip",
            "from",
            helps=(f"bring it on chip with `- load: {{into: t, from: {name}, at: [...], shape: [...]}}`",),
        )
    memory: Memory | None = inference.attr("memory")
    dtype: DType = inference.attr("dtype") or tile.dtype
    layout = written_layout(inference, tile.rows)
    if memory is not None and layout is None and inference.attr("layout") is None:
        layout = stored_as(tile, memory, tile.rows)
    if dtype is not tile.dtype and tile.memory not in (None, Memory.ACC):
        name = inference.operands["from"].name
        raise inference.fail(
            rules.DTYPE_MISMATCH,
            f"`move` of the {tile.dtype} tile `{name}` as {dtype}: only what comes out of `acc` is rounded on the way",
            "dtype",
            helps=(f"cast it: `- cast: {{into: {name}_{dtype}, x: {name}, dtype: {dtype}}}`",),
        )
    check_copy(inference, "from", tile, memory, dtype)
    return TileType(dtype, tile.shape, memory, layout, tile.valid)


def _move_recipe(of: Recipe) -> tuple[Step, ...]:
    into, source = part(of, "into"), part(of, "from")
    if source.tile.is_boxed:
        return tuple(cube_copy(of, "from", way=way_to_mat(of)))
    if geometry(into.tile)[:2] == geometry(source.tile)[:2]:
        return tuple(copy_steps(into, source))
    assert into.tile.order is Layout.DN, f"move from {source.tile} to {into.tile}"
    assert source.tile.cols == 1, f"move from {source.tile} to {into.tile}"
    pitch = source.tile.row_pitch
    return tuple(
        Instr(
            "WholeReduceMax",
            (
                Ref("into", row),
                Ref("from", row * pitch),
                1,
                min(REDUCED_ROWS, source.tile.rows - row),
                1,
                1,
                pitch // source.tile.dtype.block,
                Word("ReduceOrder::ORDER_ONLY_VALUE"),
            ),
        )
        for row in range(0, source.tile.rows, REDUCED_ROWS)
    )


def _move_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    dtype = attrs["dtype"]
    tile = inputs["from"].clone()
    return left(torch, tile, {}, attrs, tile.dtype if dtype is None else torch_dtype(torch, dtype))


define(
    OpDef(
        name="move",
        family="data",
        doc="copy a tile to another memory, or within `vec` into a new dense tile",
        fields=(
            INTO,
            Field(name="from", kind="tile", doc="the tile to copy", examples=("t",)),
            Field(
                name="memory",
                kind="memory",
                doc="where the copy lives; by default what its uses ask for",
                required=False,
            ),
            LAYOUT,
            Field(
                name="dtype",
                kind="dtype",
                doc="what an accumulator is rounded to on its way to `mat`; by default the tile's own",
                required=False,
            ),
            RELU,
            PHASE,
        ),
        role="move",
        pipe="v",
        infer=_infer_move,
        dtypes=ANY,
        dtype_of="from",
        torch=_move_meaning,
        recipe=_move_recipe,
        scratch=no_scratch,
        spaces={
            "into": (Memory.VEC, Memory.LEFT, Memory.RIGHT, Memory.BIAS, Memory.MAT),
            "from": (Memory.VEC, Memory.MAT, Memory.ACC),
        },
        pipes=WITHIN,
        no_alias=frozenset({"from"}),
        example="- move: {into: u, from: t}",
    )
)
