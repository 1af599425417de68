"""The shape rule of products of stacks of matrices that are tiles: each pair of matrices is multiplied by itself."""

from __future__ import annotations

from pypto_spec.diagnostics.rules import shapes as rules
from pypto_spec.ir.expr import Index
from pypto_spec.ir.opdef import Inference
from pypto_spec.ir.types import Memory, TileType
from pypto_spec.ops.build import on_chip, shape_text
from pypto_spec.ops.cube.mmad import ACCUMULATOR
from pypto_spec.ops.matmul_arrays import broadcast
from pypto_spec.ops.matmul_checks import check_extents, check_operands, name_of


def infer_stacks(inference: Inference) -> TileType:
    """[..., M, K] and [..., K, N] to [..., M, N]; leading dimensions are alike, or 1 or missing on one side."""
    lhs, rhs = on_chip(inference, "lhs", "rhs")
    for field, tile in (("lhs", lhs), ("rhs", rhs)):
        if len(tile.shape) < 2 or (len(tile.shape) == 2 and len(lhs.shape) == len(rhs.shape)):
            raise inference.fail(
                rules.SHAPE_MISMATCH,
                f"`batch_matmul` is of stacks of matrices, `{name_of(inference, field)}` is {shape_text(tile.shape)}",
                field,
                label=f"{len(tile.shape)} dimensions",
                helps=("use `matmul`, which multiplies two matrices",),
            )
        if tile.valid is not None and tile.valid[:-2] != tile.shape[:-2]:
            raise inference.fail(
                rules.SHAPE_MISMATCH,
                f"only {shape_text(tile.valid)} of `{name_of(inference, field)}` {shape_text(tile.shape)} is valid: "
                "not all of its matrices",
                field,
                label="a part of the matrices",
                helps=("multiply them in a `for` loop over the matrices that are there, with `matmul`",),
            )
    check_operands(inference, lhs, rhs)
    check_extents(inference, _matrix(lhs), _matrix(rhs), vector=False)
    batch = broadcast(inference, lhs.shape, rhs.shape)
    shape = (*batch, lhs.shape[-2], rhs.shape[-1])
    valid = (*batch, _valid(lhs)[-2], _valid(rhs)[-1])
    return TileType(ACCUMULATOR[lhs.dtype], shape, Memory.ACC, valid=None if valid == shape else valid)


def _valid(tile: TileType) -> tuple[Index, ...]:
    return tile.shape if tile.valid is None else tile.valid


def _matrix(tile: TileType) -> TileType:
    """One matrix of a stack."""
    return TileType(tile.dtype, tile.shape[-2:], valid=None if tile.valid is None else tile.valid[-2:])
