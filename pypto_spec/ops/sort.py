"""Sorting: sort32, mrgsort, mrgsort_lists, sort, topk, and the two halves of their records.

What sorts makes records, an element and its index in 8 B, largest element first: a tile of the element's dtype with 2
(fp32) or 4 (fp16) columns a record; the two bytes between an fp16 element and its index are undefined. `record_values`
and `record_indices` take records apart. Elements that are equal keep their order, and 0 equals -0. NaN has no place
among the others: where a row has one, its order is any.

The hardware can also stop a merge where one of its lists is exhausted. How many records there are then is known to the
scalar unit only, at run time and after the fact, which no shape can say; so that is not offered.

Sources: Ascend C API reference, Sort32 and MrgSort (layout of records, order of equal elements); PyPTO's `sort32` and
`mrgsort`, which count columns where `run` counts records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pypto_spec.ir.dtype import INT32, UINT32, DType
from pypto_spec.ir.instr import Ref
from pypto_spec.ir.opdef import Field, OpDef, Recipe
from pypto_spec.ir.types import Layout, TileType
from pypto_spec.ops.build import FLOATS, INTO, X, in_vec
from pypto_spec.ops.ramp import ramp
from pypto_spec.ops.reduce_steps import Draft, Grid, areas_of, steps_of
from pypto_spec.ops.registry import define
from pypto_spec.ops.shuffle import copy_blocks, gather, shuffle
from pypto_spec.ops.sort_calls import RECORD_BYTES, SORTED
from pypto_spec.ops.sort_shapes import (
    LIST_FIELDS,
    infer_indices,
    infer_lists,
    infer_mrgsort,
    infer_sort,
    infer_sort32,
    infer_topk,
    infer_values,
)
from pypto_spec.ops.sort_steps import (
    AREA_ALIGNMENT,
    Lists,
    merge,
    merge_fours,
    record_lanes,
    sort_blocks,
    sort_rows,
)

RECORDS = Field(name="x", kind="tile", doc="records, as `sort32`, `topk` and their like make them", examples=("p",))

# --- recipes --------------------------------------------------------------------------------------------------------


def _grid(name: str, tile: TileType) -> Grid:
    cols = tile.cols if tile.valid is None else tile.valid[-1]
    assert isinstance(cols, int)
    return Grid(Ref(name), tile.dtype, tile.rows, cols, tile.row_pitch)


def _dense(tile: TileType) -> bool:
    return tile.rows == 1 or tile.row_pitch == tile.cols


def _sort32(of: Recipe) -> Draft:
    draft = Draft()
    x, index, into = of.tile("x"), of.tile("index"), of.tile("into")
    refs = []
    for name, tile in (("x", x), ("index", index)):
        ref = Ref(name, 0, None if name == "x" else UINT32)
        if not _dense(tile):
            ref = draft.area(tile.rows * tile.cols, tile.dtype)
            copy_blocks(
                draft,
                Grid(ref, tile.dtype, tile.rows, tile.cols, tile.cols),
                Grid(Ref(name), tile.dtype, tile.rows, tile.cols, tile.row_pitch),
            )
        refs.append(ref)
    sort_blocks(draft, Ref("into"), refs[0], refs[1], x.rows * x.cols // SORTED, into.dtype)
    return draft


def _sort32_alignment(of: Recipe) -> Mapping[str, int]:
    found = {"into": SORTED * RECORD_BYTES, "scratch": AREA_ALIGNMENT}
    found |= {name: SORTED * of.tile(name).dtype.bytes for name in ("x", "index") if _dense(of.tile(name))}
    return found


def _areas_alignment(of: Recipe) -> Mapping[str, int]:
    return {"scratch": AREA_ALIGNMENT}


def _mrgsort(of: Recipe) -> Draft:
    draft = Draft()
    x, into = of.tile("x"), of.tile("into")
    lanes, run = record_lanes(x.dtype), of.attr("run")
    grid = _grid("x", x)
    count = grid.cols // lanes
    lengths = (run,) * (count // run)
    if grid.pitch == grid.cols == into.row_pitch:
        merge_fours(draft, Ref("into"), Lists(grid.ref, grid.rows, lengths), x.dtype)
        return draft
    for row in range(grid.rows):
        merge_fours(draft, Ref("into", row * into.row_pitch), Lists(grid.at(row), 1, lengths), x.dtype)
    return draft


def _merge_lists(of: Recipe) -> Draft:
    draft = Draft()
    into = of.tile("into")
    grids = [_grid(name, of.tile(name)) for name in LIST_FIELDS if of.has(name)]
    lanes = record_lanes(into.dtype)
    for row in range(into.rows):
        sources = [(grid.at(row), grid.cols // lanes) for grid in grids]
        merge(draft, Ref("into", row * into.row_pitch), sources, into.dtype)
    return draft


def _topk(of: Recipe) -> Draft:
    draft = Draft()
    sort_rows(draft, _grid("into", of.tile("into")), _grid("x", of.tile("x")))
    return draft


def _part(of: Recipe, dtype: DType | None) -> Draft:
    """The elements of records, or with `dtype` their indices."""
    draft = Draft()
    x, into = of.tile("x"), of.tile("into")
    size = into.dtype.bytes
    stride, column = RECORD_BYTES // size, 0 if dtype is None else 4 // size
    times = x.dtype.bytes / size
    src = Grid(Ref("x", 0, dtype), into.dtype, x.rows, int(x.cols * times), int(x.row_pitch * times))
    if into.order is Layout.DN:
        offsets = draft.area(-(-into.rows // 8) * 8, INT32)
        ramp(draft, offsets, INT32, into.rows, src.pitch * size)
        reach = (into.rows - 1) * src.pitch + src.cols
        gather(draft, Ref("into"), src.ref, offsets, column * size, into.rows, reach)
        return draft
    shuffle(
        draft,
        Grid(Ref("into"), into.dtype, into.rows, into.cols, into.row_pitch),
        src,
        (),
        column=column,
        stride=stride,
    )
    return draft


# --- meaning --------------------------------------------------------------------------------------------------------


def _pack(torch: Any, values: Any, index: Any) -> Any:
    """Records of elements and their int32 indices; what is undefined between them is 0."""
    rows, count = values.shape
    lanes = RECORD_BYTES // values.element_size()
    made = torch.zeros((rows, count, lanes), dtype=values.dtype)
    made[..., 0] = values
    made.view(torch.int32)[..., 1] = index
    return made.reshape(rows, count * lanes)


def _unpack(torch: Any, records: Any) -> tuple[Any, Any]:
    lanes = RECORD_BYTES // records.element_size()
    apart = records.contiguous().reshape(records.shape[0], -1, lanes)
    return apart[..., 0].contiguous(), apart.view(torch.int32)[..., 1].contiguous()


def _ordered(torch: Any, values: Any, index: Any) -> Any:
    """Rows of elements and indices as records, largest first, equal ones in their order."""
    order = torch.sort(values, dim=-1, descending=True, stable=True).indices
    return _pack(torch, values.gather(-1, order), index.gather(-1, order))


def _joined(torch: Any, parts: Sequence[Any]) -> Any:
    return torch.cat(list(parts), dim=-1).contiguous()


def _in_runs(torch: Any, values: Any, index: Any, length: int) -> Any:
    """Each `length` elements of every row sorted on their own."""
    starts = range(0, values.shape[-1], length)
    return _joined(
        torch, [_ordered(torch, values[:, s : s + length], index[:, s : s + length]) for s in starts]
    )  # fmt: skip


def _sort32_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    return _in_runs(torch, inputs["x"], inputs["index"].contiguous().view(torch.int32), SORTED)


def _mrgsort_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    values, index = _unpack(torch, inputs["x"])
    return _in_runs(torch, values, index, 4 * attrs["run"])


def _lists_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    lists = [_unpack(torch, inputs[name]) for name in LIST_FIELDS if name in inputs]
    return _ordered(torch, _joined(torch, [v for v, _ in lists]), _joined(torch, [n for _, n in lists]))


def _topk_meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    x = inputs["x"]
    if attrs.get("valid") is not None:
        x = x[:, : attrs["valid"][-1]]
    made = _ordered(torch, x, torch.arange(x.shape[-1], dtype=torch.int32).expand(x.shape))
    lanes = RECORD_BYTES // x.element_size()
    return made[:, : attrs.get("k", x.shape[-1]) * lanes].contiguous()


# --- definitions ----------------------------------------------------------------------------------------------------

_RUN = Field(name="run", kind="expr", doc="records of each sorted run", examples=(32,))
_K = Field(name="k", kind="expr", doc="how many of the largest elements of each row", examples=(8,))
_INDEX = Field(
    name="index", kind="tile", doc="the index of each element, uint32 or int32, kept in its record", examples=("n",)
)
_NEXT = {"a": "first", "b": "second", "c": "third", "d": "fourth"}

define(
    OpDef(
        name="sort32",
        family="sort",
        doc="each 32 columns sorted on their own, largest first, as records of an element and its index; equal "
        "elements keep their order, and NaN has no place in it",
        fields=(INTO, X, _INDEX),
        role="rearrange",
        pipe="v",
        infer=infer_sort32,
        dtypes=FLOATS,
        dtype_of="x",
        torch=_sort32_meaning,
        recipe=steps_of(_sort32),
        scratch=areas_of(_sort32),
        alignment=_sort32_alignment,
        spaces=in_vec("into", "x", "index"),
        no_alias=frozenset({"x", "index"}),
        function="sort32",
        example="- sort32: {into: p, x: t, index: n}",
    )
)
define(
    OpDef(
        name="mrgsort",
        family="sort",
        doc="each four sorted runs of records that follow each other in a row become one; runs that are left over at "
        "a row's end become one too. Equal elements keep their order. The runs must be sorted",
        fields=(INTO, RECORDS, _RUN),
        role="rearrange",
        pipe="v",
        infer=infer_mrgsort,
        dtypes=FLOATS,
        dtype_of="x",
        torch=_mrgsort_meaning,
        recipe=steps_of(_mrgsort),
        scratch=areas_of(_mrgsort),
        spaces=in_vec("into", "x"),
        no_alias=frozenset({"x"}),
        function="mrgsort",
        example="- mrgsort: {into: y, x: p, run: 32}",
    )
)
define(
    OpDef(
        name="mrgsort_lists",
        family="sort",
        doc="row by row, two to four sorted lists of records become one; equal elements come in the order of the "
        "lists. The lists must be sorted; all of them are used up",
        fields=(
            INTO,
            *(
                Field(name=n, kind="tile", doc=f"the {w} list", required=n in "ab", examples=(f"p{i}",))
                for i, (n, w) in enumerate(_NEXT.items())
            ),
        ),
        role="rearrange",
        pipe="v",
        infer=infer_lists,
        dtypes=FLOATS,
        dtype_of="a",
        torch=_lists_meaning,
        recipe=steps_of(_merge_lists),
        scratch=areas_of(_merge_lists),
        spaces=in_vec("into", *LIST_FIELDS),
        no_alias=frozenset(LIST_FIELDS),
        example="- mrgsort_lists: {into: y, a: p, b: q}",
    )
)
for _name, _doc, _more, _rule in (
    ("topk", "the k largest elements of each row, largest first, as records with their columns", (_K,), infer_topk),
    ("sort", "each row sorted, largest first, as records with their columns", (), infer_sort),
):
    define(
        OpDef(
            name=_name,
            family="sort",
            doc=f"{_doc}; of equal elements the one in the lower column comes first, and NaN has no place in the order",
            fields=(INTO, X, *_more),
            role="rearrange",
            pipe="v",
            infer=_rule,
            dtypes=FLOATS,
            dtype_of="x",
            torch=_topk_meaning,
            recipe=steps_of(_topk),
            scratch=areas_of(_topk),
            alignment=_areas_alignment,
            spaces=in_vec("into", "x"),
            no_alias=frozenset({"x"}),
            function=_name,
            example=f"- {_name}: {{into: p, x: t{', k: 8' if _more else ''}}}",
        )
    )
for _name, _doc, _rule, _dtype, _half in (
    ("record_values", "the elements of records", infer_values, None, 0),
    ("record_indices", "the indices of records, int32", infer_indices, INT32, 1),
):

    def _draft(of: Recipe, dtype: DType | None = _dtype) -> Draft:
        return _part(of, dtype)

    def _meaning(torch: Any, inputs: Mapping[str, Any], attrs: Mapping[str, Any], half: int = _half) -> Any:
        return _unpack(torch, inputs["x"])[half]

    define(
        OpDef(
            name=_name,
            family="sort",
            doc=_doc,
            fields=(INTO, RECORDS),
            role="rearrange",
            pipe="v",
            infer=_rule,
            dtypes=FLOATS,
            dtype_of="x",
            torch=_meaning,
            recipe=steps_of(_draft),
            scratch=areas_of(_draft),
            spaces=in_vec("into", "x"),
            no_alias=frozenset({"x"}),
            function=_name,
            example=f"- {_name}: {{into: y, x: p}}",
        )
    )
