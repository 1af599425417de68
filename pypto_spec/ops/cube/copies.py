"""The copies inside the cube core: which there are, what they check, and their recipes.

`move` copies whole tiles, `extract` a window of one, `assemble` a tile into a window; what they are between two
memories stands here once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.dtype import DType
from pypto_spec.ir.expr import Index, mod, to_text
from pypto_spec.ir.instr import Instr
from pypto_spec.ir.layouts import FRACTAL_ROWS
from pypto_spec.ir.naming import split
from pypto_spec.ir.nodes import Pipe
from pypto_spec.ir.opdef import Inference, Recipe
from pypto_spec.ir.types import Layout, Memory, TileType
from pypto_spec.ops.build import listing
from pypto_spec.ops.cube.fixpipe import TO_MAT, Way, mode, to_mat
from pypto_spec.ops.cube.loads import INTO, Source

PIPES: Mapping[tuple[Memory, Memory], Pipe] = MappingProxyType(
    {
        (Memory.MAT, Memory.LEFT): "mte1",
        (Memory.MAT, Memory.RIGHT): "mte1",
        (Memory.MAT, Memory.BIAS): "mte1",
        (Memory.ACC, Memory.MAT): "fix",
    }
)
"""The ways between the memories of the cube, and the pipe each takes."""

WITHIN: Mapping[tuple[Memory, Memory], Pipe] = MappingProxyType({(Memory.VEC, Memory.VEC): "v", **PIPES})
"""With the copy inside `vec`."""


def ways(memory: Memory) -> tuple[Memory, ...]:
    """Where a copy leads from a memory, `vec` included."""
    return tuple(end for start, end in WITHIN if start is memory)


def stored_as(source: TileType, memory: Memory, rows: int) -> Layout | None:
    """The layout of a copy where it is not the implicit one: a row that comes turned round is a matrix of one row."""
    turned = source.memory is Memory.MAT and source.order is Layout.ZN
    fractals = source.memory is Memory.MAT and source.order is Layout.NZ
    return Layout.ZZ if memory is Memory.LEFT and rows == 1 and (turned or fractals) else None


def check_copy(
    inference: Inference, field: str, source: TileType, memory: Memory | None, dtype: DType, at: Sequence[Index] = ()
) -> None:
    """Refuse a copy between two memories of the cube that the hardware does not have."""
    start = source.memory
    if start is None or memory is None or start is Memory.VEC:
        return
    name = split(inference.operands[field].name)[0]
    if (
        memory is Memory.MAT
        and start is Memory.ACC
        and (mode(source.dtype, dtype, Way()) is None or dtype not in TO_MAT)
    ):
        fits = [d.name for d in TO_MAT if mode(source.dtype, d, Way()) is not None]
        ways_out = [f"write `dtype: {fits[0]}`"] if fits else []
        raise inference.fail(
            rules.DTYPE_UNSUPPORTED,
            f"the {source.dtype} accumulator `{name}` cannot come back to `mat` as {dtype}",
            "dtype" if any(f.name == "dtype" for f in inference.defn.fields) else field,
            label=f"{dtype} in `mat`",
            helps=(*ways_out, "or store it to a tensor, and load that"),
            notes=(f"from `acc` to `mat` there is {listing([d.name for d in TO_MAT])}",),
        )
    if memory is Memory.RIGHT and source.order is Layout.ND and source.dtype.bytes == 1:
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"the row `{name}` {source} stands in `mat` as it is, and {source.dtype} goes to `right` in squares of "
            "fractals",
            field,
            label="one row, `nd`",
            helps=(f"load `{name}` with `layout: nz`",),
        )
    if at and start in (Memory.MAT, Memory.ACC):
        units = (1, FRACTAL_ROWS) if memory is Memory.BIAS else None
        check_start(inference, source, at, field, units=units)


def check_start(
    inference: Inference,
    tile: TileType,
    at: Sequence[Index],
    field: str,
    *,
    at_field: str = "at",
    units: tuple[int, int] | None = None,
) -> None:
    """Refuse a window of a fractal tile that does not start on whole fractals, or on the `units` given."""
    units = steps_of_window(tile) if units is None else units
    for axis, (index, unit) in enumerate(zip(at, units, strict=True)):
        if mod(index, unit) == 0:
            continue
        what = ("row", "column")[axis]
        name = split(inference.operands[field].name)[0]
        low = index // unit * unit if isinstance(index, int) else None
        near = f"start at {what} {low} or {low + unit}" if low is not None else f"make it a multiple, e.g. `i * {unit}`"
        raise inference.fail(
            rules.UNALIGNED_SLICE,
            f"a window of `{name}` {tile} in `{tile.memory.value if tile.memory else ''}` starts at every {unit}th "
            f"{what}, found {what} {to_text(index)}",
            at_field,
            label=f"{what} {to_text(index)} is inside a fractal",
            helps=(near,),
        )


def steps_of_window(tile: TileType) -> tuple[int, int]:
    """On multiples of how many rows and columns a window of a fractal tile may start."""
    if tile.memory is Memory.ACC:
        return FRACTAL_ROWS, FRACTAL_ROWS
    rows = 32 if tile.dtype.bytes == 1 else FRACTAL_ROWS
    cols = max(tile.dtype.block, FRACTAL_ROWS)
    if tile.order is Layout.ND:
        return 1, 512 // tile.dtype.bytes
    return (cols, rows) if tile.order is Layout.ZN else (rows, cols)


def cube_copy(of: Recipe, field: str, at: tuple[Index, Index] = (0, 0), way: Way | None = None) -> Iterator[Instr]:
    """The calls of a copy out of operand `field`, of the window that starts at `at`, into the whole result."""
    source, into = of.tile(field), of.tile("into")
    assert into.memory is not None
    if source.memory is Memory.ACC:
        shape = (into.rows, into.cols)
        yield from to_mat(source, into, 0, 0, way or Way(), field, start=at, shape=shape)
    else:
        yield from INTO[into.memory](Source(source, field, *at), into)
