"""A `cast` between two products, which is no work for the vector core: accumulators are rounded as they leave L0C."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pypto_spec.ir.nodes import Op, Stmt, Value
from pypto_spec.ir.rewrite import ops
from pypto_spec.passes.l0.rewrite.uses import Readers

LOOKS = ("slice", "transpose_view", "extract")
"""Operators between a tile in L1 and the product that reads it."""


def casts(body: Sequence[Stmt]) -> Iterator[Op]:
    """The casts of a region whose operand is a product and whose result products alone read."""
    found = [op for op in ops(body) if op.name == "cast"]
    if not found:
        return
    readers = Readers(tuple(body))
    for op in found:
        maker = readers.makers.get(op.operands["x"])
        if maker is not None and maker.defn.role == "matmul" and feeds_products(readers, op.result):
            yield op


def feeds_products(readers: Readers, value: Value) -> bool:
    """Whether products, and nothing else, read a tile, as it is or a window of it."""
    found = readers.of(value)
    return bool(found) and all(
        isinstance(r, Op) and (r.defn.role == "matmul" or (r.name in LOOKS and feeds_products(readers, r.result)))
        for r in found
    )
