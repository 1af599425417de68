"""What load and store share: the tensor operand, and whether a window can be copied."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.dtype import DType
from pypto_spec.ir.expr import Index
from pypto_spec.ir.instr import Instr
from pypto_spec.ir.opdef import Field, Inference
from pypto_spec.ir.types import Layout, Memory, TensorType, TileType
from pypto_spec.ops.build import shape_text
from pypto_spec.ops.cube.nd2nz import nd2nz
from pypto_spec.ops.window import Run, UnsupportedWindowError, copies, runs

AT = Field(name="at", kind="exprs", doc="first element of the window, one index per axis of the tensor")


def tensor_operand(inference: Inference, field: str) -> TensorType:
    """The tensor in a field; refuses a tile."""
    found = inference.type(field)
    if isinstance(found, TensorType):
        return found
    name = inference.operands[field].name
    raise inference.fail(
        rules.LEVEL_MIX,
        f"`{field}` of `{inference.defn.name}` is a tensor argument, found the tile `{name}`",
        field,
        label="not a tensor",
        helps=(f"to copy or cut the tile use `- move: {{into: y, from: {name}}}` or `slice`",),
    )


def calls(tile: TileType, found: Sequence[Run], *, out: bool) -> Iterator[Instr]:
    """The copies between the rows of a window and a tile; raises UnsupportedWindowError."""
    if tile.memory is Memory.MAT and not out:
        yield from nd2nz(tile, found)
    elif tile.memory is not Memory.ACC:
        yield from copies(tile, found, out=out)


def check_copies(
    inference: Inference,
    tile: TileType,
    tensor: TensorType,
    at: tuple[Index, ...],
    shape: tuple[int, ...],
    valid: tuple[Index, ...],
    field: str,
    *,
    out: bool,
) -> None:
    """Refuse a window that no list of copies takes; `tile` is the one on chip, in a memory that is known."""
    if tile.memory is None or (tile.memory is Memory.ACC and len(tile.shape) > 2):  # a stack goes matrix by matrix
        return
    name = inference.operands[field].name
    if tile.order is Layout.DN and tile.memory is Memory.VEC and (tensor.shape[-1] != 1 or _spread(tensor, shape)):
        raise inference.fail(
            rules.COLUMN_WINDOW,
            f"{shape_text(shape)} is one column of `{name}` {shape_text(tensor.shape)}: its elements lie apart in GM, "
            "and a column vector is dense on chip",
            "at" if out else "shape",
            label="one column of a wider tensor",
            helps=_column_help(inference, name, tile.dtype, shape, tensor, out),
        )
    try:
        list(calls(tile, runs(tensor, at, shape, valid), out=out))
    except UnsupportedWindowError as reason:
        raise inference.fail(
            rules.SHAPE_MISMATCH,
            f"the window {shape_text(shape)} of `{name}` {shape_text(tensor.shape)} cannot be copied: {reason}",
            "shape" if inference.attrs.get("shape") is not None else field,
            helps=("copy it in a loop over the outer axes, with extent 1 there",),
        ) from None


def _spread(tensor: TensorType, shape: tuple[int, ...]) -> bool:
    """Whether the elements of a column window lie apart in GM."""
    rows = next((axis for axis in reversed(range(len(shape) - 1)) if shape[axis] != 1), None)
    return rows is not None and tensor.pitches is not None and tensor.pitches[rows] != 1


def _column_help(
    inference: Inference, name: str, dtype: DType, shape: tuple[int, ...], tensor: TensorType, out: bool
) -> tuple[str, ...]:
    narrow = shape_text((*tensor.shape[:-1], 1))
    if out:
        return (
            f"declare a tensor of shape {narrow} for the result",
            "or compute all columns of the tile and store whole rows",
        )
    block = dtype.block
    wide, part_valid = shape_text((*shape[:-1], block)), shape_text(shape)
    return (
        f"load {block} columns of which one is valid, and reduce them: `- load: {{into: wide, from: {name}, at: "
        f"{shape_text(inference.attr('at'))}, shape: {wide}, valid: {part_valid}}}` then "
        "`- row_max: {into: column, x: wide}`",
        f"or give the column as a tensor of its own, of shape {narrow}",
    )
