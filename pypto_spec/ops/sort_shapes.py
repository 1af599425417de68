"""Shape rules of sorting: what is sorted has compile-time columns, and every refusal names one that fits."""

from __future__ import annotations

from pypto_spec.diagnostics.model import CompileError
from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.dtype import INT32, UINT32, DType
from pypto_spec.ir.expr import Index, to_text
from pypto_spec.ir.opdef import Inference
from pypto_spec.ir.types import Layout, TileType, ValueType
from pypto_spec.ops.build import check_dtype, same_dtype, shape_text, two_axes
from pypto_spec.ops.sort_calls import MAX_LIST, RECORD_BYTES, SORTED
from pypto_spec.ops.sort_steps import MOST_COLS, record_lanes


def _columns(inference: Inference, tile: TileType, field: str) -> int:
    """Valid columns, which are sorted; they must be known at compile time."""
    cols: Index = tile.cols if tile.valid is None else tile.valid[-1]
    if isinstance(cols, int):
        return cols
    raise inference.fail(
        rules.RUNTIME_EXTENT,
        f"`{inference.defn.name}` of rows of which {to_text(cols)} elements are valid, which is known at run time "
        "only: the others would be sorted with them",
        field,
        helps=(
            f"fill them first: `- fillpad: {{into: whole, x: {inference.operands[field].name}, pad: min}}`; -inf comes "
            "last",
        ),
    )


def _result(tile: TileType, cols: int, valid: Index | None = None, dtype: DType | None = None) -> TileType:
    """A result with as many rows as `tile`, of which as many are valid."""
    shape = (tile.rows, cols)
    rows: Index = tile.rows if tile.valid is None else tile.valid[0]
    extent = (rows, cols if valid is None else valid)
    return TileType(dtype or tile.dtype, shape, tile.memory, valid=None if extent == shape else extent)


def _records(inference: Inference, field: str) -> tuple[TileType, int]:
    """A tile of records and how many are valid in a row."""
    (tile,) = two_axes(inference, field)
    check_dtype(inference, tile.dtype, field)
    lanes = record_lanes(tile.dtype)
    cols = _columns(inference, tile, field)
    if tile.cols % lanes or cols % lanes:
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"records of {tile.dtype} take {lanes} columns each ({RECORD_BYTES} B), "
            f"`{inference.operands[field].name}` has {cols if tile.cols % lanes == 0 else tile.cols}",
            field,
            helps=("give it what `sort32`, `mrgsort` or `topk` made",),
        )
    return tile, cols // lanes


def _size(inference: Inference, field: str, what: str, most: int) -> int:
    value = inference.attr(field)
    if not isinstance(value, int):
        raise inference.fail(
            rules.RUNTIME_EXTENT,
            f"`{field}` of `{inference.defn.name}` is known at compile time, found {to_text(value)}",
            field,
            helps=(f"write a number or a constant, 1 to {most}",),
        )
    if not 1 <= value <= most:
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"`{inference.defn.name}` of {what} with `{field}` {value}; it is 1 to {most}",
            field,
            label=f"{value} here",
            helps=(f"write 1 to {most}",),
            figures=(("lowest", 1), ("highest", most)),
        )
    return value


def infer_sort32(inference: Inference) -> ValueType:
    """Blocks of 32 columns, with an index for each element."""
    x, index = two_axes(inference, "x", "index")
    check_dtype(inference, x.dtype, "x")
    if index.dtype not in (UINT32, INT32):
        name = inference.operands["index"].name
        raise inference.fail(
            rules.DTYPE_MISMATCH,
            f"`sort32` takes uint32 or int32 indices, found {index.dtype}",
            "index",
            helps=(f"cast them first: `- cast: {{into: {name}_int32, x: {name}, dtype: int32}}`",),
        )
    if index.shape != x.shape:
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"`sort32` of {shape_text(x.shape)} with indices {shape_text(index.shape)}; each element has its index",
            "index",
            label=f"{shape_text(index.shape)} here, {shape_text(x.shape)} in `x`",
            helps=(f"give it {shape_text(x.shape)} indices",),
        )
    cols = _columns(inference, x, "x")
    if x.cols % SORTED or cols % SORTED:
        name, wrong = inference.operands["x"].name, cols if x.cols % SORTED == 0 else x.cols
        more = -(-x.cols // SORTED) * SORTED
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"`sort32` sorts blocks of {SORTED} columns, `{name}` has {wrong}",
            "x",
            label=f"{wrong} is no multiple of {SORTED}",
            helps=(
                f"pad the rows: `- fillpad_expand: {{into: {name}_{more}, x: {name}, shape: [{x.rows}, {more}], "
                "pad: min}`",
                "or use `topk` or `sort`, which take any number of columns",
            ),
            figures=(("columns", wrong), ("multiple", SORTED)),
        )
    lanes = record_lanes(x.dtype)
    return _result(x, x.cols * lanes, cols * lanes)


def infer_mrgsort(inference: Inference) -> ValueType:
    """Whole runs of records."""
    x, count = _records(inference, "x")
    run = _size(inference, "run", f"{count} records a row", min(count, MAX_LIST))
    if count % run:
        near = max(n for n in range(1, run + 1) if count % n == 0)
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"`mrgsort` of runs of {run} records in rows of {count}, which is no multiple of {run}",
            "run",
            helps=(f"write `run: {near}`, or sort rows whose records are a multiple of {run}",),
        )
    return _result(x, x.cols, count * record_lanes(x.dtype))


LIST_FIELDS = ("a", "b", "c", "d")
"""The operands of `mrgsort_lists`, in the order in which equal elements come."""


def infer_lists(inference: Inference) -> ValueType:
    """Two to four lists of one dtype and as many rows."""
    given = [name for name in LIST_FIELDS if name in inference.operands]
    if "d" in given and "c" not in given:
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            "`mrgsort_lists` has a fourth list `d` and no third one",
            "d",
            helps=("name the third list `c`",),
        )
    found = [_records(inference, name) for name in given]
    first = found[0][0]
    for name, (tile, count) in zip(given, found, strict=True):
        same_dtype(inference, "a", name)
        if tile.rows != first.rows or (
            tile.valid != first.valid and (tile.valid or tile.shape)[0] != (first.valid or first.shape)[0]
        ):
            raise inference.fail(
                rules.SHAPE_MISMATCH,
                f"`mrgsort_lists` of {tile.rows} rows `{inference.operands[name].name}` and {first.rows} rows "
                f"`{inference.operands['a'].name}`; both must have as many valid rows",
                name,
                label=f"{shape_text(tile.valid or tile.shape)} here, {shape_text(first.valid or first.shape)} in `a`",
                helps=("merge lists of as many rows",),
            )
        if count > MAX_LIST:
            raise _too_long(inference, name, count, MAX_LIST, "records in one list")
    return _result(first, sum(count for _, count in found) * record_lanes(first.dtype))


def _too_long(inference: Inference, field: str, found: int, most: int, what: str) -> CompileError:
    return inference.fail(
        rules.SHAPE_MISMATCH,
        f"`{inference.defn.name}` takes at most {most} {what}, found {found}",
        field,
        helps=("cut the rows with `slice`, sort the parts, and merge what they give with `mrgsort_lists`",),
        figures=(("found", found), ("highest", most)),
    )


def _sorted_columns(inference: Inference) -> tuple[TileType, int]:
    (x,) = two_axes(inference, "x")
    check_dtype(inference, x.dtype, "x")
    cols = _columns(inference, x, "x")
    if x.order is Layout.DN and x.rows > 1:
        name = inference.operands["x"].name
        raise inference.fail(
            rules.COLUMN_WINDOW,
            f"`{inference.defn.name}` sorts rows, and `{name}` {shape_text(x.shape)} has one element in each",
            "x",
            label="a column",
            helps=(f"to sort the column make it a row: `- reshape: {{into: row, x: {name}, shape: [1, {x.rows}]}}`",),
        )
    if cols > MOST_COLS:
        raise _too_long(inference, "x", cols, MOST_COLS, "columns")
    return x, cols


def infer_topk(inference: Inference) -> ValueType:
    """The first `k` records of each row."""
    x, cols = _sorted_columns(inference)
    return _result(x, _size(inference, "k", f"{cols} columns", cols) * record_lanes(x.dtype))


def infer_sort(inference: Inference) -> ValueType:
    """As many records as the row has elements."""
    x, cols = _sorted_columns(inference)
    return _result(x, cols * record_lanes(x.dtype))


def infer_values(inference: Inference) -> ValueType:
    """One element for each record."""
    x, count = _records(inference, "x")
    return _result(x, x.cols // record_lanes(x.dtype), count)


def infer_indices(inference: Inference) -> ValueType:
    """One int32 for each record."""
    x, count = _records(inference, "x")
    return _result(x, x.cols // record_lanes(x.dtype), count, INT32)
