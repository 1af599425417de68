"""A product whose operands fit L1 as they are: loaded once, multiplied by one statement, which AutoTileMatmulL0 cuts.

The result of a product that is an operand of the next one stays in L1, rounded as it leaves the accumulators.
"""

from __future__ import annotations

from math import prod

from pypto_spec.ir.nodes import Attr, Value
from pypto_spec.ir.types import Memory, TileType
from pypto_spec.ops.cube.fixpipe import TO_MAT
from pypto_spec.ops.window import MAX_ROWS
from pypto_spec.passes.l0.choice import Choice, choose
from pypto_spec.passes.l0.problem import pose
from pypto_spec.passes.products.plan import far_apart
from pypto_spec.passes.products.product import Product, Window
from pypto_spec.passes.products.writer import Writer, full
from pypto_spec.targets.model import Target


def fits(product: Product, target: Target) -> bool:
    """Whether all operands fit L1 at once, and every product is whole or can be cut for L0."""
    return sum(_bytes(product)) <= target.capacity[Memory.MAT] and _cuts(product, target)


def _bytes(product: Product) -> list[int]:
    """Bytes in L1 of each operand, of the products on the way as well."""
    found: list[int] = []
    for side, turned in zip((product.lhs, product.rhs), product.turned, strict=True):
        if isinstance(side, Product):
            found += _bytes(side)
            found.append(TileType(side.dtype, _matrix(side.result), Memory.MAT).bytes)
        else:
            shape = side.matrix
            found.append(TileType(side.tensor.type.dtype, shape, Memory.MAT).bytes)
            if turned and shape[0] == 1:
                found[-1] *= 16
    if product.bias is not None:
        found.append(TileType(product.bias.tensor.type.dtype, _matrix(product.bias.shape), Memory.MAT).bytes)
    return found


def _matrix(shape: tuple[int, ...]) -> tuple[int, int]:
    return shape[-2], shape[-1]


def _cuts(product: Product, target: Target) -> bool:
    sides = [s for s in (product.lhs, product.rhs) if isinstance(s, Product)]
    windows = [s for s in (product.lhs, product.rhs) if isinstance(s, Window)]
    if any(w.matrix[0] > MAX_ROWS and far_apart(w.tensor) for w in windows):
        return False
    if prod(product.result[:-2]) != 1 or any(s.dtype not in TO_MAT for s in sides):
        return False
    m, n, k = product.extents
    dtype = product.operand_dtype
    bias = None if product.bias is None else Memory.MAT
    whole = (
        (dtype, (m, k), Memory.LEFT), (dtype, (k, n), Memory.RIGHT), (product.op.result.type.dtype, (m, n), Memory.ACC)
    )  # fmt: skip
    small = all(TileType(d, s, where).bytes <= target.capacity[where] for d, s, where in whole)
    if product.bias is not None:
        small = (
            small
            and TileType(product.bias.tensor.type.dtype, (1, n), Memory.BIAS).bytes <= target.capacity[Memory.BIAS]
        )
    if not small and not isinstance(choose(pose(target, m, n, k, dtype, bias=bias)), Choice):
        return False
    return all(_cuts(s, target) for s in sides)


def write(product: Product, writer: Writer) -> None:
    """The statements of a product that fits."""
    acc = _accumulated(product, writer)
    writer.store(product, acc, (0,) * (len(product.result) - 2), 0, 0)


def _accumulated(product: Product, writer: Writer) -> Value:
    lhs, rhs = (
        _operand(side, turned, writer) for side, turned in zip((product.lhs, product.rhs), product.turned, strict=True)
    )
    name = product.op.result.name.split(".")[0]
    if product.bias is None:
        return writer.op("matmul", {"lhs": lhs, "rhs": rhs}, {}, name)
    bias = _operand(product.bias, False, writer)
    return writer.op("matmul_bias", {"lhs": lhs, "rhs": rhs, "bias": bias}, {}, name)


def _operand(side: Window | Product, turned: bool, writer: Writer) -> Value:
    if isinstance(side, Window):
        rows, cols = side.matrix
        return writer.load(side, (0,) * len(side.batch), (0, full(rows)), (0, full(cols)), turned=turned)
    acc = _accumulated(side, writer)
    attrs: dict[str, Attr] = {"memory": Memory.MAT, "dtype": side.dtype}
    if side.relu:
        attrs["relu"] = True
    name = side.op.result.name.split(".")[0]
    tile = writer.op("move", {"from": acc}, attrs, f"{name}_l1")
    return writer.op("transpose_view", {"x": tile}, {}, f"{name}_t") if turned else tile
