"""Performance hints on the finished program."""

from __future__ import annotations

from math import prod

from pypto_spec.diagnostics.model import Sink
from pypto_spec.diagnostics.rules.hints import INNERMOST_DIM
from pypto_spec.ir.nodes import Op, Program
from pypto_spec.ir.rewrite import ops, regions
from pypto_spec.ir.types import TensorType, TileType
from pypto_spec.targets import Target


def report_hints(program: Program, target: Target, sink: Sink) -> None:
    """Report every hint the program deserves."""
    seen: set[tuple[object, ...]] = set()
    for region in regions(program.body):
        for op in ops(region.body):
            if op.name in ("load", "store"):
                _innermost(op, region.allow, target, sink, seen)


def _innermost(op: Op, allow: frozenset[str], target: Target, sink: Sink, seen: set[tuple[object, ...]]) -> None:
    """PH001: rows of a copy to or from GM that are shorter than a GM burst.

    The recommended length is the target's GM access granularity (PyPTO's PH001 threshold).
    """
    tile = (op.result if op.name == "load" else op.operands["from"]).type
    tensor = op.operands["from" if op.name == "load" else "to"].type
    assert isinstance(tile, TileType) and isinstance(tensor, TensorType)
    whole, size = tensor.shape[-1], tensor.dtype.bytes  # an accumulator may be rounded on its way out
    cols, rows = tile.cols, prod(tile.shape[:-1])
    if cols == whole:  # rows that follow each other in GM are one burst
        row, count = cols * rows * size, 1
    else:
        row, count = cols * size, rows
    whole_tensor = all(a == b for a, b in zip(reversed(tensor.shape), reversed(tile.shape), strict=False))
    if row >= target.gm_burst_bytes or (count == 1 and whole_tensor and prod(tile.shape) == _elements(tensor)):
        return  # long enough, or all there is
    key = (op.loc.span.start, op.name, row, count)
    if key in seen:
        return
    seen.add(key)
    verb = "load" if op.name == "load" else "store"
    as_ = "" if tile.dtype is tensor.dtype else f" as {tensor.dtype}"
    memory = tile.memory.value if tile.memory is not None else "vec"
    moved = f"moves {row * count} bytes as {count} row{'' if count == 1 else 's'} of {row} bytes"
    sink.report(
        INNERMOST_DIM,
        op.loc.span,
        f"{verb} of {tile} ({memory}){as_} {moved}; {target.gm_burst_bytes} bytes a row are recommended",
        label=f"rows of {row} bytes",
        notes=[
            f"GM is read and written in bursts of {target.gm_burst_bytes} bytes; "
            f"an L2 cache line is {target.l2_line_bytes} bytes"
        ],
        helps=[_longer_rows(tile, tensor, -(-target.gm_burst_bytes // size)) if _is_written(op) else DIVIDED],
        figures=[("total_bytes", row * count), ("rows", count), ("row_bytes", row)],
        allow=op.allow | allow,
    )


DIVIDED = "the compiler has divided this statement on whole arrays; with fewer `blocks` of its region tiles are larger"
"""What can be done about tiles that are in no statement."""


def _is_written(op: Op) -> bool:
    """Whether the author wrote this copy, not a formula on whole arrays that it is a part of."""
    place = "shape" if op.name == "load" else "at"
    return op.loc.fields is None or op.loc.fields.field_span(place) is not None


def _longer_rows(tile: TileType, tensor: TensorType, burst: int) -> str:
    """A window with rows of `burst` elements or more, in no more memory where the tile is large enough."""
    whole, cols, rows = tensor.shape[-1], tile.cols, prod(tile.shape[:-1])
    if cols == whole:
        least = -(-burst // cols)
        return f"take at least {least} rows: whole rows follow each other in GM, {least} are {least * cols} elements"
    wide = min(burst, whole) if isinstance(whole, int) else burst
    text = f"make the innermost dimension at least {wide} elements of {tensor.dtype}"
    deep = max(rows * cols // wide, -(-burst // wide))
    if len(tensor.shape) != 2 or not isinstance(tensor.shape[0], int) or deep > tensor.shape[0]:
        return text
    more = "" if deep * wide > rows * cols else ", which needs no more memory"
    return f"{text}: for example `shape: [{deep}, {wide}]`{more}"


def _elements(tensor: TensorType) -> int | None:
    """How many elements a tensor has, where that is known."""
    extents = [n for n in tensor.shape if isinstance(n, int)]
    return prod(extents) if len(extents) == len(tensor.shape) else None
