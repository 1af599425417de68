"""Windows of a tensor: where their rows lie in GM, and the copies between them and a tile."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from pypto_spec.diagnostics.model import Repair
from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.dtype import BLOCK_BYTES
from pypto_spec.ir.expr import (
    Extremum,
    Index,
    Sym,
    add,
    bounds,
    ceil_div,
    floordiv,
    maximum,
    minimum,
    mod,
    mul,
    sub,
    to_text,
)
from pypto_spec.ir.instr import Instr, Ref, Struct
from pypto_spec.ir.opdef import Inference
from pypto_spec.ir.strides import are_distinct
from pypto_spec.ir.types import Layout, TensorType, TileType
from pypto_spec.ops.build import shape_text
from pypto_spec.ops.copy_calls import MAX_COPY_BYTES, MAX_COPY_COUNT
from pypto_spec.ops.decoding import MAX_U32

MAX_ROWS = 256
"""Copies that one statement may become where its rows cannot be stepped over by one."""


class UnsupportedWindowError(ValueError):
    """A window whose rows no list of copies known at compile time can reach; `args[0]` says why."""


class Run(NamedTuple):
    """Rows at one distance: `rows` of them (at most `most`) of `length` elements, `pitch` apart in GM.

    `start` is the first element in the tensor, `row` the first row in the tile. Rows that are not `apart` may overlap.
    """

    start: Index
    row: int
    rows: Index
    most: int
    length: Index
    pitch: Index
    apart: bool = True


def runs(tensor: TensorType, at: Sequence[Index], shape: Sequence[int], valid: Sequence[Index]) -> tuple[Run, ...]:
    """The rows of a window of a row-major tensor; leading axes are merged where their rows stay at one distance."""
    strides = tensor.strides
    start: Index = 0
    for index, stride in zip(at, strides, strict=True):
        start = add(start, mul(index, stride))
    count: Index = 1
    most, pitch, whole = 1, None, True
    outer: list[tuple[int, Index]] = []
    for axis in reversed(range(len(shape) - 1)):
        extent, part, stride = shape[axis], valid[axis], strides[axis]
        if extent == 1:
            count = mul(count, part)  # it may be there or not
            continue
        if not whole:
            raise UnsupportedWindowError("only the outermost axis, and the last one, can be partly valid")
        if pitch is None:
            count, most, pitch = part, extent, stride
        elif not outer and mul(pitch, most) == stride:
            count, most = mul(part, most), most * extent
        elif isinstance(part, int):
            outer.append((part, stride))
        else:
            raise UnsupportedWindowError("the number of valid rows is known at run time only, and they lie apart in GM")
        whole = part == extent
    starts = [start]
    for part_count, stride in reversed(outer):
        starts = [add(first, mul(stride, n)) for first in starts for n in range(part_count)]
    apart = tensor.pitches is None or are_distinct(tensor.shape, tensor.pitches)
    return tuple(
        Run(first, n * most, count, most, valid[-1], 0 if pitch is None else pitch, apart)
        for n, first in enumerate(starts)
    )


def copies(tile: TileType, found: Sequence[Run], *, out: bool) -> Iterator[Instr]:
    """The copies between the rows of a window and a tile: to GM where `out`, else from GM."""
    for run in found:
        if tile.order is Layout.DN:
            if run.pitch != 1 and run.rows != 1:
                raise UnsupportedWindowError("a column vector is contiguous only where the tensor's last extent is 1")
            if mod(run.row * tile.dtype.bytes, BLOCK_BYTES) != 0:
                raise UnsupportedWindowError("parts of a column vector start off the 32 B grid")
            yield _copy(tile, run.start, run.row, 1, mul(run.rows, run.length), 0, 0, out)
            continue
        yield from _rows(tile, run, out)


def _rows(tile: TileType, run: Run, out: bool) -> Iterator[Instr]:
    offset = run.row * tile.row_pitch
    size = tile.dtype.bytes
    if run.most > 1 and run.length == tile.row_pitch == run.pitch:
        yield _copy(tile, run.start, offset, 1, mul(run.rows, run.length), 0, 0, out)
        return
    length_bytes = mul(run.length, size)
    chip_gap = sub(tile.row_pitch // tile.dtype.block, ceil_div(length_bytes, BLOCK_BYTES))
    gm_gap = sub(mul(run.pitch, size), length_bytes)
    if run.most > 1 and not _one_copy(run, gm_gap):
        yield from _row_by_row(tile, run, offset, size, out)
        return
    for first in range(0, run.most, MAX_COPY_COUNT):
        rows = min(MAX_COPY_COUNT, run.most - first)
        count = minimum(rows, sub(run.rows, first)) if first == 0 else minimum(rows, maximum(0, sub(run.rows, first)))
        if isinstance(count, int) and count <= 0:
            return
        gaps: tuple[Index, Index] = (chip_gap, gm_gap) if rows > 1 else (0, 0)
        start = add(run.start, mul(run.pitch, first))
        yield _copy(tile, start, offset + first * tile.row_pitch, count, run.length, *gaps, out)


def _one_copy(run: Run, gap: Index) -> bool:
    """Whether one copy takes all rows: the gap in GM between two is an unsigned number of 32 bits."""
    widest = bounds(gap)[1]
    return run.apart and (widest is None or widest <= MAX_U32)


def _row_by_row(tile: TileType, run: Run, offset: int, size: int, out: bool) -> Iterator[Instr]:
    """A copy a row, where one copy cannot step from row to row."""
    pitch = f"rows of {_spell(run.length)} elements start every {_spell(run.pitch)} elements"
    why = f"{pitch}, and the gap between two must be 0 B to {MAX_U32} B"
    if not isinstance(run.rows, int):
        raise UnsupportedWindowError(f"{why}, or their number must be known")
    if run.rows > MAX_ROWS:
        raise UnsupportedWindowError(f"{why}; otherwise each row is a copy of its own, {MAX_ROWS} at most")
    for row in range(run.rows):
        start = add(run.start, mul(run.pitch, row))
        yield _copy(tile, start, offset + row * tile.row_pitch, 1, run.length, 0, 0, out)


def _spell(index: Index) -> str:
    return shape_text([index])[1:-1]


def _copy(
    tile: TileType, start: Index, offset: int, count: Index, length: Index, chip_gap: Index, gm_gap: Index, out: bool
) -> Instr:
    dtype = tile.dtype
    chip, gm = Ref("from" if out else "into", offset), Ref("to" if out else "from", start)
    operands = (gm, chip) if out else (chip, gm)
    length_bytes = mul(length, dtype.bytes)
    if count == 1 and mod(length_bytes, BLOCK_BYTES) == 0:
        return Instr("DataCopy", (*operands, length))
    top = bounds(length_bytes)[1]
    assert top is None or top <= MAX_COPY_BYTES, "no on-chip memory of a vector core holds such a row"
    gaps = (chip_gap, gm_gap) if out else (gm_gap, chip_gap)
    params = Struct("DataCopyExtParams", (count, length_bytes, *gaps, 0))
    if out:
        return Instr("DataCopyPad", (*operands, params))
    return Instr("DataCopyPad", (*operands, params, Struct(f"DataCopyPadExtParams<{dtype.cpp}>", (False, 0, 0, 0))))


# --- what is written in a statement ---------------------------------------------------------------------------------


def check_rank(
    inference: Inference, extents: Sequence[Index], what: str = "x", **written: Sequence[Index] | None
) -> None:
    """Refuse window fields that have not one entry per axis of what they cut."""
    for field, entries in written.items():
        if entries is not None and len(entries) != len(extents):
            name = inference.operands[what].name
            raise inference.fail(
                rules.SHAPE_MISMATCH,
                f"`{field}` has {len(entries)} {'entry' if len(entries) == 1 else 'entries'}, but `{name}` "
                f"{shape_text(extents)} has {len(extents)} {'axis' if len(extents) == 1 else 'axes'}",
                field,
                label=f"{len(entries)} for {len(extents)}",
                helps=(f"write one entry per axis of `{name}`; an axis that is not cut has extent 1 or starts at 0",),
            )


def check_valid(inference: Inference, shape: Sequence[int], valid: Sequence[Index] | None) -> None:
    """Refuse a valid extent outside 1 to the tile's extent, as far as that is known."""
    if valid is None:
        return
    for axis, (part_extent, full) in enumerate(zip(valid, shape, strict=True)):
        low = None if isinstance(part_extent, int) else reached_low(part_extent, inference.walked)
        if low is not None and low < 0:
            raise inference.fail(
                rules.OUT_OF_BOUNDS,
                f"axis {axis} of the tile has {to_text(part_extent)} valid elements, which comes down to {low}",
                "valid",
                helps=(f"let the loop end after as many rounds as there are tiles of {full}, or use an `if`",),
            )
        if isinstance(part_extent, int) and not 0 < part_extent <= full:
            raise inference.fail(
                rules.OUT_OF_BOUNDS,
                f"axis {axis} of the tile has {full} elements, of which {part_extent} are to be valid",
                "valid",
                helps=(f"`valid` holds 1 to {full} there",),
            )


def check_bounds(
    inference: Inference, extents: Sequence[Index], at: Sequence[Index], shape: Sequence[Index], what: str = "x"
) -> None:
    """Refuse a window that certainly reaches outside what it is cut from."""
    for axis, (extent, first, length) in enumerate(zip(extents, at, shape, strict=True)):
        over, walked = sub(add(first, length), extent), inference.walked
        beyond = bounds(over)[1] if _varies_with(over, walked) else bounds(over)[0]
        before = bounds(first)[0] if _varies_with(first, walked) else bounds(first)[1]
        if (beyond is None or beyond <= 0) and (before is None or before >= 0):
            continue
        name = inference.operands[what].name
        varies = beyond is not None and beyond > 0 and _varies_with(over, walked)
        end = add(first, length)
        last = bounds(end)[1] if varies and not isinstance(end, int) else None
        reached = f", at last {last}" if last is not None else ""
        inside = bounds(sub(extent, length))[1]
        room = ""
        if inside is not None and inside >= 0 and isinstance(sub(extent, length), int):
            room = f"; it may start at 0 to {inside}" if inside else "; it can only start at 0"
        raise inference.fail(
            rules.OUT_OF_BOUNDS,
            f"axis {axis} of the window covers {_span(first, length)}{reached}, but `{name}` {shape_text(extents)} "
            f"ends at {shape_text([extent])[1:-1]}",
            "at",
            label=f"axis {axis}{room}",
            helps=_helps(over, varies, _bounds_help(inference, beyond, length)),
            fixes=(_starting(inference, axis, inside),) if isinstance(first, int) and room else (),
        )


def _starting(inference: Inference, axis: int, at: int | None) -> Repair:
    """A window that starts where it ends with what it is cut from."""
    return Repair("set", inference.loc.field("at"), ("at", axis), at, title=f"start at {at} on axis {axis}")


_LOOP_HELP = ("let the loop stop earlier, or put the statement into an `if`; a last part goes by `valid`",)


def _helps(over: Index, varies: bool, otherwise: tuple[str, ...]) -> tuple[str, ...]:
    """The ways out, by what the window depends on."""
    if not varies:
        return otherwise
    dims = [] if isinstance(over, int) else [a for a, _ in over.terms if isinstance(a, Sym) and a.kind == "dim"]
    if not dims:
        return _LOOP_HELP
    known = " and ".join(f"`{d.name}` is {d.low}{'' if d.high is None else f' to {d.high}'}" for d in dims)
    return (f"{known}: let `valid` say which part exists, put the statement into an `if`, or bound the symbols closer",)


def reached_low(value: Index, walked: Collection[Sym]) -> int | None:
    """A number that the value certainly comes down to, or below; None where nothing is certain."""
    if isinstance(value, int):
        return value
    if _varies_with(value, walked):
        return bounds(value)[0]
    if len(value.terms) == 1:
        atom, factor = value.terms[0]
        if factor == 1 and isinstance(atom, Extremum) and atom.op == "min":
            found = [low for item in atom.items if (low := reached_low(item, walked)) is not None]
            return min(found) + value.const if found else None
    return None


def _varies_with(value: Index, walked: Collection[Sym]) -> bool:
    """Whether a value is affine in indices and dimensions that take all their values: it takes both of its bounds."""
    return not isinstance(value, int) and bool(walked) and all(atom in walked for atom, _ in value.terms)


def _span(first: Index, length: Index) -> str:
    low, high = shape_text([first])[1:-1], shape_text([add(first, length)])[1:-1]
    return f"{low} to {high}"


def _bounds_help(inference: Inference, beyond: int | None, length: Index) -> tuple[str, ...]:
    if beyond is None or beyond <= 0:
        return ("start at 0 or later",)
    names = {f.name for f in inference.defn.fields}
    kept = f"{length - beyond}" if isinstance(length, int) and length > beyond else None
    if "valid" in names and kept is not None:
        return (f"start {beyond} earlier, or let only {kept} of the {length} be valid: `valid` with {kept} there",)
    return (f"start {beyond} earlier or make the window {beyond} smaller",)


def place_window(extents: Sequence[int], rank: int) -> tuple[int, ...] | None:
    """The extents a tile takes in a tensor of that rank: leading axes of extent 1 come and go; None: no fit."""
    kept = list(extents)
    while len(kept) > rank and kept[0] == 1:
        del kept[0]
    return None if len(kept) > rank else (*(1,) * (rank - len(kept)), *kept)


def spread_valid(valid: Sequence[Index], shape: Sequence[int], other: Sequence[int]) -> tuple[Index, ...]:
    """The valid extent in other axes, which differ by axes of extent 1.

    An axis of extent 1 of which nothing may be valid goes to one of the others, or makes the last one empty.
    """
    left = iter([v for v, n in zip(valid, shape, strict=True) if n != 1])
    made: list[Index] = [1 if n == 1 else next(left) for n in other]
    for extent in (v for v, n in zip(valid, shape, strict=True) if n == 1 and v != 1):
        free = (axis for axis in reversed(range(len(other))) if other[axis] == 1 and made[axis] == 1)
        axis = next(free, len(other) - 1)
        made[axis] = mul(made[axis], extent)
    return tuple(made)


def place_valid(valid: Sequence[Index], tile: Sequence[int], window: Sequence[int]) -> tuple[Index, ...]:
    """The valid extent of a tile in the axes of its window: of the rows, the outermost axis is cut."""
    if [n for n in tile if n != 1] == [n for n in window if n != 1]:
        return spread_valid(valid, tile, window)
    rows: Index = 1
    for v in valid[:-1]:
        rows = mul(rows, v)
    made: list[Index] = list(window)
    made[-1] = valid[-1]
    for axis in range(len(window) - 1):
        if window[axis] != 1:
            inner = 1
            for n in window[axis + 1 : -1]:
                inner *= n
            made[axis] = floordiv(rows, inner)
            break
    return tuple(made)
